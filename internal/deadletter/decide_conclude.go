package deadletter

import "slices"

// conclude gives every open item its outcome (mission O, B3 steps 3 and 4).
func (d *decision) conclude() {
	for {
		open := d.open()
		d.merged = d.merge(open)
		if len(open) == 0 {
			return
		}
		if d.reviewWrites(open) {
			continue // the rest is merged anew without them
		}
		d.settle(open)
		return
	}
}

// reviewWrites sends the live writes to review whose field was changed while they waited (R6); each
// live write is an order of its own, so the others go on.
func (d *decision) reviewWrites(open []*item) bool {
	changed := d.merged.changed()
	found := false
	for _, it := range open {
		if it.isEntry() || !slices.ContainsFunc(changed, func(name string) bool { return d.merged.shares[name].winner == it }) {
			continue
		}
		d.review(it, changed)
		found = true
	}
	return found
}

// settle decides over the merged payload as a whole, then over each item's part in it.
func (d *decision) settle(open []*item) {
	changed := d.merged.changed()
	d.write = d.merged.in(shareWrite)
	if len(changed) > 0 && !d.wholly(open, d.merged) && (len(d.write) == 0 || d.wantsReview(changed)) {
		for _, it := range open {
			d.review(it, changed)
		}
		return
	}
	for _, it := range open {
		d.part(it)
	}
	d.crown(open)
	d.raise(open)
}

// wantsReview tells whether a changed field sends the record to review: its target says so, and no
// reviewer asked for the unchanged fields instead.
func (d *decision) wantsReview(changed []string) bool {
	return d.rules.OnSharedChange != Partial && slices.ContainsFunc(changed, func(name string) bool {
		return d.merged.shares[name].winner.mode() == Checked
	})
}

// review closes an item for the fields of the merged payload that somebody else changed.
func (d *decision) review(it *item, changed []string) {
	for name, value := range it.Fields {
		switch {
		case d.doubtful(it, name):
			it.fates[name] = d.fieldFate(it, name)
		case slices.Contains(changed, name) && !d.equals(name, value):
			it.fates[name] = d.changedFate(name)
		}
	}
	it.close(NeedsReview, ReasonSharedFieldChanged, d.reviewNote(changed), "nothing is written until the changed fields are reviewed")
}

// part decides what one item has in the write, field by field, and closes it with that.
func (d *decision) part(it *item) {
	held := 0
	reasons := map[Reason]bool{}
	sure := true
	for _, name := range it.fieldNames() {
		f := d.fieldFate(it, name)
		it.fates[name] = f
		if f.action != FieldSkip {
			held++
			continue
		}
		reasons[f.reason] = true
		if f.reason == ReasonSharedFieldChanged && !d.merged.shares[name].sure {
			sure = false
		}
	}
	d.closePart(it, held, reasons, sure)
}

func (d *decision) closePart(it *item, held int, reasons map[Reason]bool, sure bool) {
	lost := reasons[ReasonSharedFieldChanged]
	switch {
	case it.doubt != "" && reasons[it.doubt] && (held == 0 || len(d.write) == 0):
		it.close(NeedsReview, it.doubt, d.partNote(it)+nothingOfIt, "nothing of it can be written without overwriting what may be newer")
	case held == 0 && lost && !sure:
		it.close(NeedsReview, ReasonSharedFieldChanged, d.partNote(it)+nothingOfIt, "nothing is written until the changed fields are reviewed")
	case held == 0 && lost:
		it.close(Superseded, ReasonAllFieldsChanged, d.partNote(it), "every field was changed after the failure")
	case held == 0:
		it.close(Superseded, ReasonNewerEntryInBatch, d.partNote(it), "newer entries of the same record carry its fields")
	case lost:
		it.close(PartiallyReplayed, ReasonSharedFieldChanged, d.partNote(it), "")
	case it.doubt != "" && reasons[it.doubt]:
		it.close(PartiallyReplayed, it.doubt, d.partNote(it), "")
	case reasons[ReasonNotChosen]:
		it.close(PartiallyReplayed, ReasonNotChosen, d.partNote(it), "")
	default:
		it.close(Replayed, "", d.partNote(it), "")
	}
}

const nothingOfIt = " Nothing of it was written; review the fields."

// crown names the newest item of the write as its carrier; the others are merged into it.
func (d *decision) crown(open []*item) {
	var carrier *item
	for _, it := range slices.Backward(open) {
		switch {
		case !it.inWrite():
		case carrier == nil:
			carrier = it
		default:
			it.merged = true
			it.note += " Settled together with " + carrier.ID + "."
		}
	}
}

// raise finds the version that the record is to carry: the newest that was decided here, never below
// the record's own (mission P6). An item that went to review has not been incorporated.
func (d *decision) raise(open []*item) {
	var newest Version
	for _, it := range open {
		if it.outcome != NeedsReview {
			newest = Later(newest, it.Version)
		}
	}
	if !newest.IsZero() && !d.incomparable {
		d.target = Later(newest, d.version)
	}
}
