package deadletter

import "time"

// Action says what a plan does to its record.
type Action string

// The actions of a plan.
const (
	ActionNone   Action = "none"
	ActionCreate Action = "create"
	ActionUpdate Action = "update"
)

// Plan is the answer to a Case: at most one write, and one verdict for each member.
type Plan struct {
	Action   Action
	RecordID string         // the record to update; empty unless Action is ActionUpdate
	Fields   map[string]any // what to write, without version and stamp; empty when only the version is to be raised
	// Version is what the record's version field is to hold after the write: the later of the merged
	// payloads' and the record's (mission P6); zero: the version field is left alone.
	Version Version
	// Before holds the current value of every field of Fields, nil where the cell is empty (mission P5).
	Before map[string]any
	// LateLanding says that the record holds an older version than one of ours that had landed (R4b).
	LateLanding bool
	Verdicts    []Verdict // one per member, in the order of Case.Members
}

// Writes tells whether the plan sends anything to Airtable.
func (p Plan) Writes() bool { return p.Action != ActionNone }

// Verdict is what becomes of one member if the plan is carried out.
type Verdict struct {
	Member  string
	Outcome Outcome
	Reason  Reason // empty for a plain Replayed
	Note    string // plain words for Replay Notes: names fields, versions and times that decided
	// Fields are the member's own fields that the record holds once the plan is carried out, written
	// or already equal (mission B3 step 4).
	Fields  map[string]any
	Skipped []Skip
	Checks  []FieldCheck // field by field, in the order of the field names (mission O2)
	// Merged says that another member of the plan carries the write.
	Merged bool
}

// InWrite tells whether the member takes part in the plan's write.
func (v Verdict) InWrite() bool { return v.Outcome == Replayed || v.Outcome == PartiallyReplayed }

// Skip is a field of a member that is deliberately not written (mission A1).
type Skip struct {
	Field     string
	Reason    Reason
	ChangedAt time.Time // the guard's time; zero where no guard decided
	Current   any
	Incoming  any
}

// FieldAction is what happens to one field of a member.
type FieldAction string

// The actions on a field (contract: preview).
const (
	FieldWrite FieldAction = "write"
	FieldSkip  FieldAction = "skip"
	FieldSame  FieldAction = "same"
)

// FieldCheck is the decision about one field of one member, with the reason in words.
type FieldCheck struct {
	Field    string
	Current  any
	Incoming any
	Action   FieldAction
	Why      string
}
