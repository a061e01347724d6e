package deadletter

import (
	"fmt"
	"slices"
	"strings"
)

// failProblems closes the members that cannot be written as they stand (mission P3).
func (d *decision) failProblems() {
	for _, it := range d.items {
		if problem := d.problem(it); problem != nil {
			it.close(ReplayFailed, problem.Reason, problem.Detail, "it cannot be written as it stands")
		}
	}
}

func (d *decision) problem(it *item) *Problem {
	switch {
	case it.Problem != nil:
		return it.Problem
	case len(it.Fields) == 0:
		return &Problem{ReasonValidationFailed, "There is nothing to write: the payload has no fields."}
	}
	if unknown := without(it.fieldNames(), d.rules.Fields); len(unknown) > 0 {
		return &Problem{ReasonUnknownField, fmt.Sprintf("The payload has fields that target %s does not declare: %s.", d.rules.Target, strings.Join(unknown, ", "))}
	}
	if it.mode() != ChosenFields {
		return nil
	}
	if len(it.Chosen) == 0 {
		return &Problem{ReasonValidationFailed, "There is nothing to write: no field was chosen."}
	}
	if unknown := without(it.Chosen, it.Fields); len(unknown) > 0 {
		return &Problem{ReasonValidationFailed, "Fields were chosen that the payload does not have: " + strings.Join(unknown, ", ") + "."}
	}
	return nil
}

// without lists the names that are no keys of the map, sorted.
func without[V any](names []string, m map[string]V) []string {
	var missing []string
	for _, name := range names {
		if _, ok := m[name]; !ok {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// refuseSiblings closes the entries of a record that has others waiting for review (mission P4).
func (d *decision) refuseSiblings(siblings []string) {
	if len(siblings) == 0 {
		return
	}
	names := slices.Sorted(slices.Values(siblings))
	note := fmt.Sprintf("Other entries of this record are still at Pending Review: %s. Replay them together, as a batch.", strings.Join(names, ", "))
	for _, it := range d.open() {
		if it.isEntry() {
			it.close(ReplayFailed, ReasonOpenSiblings, note, "other entries of this record are open")
		}
	}
}

// match takes the record from the matches (mission C6) and what the mark knows of it. It answers
// false where the matches alone decide.
func (d *decision) match(matches []Record, mark Mark) bool {
	if d.rules.AppendOnly && len(matches) > 0 {
		for _, it := range d.open() {
			it.close(Superseded, ReasonAlreadyLanded, "A row with this key is already there; an append-only target is never written twice.", "the row is already there")
		}
		return false
	}
	if len(matches) > 1 {
		d.refuseMatches(matches)
		return false
	}
	if len(matches) == 1 {
		d.record = &matches[0]
		if mark.RecordID == d.record.ID {
			d.mark = mark
		}
	}
	return true
}

func (d *decision) refuseMatches(matches []Record) {
	ids := make([]string, len(matches))
	for i, record := range matches {
		ids[i] = record.ID
	}
	slices.Sort(ids)
	note := fmt.Sprintf("%d records match the key: %s. Leave one of them and replay again.", len(ids), strings.Join(ids, ", "))
	for _, it := range d.open() {
		it.close(ReplayFailed, ReasonMultipleMatches, note, "several records match the key")
	}
}

// create decides who makes the record where nothing matched (mission C6, C7).
func (d *decision) create() {
	open := d.open()
	if d.record != nil || len(open) == 0 {
		return
	}
	if d.rules.AppendOnly {
		for _, it := range open[1:] {
			it.close(Superseded, ReasonAlreadyLanded, "The row with this key is made from "+open[0].ID+"; an append-only target is never written twice.", "the row is made from an older item")
		}
		return
	}
	creator := slices.IndexFunc(open, func(it *item) bool { return it.Operation == Upsert })
	for _, it := range open {
		if it.Operation == Upsert || creator >= 0 && notOlder(it, open[creator]) {
			continue
		}
		it.close(ReplayFailed, ReasonNoMatch, "No record matches the key, and an update never creates one.", "no record matches the key")
	}
}

// notOlder tells whether it may rely on a record that creator makes.
func notOlder(it, creator *item) bool {
	if c, ok := it.Version.Compare(creator.Version); ok {
		return c >= 0
	}
	return it.Order >= creator.Order
}
