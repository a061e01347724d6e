package deadletter

import "fmt"

// standing is how a member's version compares with the record's.
type standing int

const (
	standsNewer    standing = iota // newer, or nothing to compare with
	standsNotNewer                 // the record has the same version or a later one
	standsUnversioned
	standsOnBlank // the record has no version
	standsUnlike  // the versions cannot be compared
)

// checkSenders closes the members that the sender check refuses (mission C1, C5, B3 step 1). An
// append-only target has no versions to compare: the key decides (C7).
func (d *decision) checkSenders() {
	d.learnVersion()
	if d.rules.AppendOnly {
		return
	}
	for _, it := range d.open() {
		switch standing := d.standing(it); {
		case !it.isEntry():
			d.checkWrite(it, standing)
		case d.mark.Restored && it.mode() == Checked:
			it.close(NeedsReview, ReasonRestored, "An earlier replay of this record was restored, so its values are older than its version says. Review the fields.", "the record was restored")
		default:
			d.checkEntry(it, standing)
		}
	}
}

// learnVersion finds the record's version: the later of what it shows and what we know to have
// landed (R4b). An older one on the record means that an old write landed late.
func (d *decision) learnVersion() {
	d.incomparable = d.unlikeMembers()
	if d.record == nil {
		return
	}
	d.version, d.incomparable = d.record.Version, d.incomparable || d.record.VersionUnreadable
	if d.mark.RecordID == "" {
		return
	}
	d.version = Later(d.record.Version, d.mark.Highest)
	if d.version.IsZero() && !d.mark.Highest.IsZero() {
		d.incomparable = true
	}
}

// unlikeMembers tells whether the members' own versions are of more than one kind.
func (d *decision) unlikeMembers() bool {
	var kind VersionKind
	for _, it := range d.open() {
		if kind != "" && !it.Version.IsZero() && it.Version.Kind() != kind {
			return true
		}
		if kind == "" {
			kind = it.Version.Kind()
		}
	}
	return false
}

// lateLanding tells whether the record shows an older version than one of ours that had landed.
func (d *decision) lateLanding() bool {
	if d.record == nil || d.record.VersionUnreadable || d.mark.Stored.IsZero() {
		return false
	}
	c, ok := d.record.Version.Compare(d.mark.Stored)
	return d.record.Version.IsZero() || ok && c < 0
}

func (d *decision) standing(it *item) standing {
	if it.Version.IsZero() {
		return standsUnversioned
	}
	if d.incomparable {
		return standsUnlike
	}
	if d.version.IsZero() {
		if d.record == nil {
			return standsNewer
		}
		return standsOnBlank
	}
	c, ok := it.Version.Compare(d.version)
	switch {
	case !ok:
		return standsUnlike
	case c > 0 || d.wroteIt(it):
		return standsNewer
	}
	return standsNotNewer
}

// wroteIt tells whether the record's version is one that this entry itself put there. A version
// beyond the entry's own came from a newer member of a merged write, and does not count.
func (d *decision) wroteIt(it *item) bool {
	same, ok := it.Wrote.Compare(d.version)
	own, _ := it.Version.Compare(it.Wrote)
	return ok && same == 0 && own >= 0
}

// checkEntry applies the sender check to an entry, as far as its mode asks for it.
func (d *decision) checkEntry(it *item, s standing) {
	full := it.Sends != SendsChangedFields
	switch {
	case s == standsNewer, it.mode() == Overwrite:
	case s == standsOnBlank && (d.rules.AllowBlankVersion || it.Reextracted):
	case s == standsUnversioned && it.Reextracted:
	case s == standsUnlike:
		it.close(NeedsReview, ReasonVersionKindMismatch, d.unlikeNote(it), "the versions cannot be compared")
	case s == standsNotNewer && full:
		it.close(Superseded, ReasonNewerFromSender, d.newerNote(it), d.newerWhy())
	case it.mode() == ChosenFields: // the reviewer looked
	case it.mode() == UnchangedFields:
		it.doubt = standingReason(s)
	default:
		it.close(NeedsReview, standingReason(s), d.standingNote(it, s), d.standingWhy(s))
	}
}

// checkWrite applies the sender check to a live write: it may start a record's version, and a source
// without versions writes in order of acceptance.
func (d *decision) checkWrite(it *item, s standing) {
	switch {
	case s == standsNewer, s == standsOnBlank, s == standsUnversioned && it.Versionless:
	case s == standsUnlike:
		it.close(NeedsReview, ReasonVersionKindMismatch, d.unlikeNote(it), "the versions cannot be compared")
	case s == standsUnversioned:
		it.close(NeedsReview, ReasonNoVersion, d.standingNote(it, s), d.standingWhy(s))
	case it.Sends == SendsChangedFields:
		it.close(NeedsReview, ReasonOutOfOrder, d.standingNote(it, s), d.standingWhy(s))
	default:
		it.close(Superseded, ReasonNewerFromSender, d.newerNote(it), d.newerWhy())
	}
}

func standingReason(s standing) Reason {
	switch s {
	case standsUnversioned:
		return ReasonNoVersion
	case standsOnBlank:
		return ReasonBlankVersion
	case standsUnlike:
		return ReasonVersionKindMismatch
	default:
		return ReasonNewerFromSender
	}
}

// checkExpected sends an order back to review where a field moved after the reviewer saw it (R11).
func (d *decision) checkExpected() {
	for _, it := range d.open() {
		if !it.reviewed() {
			continue
		}
		var moved []string
		for _, name := range it.fieldNames() {
			if !it.wants(name) || d.equals(name, it.Fields[name]) ||
				sameRead(d.rules.Fields[name].Kind, d.current(name), it.Expect[name]) {
				continue
			}
			at, _ := d.guardTime(name)
			it.fates[name] = fate{FieldSkip, ReasonSharedFieldChanged, at, "it changed after the reviewer saw it"}
			moved = append(moved, name)
		}
		if len(moved) > 0 {
			it.close(NeedsReview, ReasonSharedFieldChanged, d.expectNote(moved), "nothing is written until the changed fields are reviewed again")
		}
	}
}

func (d *decision) newerWhy() string {
	return fmt.Sprintf("the record already has version %s from the sender", d.version)
}
