package store

import (
	"time"

	"airtable-replay/internal/deadletter"
)

// The bounds of one chunk: records per request, members and payload bytes (design hop 3).
const (
	chunkRecords = 10
	chunkMembers = 1000
	chunkBytes   = 16 << 20
)

// Chunk is what a pass works on next: up to ten records of one target.
type Chunk struct {
	Target string
	Items  []Item
	Now    time.Time // on the shared clock, when the chunk was taken
	Closed bool      // the base is paused, or halted for its token or quota; nothing was taken
	// SinceResume is how long ago the base was resumed, a day at most: what was read of it before does not count.
	SinceResume time.Duration
	Halted      bool // the base is halted: no data was taken, but rows to mirror may go on (R9)
}

// Item is one record of a chunk: the intents that are open on it and what waits for it, either live
// writes, or entries, or one restore. Members may be empty: then only the intents are to be looked at.
type Item struct {
	Ref      RecordRef
	TargetID string // the sender's ID; empty where the payload does not tell
	Members  []Member
	Intents  []OpenIntent
	Mark     Mark
	Siblings []string // entries of the record at Pending Review (P4)
}

// MemberRef names a member and the claim under which it was taken.
type MemberRef struct {
	Kind     deadletter.MemberKind
	ID       string
	Claim    int64 // 0 for live writes and restores
	Revision int   // of the payload
}

// Member is a claimed entry or a queued live write as the pass takes it.
type Member struct {
	MemberRef
	Source         string
	Operation      deadletter.Operation
	RawPayload     []byte
	FirstAttemptAt time.Time // of a live write: the moment of acceptance
	Order          int64
	Mode           deadletter.Mode
	Chosen         []string
	Expect         map[string]any
	Tries          int // attempts made under this claim (W2)
	LastStatus     int
	LastError      string
	Wrote          deadletter.Version
	Filed          deadletter.Version // as the filer gave it, for a payload that holds none
	LandedIntent   string             // a write of this entry that landed while nobody held it
	RunID          string
	RunEnded       bool // the run was cancelled or stopped before a pass got to the entry
	By             string
	Alone          bool
	Flags          []string
	Restoring      *Restoring // what a restore takes back; nil for entries and live writes
}

// Mark is what is remembered of a record, by version field.
type Mark struct {
	RecordID  string
	Clocks    map[string]ClockMark
	Guards    map[string]deadletter.GuardMark
	Restored  []string  // version fields under which a write was taken back since they last rose (A2)
	RestUntil time.Time // zero: does not rest
	Resting   bool
	Deaths    int
}

// ClockMark is the highest version of ours that landed under one version field, as sent and as
// Airtable gave it back.
type ClockMark struct {
	Highest deadletter.Version
	Stored  deadletter.Version
}

// Of is the mark as a decision under one version field needs it.
func (m Mark) Of(clock string) deadletter.Mark {
	c := m.Clocks[clock]
	return deadletter.Mark{RecordID: m.RecordID, Highest: c.Highest, Stored: c.Stored, Guards: m.Guards, Restored: len(m.Restored) > 0}
}

// OpenIntent is a stored write whose fate is not settled yet (R2).
type OpenIntent struct {
	deadletter.Intent
	Target   string
	Clock    string
	Stamp    string // the stamp field that it was sent with; empty: none
	Retry    bool   // its sender gave up on it in good order: the same write may be sent again (R4b)
	Fact     *Fact
	Attempts []Attempt
	Members  []IntentMember
	Dates    []string // business dates of the record before and after
	DueAt    bool     // its look-at time has come
}

// IntentMember is one member of an intent with what becomes of it once the write has landed.
type IntentMember struct {
	MemberRef
	Verdict deadletter.Verdict
	Fetched []byte // the sender's state that was written in place of the payload (C5); nil: the payload was
	Held    bool   // still replaying under the same claim, or still queued
}

// Attempt is one sending of an intent.
type Attempt struct {
	At           time.Time       `json:"at"`
	Status       int             `json:"status,omitempty"` // of the answer; 0: none
	Fate         deadletter.Fate `json:"fate"`
	MayLandUntil time.Time       `json:"may_land_until"`
}

// Fact is the answer that proves a landing (R4): the record as Airtable gave it back.
type Fact struct {
	RecordID string         `json:"record_id"`
	Created  bool           `json:"created,omitempty"`
	Fields   map[string]any `json:"fields"`
}

// Certain tells, of a write that has landed, whether no attempt of it is unaccounted for. answered
// says that the landing is known from the answer to the newest attempt, which is not yet among
// Attempts when it is a repetition; else one attempt of unknown fate is the one that landed.
func (i OpenIntent) Certain(answered bool) bool {
	unknown := 0
	for _, a := range i.Attempts {
		if a.Fate == deadletter.FateOpen {
			unknown++
		}
	}
	return unknown == 0 || !answered && unknown == 1
}

// openUntil is when the last of the attempts of unknown fate can no longer land; zero: there is none.
func (i OpenIntent) openUntil() time.Time {
	var until time.Time
	for _, a := range i.Attempts {
		if a.Fate == deadletter.FateOpen {
			until = latest(until, a.MayLandUntil)
		}
	}
	return until
}

// entries are the members that are entries, by ID.
func (i OpenIntent) entries() []string {
	var ids []string
	for _, m := range i.Members {
		if m.Kind == deadletter.MemberEntry {
			ids = append(ids, m.ID)
		}
	}
	return ids
}
