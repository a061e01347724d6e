package deadletter

import (
	"fmt"
	"strings"
	"time"
)

// The sentences of Replay Notes. They name fields, versions and times, never whole values.

func stampText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// newerNote says which two versions decided, and which shared fields moved since (case B73).
func (d *decision) newerNote(it *item) string {
	relation := "newer than"
	if c, _ := it.Version.Compare(d.version); c == 0 {
		relation = "the same as"
	}
	note := fmt.Sprintf("The record already has version %s from the sender, %s this payload's %s.", d.version, relation, it.Version)
	for _, name := range it.fieldNames() {
		if at := d.movedAt(it, name); !at.IsZero() {
			note += fmt.Sprintf(" %s was changed at %s.", name, stampText(at))
		}
	}
	return note + " Nothing of it was written."
}

// movedAt is when a field that differs was last changed, if that was after the item's first attempt.
func (d *decision) movedAt(it *item, name string) time.Time {
	at, _ := d.guardTime(name)
	if at.Before(it.FirstAttemptAt.Add(-d.rules.Margin)) || d.equals(name, it.Fields[name]) {
		return time.Time{}
	}
	return at
}

func (d *decision) unlikeNote(it *item) string {
	if d.record != nil && d.record.VersionUnreadable {
		return fmt.Sprintf("The record's version field holds something that is not of the declared kind, so this payload's version %s cannot be compared with it. Mend the cell and replay again.", it.Version)
	}
	if d.record != nil && !d.record.Version.IsZero() {
		return fmt.Sprintf("The record's version %s and this payload's %s are of different kinds and cannot be compared.", d.record.Version, it.Version)
	}
	return fmt.Sprintf("This payload's version %s is of another kind than those it has to be compared with.", it.Version)
}

// standingNote explains a review for want of a version to go by.
func (d *decision) standingNote(it *item, s standing) string {
	switch {
	case s == standsUnversioned && it.Versionless:
		return "The sender has no versions, so nothing tells whether the record has newer data. Review the fields."
	case s == standsUnversioned:
		return "The payload has no version, so nothing tells whether the record has newer data. Review the fields."
	case s == standsOnBlank:
		return fmt.Sprintf("The record has no version yet to compare this payload's %s with. Review the fields.", it.Version)
	}
	return strings.TrimSuffix(d.newerNote(it), " Nothing of it was written.") +
		" The sender sends only changed fields, so a newer change of one field says nothing about the others. Review the fields."
}

func (d *decision) standingWhy(s standing) string {
	switch s {
	case standsUnversioned:
		return "there is no version to compare"
	case standsOnBlank:
		return "the record has no version to compare with"
	default:
		return d.newerWhy()
	}
}

// doubtWhy says why a doubtful field stays out although a reviewer asked for the unchanged fields.
func (d *decision) doubtWhy(reason Reason) string {
	why := d.newerWhy()
	switch reason {
	case ReasonNoVersion:
		why = d.standingWhy(standsUnversioned)
	case ReasonBlankVersion:
		why = d.standingWhy(standsOnBlank)
	default:
	}
	return why + ", and no Last modified time field shows that it is unchanged"
}

func (d *decision) expectNote(moved []string) string {
	sentences := make([]string, 0, len(moved))
	for _, name := range moved {
		sentence := name + " no longer holds the value that the reviewer saw"
		if at, readable := d.guardTime(name); readable && !at.IsZero() {
			sentence += "; it was changed at " + stampText(at)
		}
		sentences = append(sentences, sentence+".")
	}
	return strings.Join(sentences, " ") + " Nothing was written."
}

func (d *decision) reviewNote(changed []string) string {
	sentences := make([]string, len(changed))
	for i, name := range changed {
		sentences[i] = d.changedSentence(name) + "."
	}
	return strings.Join(sentences, " ") + " Nothing was written; review the fields."
}

// changedSentence names both times of a conflict: the change's and the first attempt's.
func (d *decision) changedSentence(name string) string {
	s := d.merged.shares[name]
	if !s.sure {
		return fmt.Sprintf("%s may have been changed after the first attempt at %s, for its field %s holds no readable time", name, stampText(d.merged.first), d.rules.Fields[name].Guard)
	}
	relation := "after"
	if s.at.Before(d.merged.first) {
		relation = fmt.Sprintf("within the margin of %s before", d.rules.Margin)
	}
	if s.at.Equal(d.merged.first) {
		relation = "at the very time of"
	}
	return fmt.Sprintf("%s was changed at %s, %s the first attempt at %s", name, stampText(s.at), relation, stampText(d.merged.first))
}

// partNote tells the whole story of an item that took part in the merge.
func (d *decision) partNote(it *item) string {
	var written, same, other, doubtful []string
	var sentences []string
	for _, name := range it.fieldNames() {
		f := it.fates[name]
		switch {
		case f.action == FieldWrite:
			written = append(written, name)
		case f.action == FieldSame:
			same = append(same, name)
		case f.reason == ReasonSharedFieldChanged:
			sentences = append(sentences, d.changedSentence(name)+"; it is kept as it is.")
		case f.reason == ReasonNewerEntryInBatch:
			sentences = append(sentences, fmt.Sprintf("%s comes from newer entry %s.", name, d.merged.shares[name].winner.ID))
		case f.reason == ReasonNotChosen:
			other = append(other, name)
		default:
			doubtful = append(doubtful, name)
		}
	}
	var note []string
	if d.record == nil {
		note = listed(note, "Created with: ", written)
	} else {
		note = listed(note, "Written: ", written)
	}
	note = listed(note, "Already as sent: ", same)
	note = append(note, sentences...)
	note = listed(note, "Not chosen: ", other)
	if len(doubtful) > 0 {
		note = append(note, fmt.Sprintf("Left out: %s, because %s.", strings.Join(doubtful, ", "), d.doubtWhy(it.doubt)))
	}
	return strings.Join(note, " ")
}

func listed(note []string, intro string, names []string) []string {
	if len(names) == 0 {
		return note
	}
	return append(note, intro+strings.Join(names, ", ")+".")
}
