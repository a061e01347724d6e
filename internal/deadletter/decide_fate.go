package deadletter

import "time"

// fate is what was decided about one field of one item.
type fate struct {
	action FieldAction
	reason Reason
	at     time.Time
	why    string
}

func (d *decision) changedFate(name string) fate {
	s := d.merged.shares[name]
	why := "changed after the first attempt"
	if !s.sure {
		why = "its Last modified time cannot be read"
	}
	return fate{FieldSkip, ReasonSharedFieldChanged, s.at, why}
}

// fieldFate is what happens to one field of an open item. A field that a newer item overrides with an
// equal value loses nothing, and shares that item's fate.
func (d *decision) fieldFate(it *item, name string) fate {
	if !it.wants(name) {
		return fate{FieldSkip, ReasonNotChosen, time.Time{}, "the reviewer chose other fields"}
	}
	if d.doubtful(it, name) {
		return fate{FieldSkip, it.doubt, time.Time{}, d.doubtWhy(it.doubt)}
	}
	s := d.merged.shares[name]
	if s.winner != it && !Equal(d.rules.Fields[name].Kind, it.Fields[name], s.value) {
		return fate{FieldSkip, ReasonNewerEntryInBatch, time.Time{}, "newer entry " + s.winner.ID + " carries it"}
	}
	switch s.state {
	case shareSame:
		return fate{action: FieldSame, why: "the record already holds this value"}
	case shareChanged:
		return d.changedFate(name)
	default:
		return fate{action: FieldWrite, why: d.writeWhy(name, s)}
	}
}

func (d *decision) writeWhy(name string, s share) string {
	switch {
	case d.record == nil:
		return "the record is created"
	case s.winner.mode() == Overwrite:
		return "overwritten on order"
	case s.winner.mode() == ChosenFields:
		return "chosen by the reviewer"
	case s.own:
		return "last changed by an earlier write of this service"
	case !s.winner.guarded():
		return "newer data from the sender"
	case d.rules.Fields[name].Guard == "":
		return "the sender is its only writer"
	}
	return "unchanged since the first attempt"
}
