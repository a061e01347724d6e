package live

import (
	"time"

	"airtable-replay/internal/deadletter"
)

// Incoming is one live write as a sender posts it (mission L1).
type Incoming struct {
	SourceSystem string
	Payload      []byte // byte for byte
	Operation    deadletter.Operation
}

// Accepted is a live write that is durable.
type Accepted struct {
	ID     string
	Status string // queued
}

// Write is what became of a live write.
type Write struct {
	ID           string
	SourceSystem string
	TargetTable  string // empty: source not configured
	TargetID     string // empty: not readable from the payload
	Status       string // queued, written, stale or dead_lettered
	EntryID      string // the entry of a dead-lettered write
	RecordID     string
	Note         string
	Reason       deadletter.Reason
	AcceptedAt   time.Time
	SettledAt    time.Time // zero: not yet
}

// Check is what the rules say of a payload (mission L3). The write is meant only when Valid.
type Check struct {
	Valid   bool
	Errors  []deadletter.FieldError
	Target  string
	Key     string
	Version deadletter.Version
	Fields  map[string]any
}
