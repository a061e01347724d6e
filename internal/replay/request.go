package replay

import (
	"time"

	"airtable-replay/internal/deadletter"
)

// Filing is what a dead letter is filed with. What the source's paths find in the payload may be
// left empty.
type Filing struct {
	SourceSystem   string
	TargetTable    string // the configuration's key; empty: the source's target
	TargetID       string // empty: read from the payload
	Operation      deadletter.Operation
	RawPayload     []byte // byte for byte as it arrived (mission E1)
	ReasonCode     deadletter.Reason
	ErrorDetail    string
	StatusCode     int // 0: no answer
	Attempts       int
	SourceVersion  string // as sent; empty: read from the payload
	FirstAttemptAt time.Time
	AssignedOwner  string
	DLQRecordID    string // the record of its row in the dead letter table; empty: none yet
	Actor          string // who files: the name of the token
}

// Filter narrows a list of entries; empty members do not.
type Filter struct {
	Status                               deadletter.Status
	Outcome                              deadletter.Outcome
	Reason                               deadletter.Reason // of the filing
	Source, Target, TargetID, Run, Owner string
	FirstAttemptFrom                     time.Time // inclusive
	FirstAttemptTo                       time.Time // exclusive
	Q                                    string    // free text
}

// Page is one page of a list in keyset order.
type Page struct {
	Limit  int    // at least 1
	Cursor string // where the page before ended; empty: the first page
}

// Summary counts entries by what people group them by.
type Summary struct {
	ByStatus, ByReason, BySource, ByTarget map[string]int
	ByHour                                 map[time.Time]int // by the hour of First Attempt At
}

// Press is one press of Replay on one entry (mission P1).
type Press struct {
	EntryID      string // ours, or the Airtable record ID of its row
	RequestedBy  string
	Mode         deadletter.Mode
	Fields       []string       // mode chosen_fields: the fields to write
	Expect       map[string]any // modes chosen_fields and overwrite: the values that the reviewer saw (R11)
	Reason       string
	WithSiblings bool
	// ExpectRevision is the revision of the payload that was shown; nil: whatever it is now. Required for the
	// modes chosen_fields and overwrite when the payload was edited after the last decision (R11).
	ExpectRevision *int
	Admin          bool // may pass the attempt cap (mission O3)
}

// PreviewRequest asks what a press would do.
type PreviewRequest struct {
	EntryID string
	Mode    deadletter.Mode
	Fields  []string
}

// Preview is what a press would do as things stand (mission O2).
type Preview struct {
	Verdict  deadletter.Verdict
	RecordID string // the record that matched; empty: none
	Action   deadletter.Action
	Version  deadletter.Version // what the version field would hold afterwards; zero: left alone
}

// Order is a person's word on one entry: reset, ignore, reopen.
type Order struct {
	EntryID string
	Actor   string
	Reason  string
}

// RunRequest asks for a replay of every pending entry that the selector picks (mission B1).
type RunRequest struct {
	Selector     deadletter.Selector
	Mode         deadletter.Mode
	Fields       []string
	Expect       map[string]map[string]any // by entry ID
	WithSiblings bool
	Limit        int // 0: all
	DryRun       bool
	RequestedBy  string
	Note         string
	Admin        bool
}

// BaseState is what people see of a base.
type BaseState struct {
	Name           string
	State          string // running, paused or halted
	Reason         string // of the pause or halt
	PausedUntil    time.Time
	HaltedAt       time.Time
	HaltedBy       string
	Waiting        int // the sum of the three below
	WaitingEntries int
	WaitingWrites  int
	WaitingMirror  int
	LeaseHolder    string // empty: nobody works on it
	LeaseUntil     time.Time
	// MirrorHeldUntil is until when no row goes to the dead letter table, zero for no such wait, and
	// MirrorProblem is why.
	MirrorHeldUntil time.Time
	MirrorProblem   string
}
