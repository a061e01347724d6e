package sandbox

import (
	"time"
)

type changeKind string

const (
	changeCreate changeKind = "create"
	changeUpdate changeKind = "update"
	changeDelete changeKind = "delete"
)

// cellChange is one change within a commit. A record created empty has one
// without a field.
type cellChange struct {
	table    *table
	record   *record
	field    *field
	kind     changeKind
	old, new any
}

// Change is one line of the log of changes: a cell that got another value, by
// whoever, through whatever door. It is the judge of tests.
type Change struct {
	// Seq counts all changes of the sandbox from 1.
	Seq int `json:"seq"`
	// At is the sandbox's clock, not the stamp left on the record.
	At time.Time `json:"at"`
	// Base is an ID; Table and Field are the names at that moment.
	Base    string `json:"base"`
	Table   string `json:"table"`
	Record  string `json:"record"`
	Field   string `json:"field"`
	FieldID string `json:"field_id,omitempty"`
	// Kind is create, update or delete, of the record the cell belongs to.
	Kind string `json:"kind"`
	// Old and New are the cell as the API shows it, null when empty.
	Old any `json:"old"`
	New any `json:"new"`
	// By names the token up to its dot, a person, or "automation".
	By string `json:"by"`
	// Request is the ID of the API request in the log of requests, 0 for none.
	Request int `json:"request"`
}

func (s *Sandbox) recordChanges(c *commit) {
	rd := c.base.reader(c.at)
	for _, change := range c.changes {
		s.lastChange++
		entry := Change{Seq: s.lastChange, At: c.at, Base: c.base.id, Table: change.table.name,
			Record: change.record.id, Kind: string(change.kind), By: c.by.label, Request: c.by.request}
		if f := change.field; f != nil {
			entry.Field, entry.FieldID = f.name, f.id
			entry.Old, entry.New = rd.stored(f, change.old), rd.stored(f, change.new)
		}
		s.changes = append(s.changes, entry)
	}
}

// Changes returns the log of changes from its beginning, in the order in which
// they happened. The seed is not in it.
func (s *Sandbox) Changes() []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleDue()
	return append([]Change(nil), s.changes...)
}
