package pacing

import (
	"time"

	"airtable-replay/internal/store"
)

// PaceOf is the rule of a base, which is a table.
func PaceOf(b Base) store.Pace { return b.pace() }

// NewHold is a lease that was asked for at start; a hold's own clock needs no database.
func NewHold(l store.Lease, start time.Time) *Hold {
	return &Hold{Lease: l, until: start.Add(l.Length), since: start}
}
