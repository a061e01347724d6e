package deadletter

import "time"

// Fate is what is known about a write of ours that was sent (R2).
type Fate string

// The fates of a write. FateOpen means: not known yet, the record rests.
const (
	FateOpen      Fate = "open"
	FateLanded    Fate = "landed"
	FateNotLanded Fate = "not_landed"
	FateUnknown   Fate = "unknown" // may have been written; never reported as "nothing was written"
)

// Intent is a write that was stored durably before it was sent (mission P5, R2).
type Intent struct {
	ID       string
	Creates  bool           // an upsert of a key that matched nothing
	RecordID string         // empty when Creates
	Fields   map[string]any // the payload fields that were sent
	Before   map[string]any // their values as read before the write; nil for an empty cell
	Version  Version        // the version that was sent; zero: none
	// VersionBefore is the record's version as read before the write; zero: blank.
	VersionBefore Version
	// MayLandUntil is the instant after which no attempt of it can land any more (R4b).
	MayLandUntil time.Time
}

// Sighting is what a fresh read says about an intent.
type Sighting struct {
	Fate      Fate
	RecordID  string // the record that holds the write, when landed
	ByContent bool   // recognised by equal values alone, for want of a stamp and a version
}
