package deadletter

import "slices"

// plan turns what was decided into the answer.
func (d *decision) plan() Plan {
	p := Plan{Action: d.action(), LateLanding: d.lateLanding(), Verdicts: make([]Verdict, len(d.items))}
	if p.Writes() {
		p.Version = d.target
		p.Fields, p.Before = map[string]any{}, map[string]any{}
		for _, name := range d.write {
			p.Fields[name], p.Before[name] = d.merged.shares[name].value, d.current(name)
		}
	}
	if p.Action == ActionUpdate {
		p.RecordID = d.record.ID
	}
	for _, it := range d.items {
		p.Verdicts[it.position] = d.verdict(it)
	}
	return p
}

// action says what is sent. Where only the version is older, the version alone is.
func (d *decision) action() Action {
	switch {
	case !slices.ContainsFunc(d.items, (*item).inWrite):
		return ActionNone
	case d.record == nil:
		return ActionCreate
	case len(d.write) > 0 || d.raises():
		return ActionUpdate
	}
	return ActionNone
}

// raises tells whether the record's version becomes a later one.
func (d *decision) raises() bool {
	if d.target.IsZero() {
		return false
	}
	c, ok := d.target.Compare(d.version)
	return !ok || c > 0
}

func (it *item) inWrite() bool { return it.outcome == Replayed || it.outcome == PartiallyReplayed }

// verdict accounts for every field of an item: in Fields or Skipped where the item is settled, in
// Skipped where a field sent it to review, and always in Checks.
func (d *decision) verdict(it *item) Verdict {
	v := Verdict{Member: it.ID, Outcome: it.outcome, Reason: it.reason, Note: it.note, Merged: it.merged}
	if it.inWrite() && d.record != nil && d.raises() {
		v.Note += " The record's version becomes " + d.target.String() + "."
	}
	for _, name := range it.fieldNames() {
		f := it.fates[name]
		leftOut := f.action == FieldSkip
		if !it.inWrite() && !leftOut {
			f = d.unwritten(it, name)
		}
		current, incoming := d.current(name), it.Fields[name]
		v.Checks = append(v.Checks, FieldCheck{name, current, incoming, f.action, f.why})
		switch {
		case it.inWrite() && f.action != FieldSkip:
			if v.Fields == nil {
				v.Fields = map[string]any{}
			}
			v.Fields[name] = incoming
		case it.inWrite(), it.outcome == Superseded, it.outcome == NeedsReview && leftOut:
			v.Skipped = append(v.Skipped, Skip{name, f.reason, f.at, current, incoming})
		}
	}
	return v
}

// unwritten is the fate of a field that goes the way of its whole item, which is not written.
func (d *decision) unwritten(it *item, name string) fate {
	f := fate{FieldSkip, it.reason, d.movedAt(it, name), it.why}
	if d.record != nil && d.equals(name, it.Fields[name]) {
		f.action, f.why = FieldSame, "the record already holds this value"
	}
	return f
}
