package store

import (
	"context"
	"slices"

	"airtable-replay/internal/deadletter"
)

// BulkResult is what a person's word on many entries came to.
type BulkResult struct {
	Changed []string // ours
	Refused []BulkRefusal
}

// BulkRefusal is an entry that was left as it is.
type BulkRefusal struct {
	ID    string // as it was asked for
	Cause *deadletter.Error
}

// IgnoreEntries closes those of the entries that are at Pending Review, in one transaction (E2).
func (s *Store) IgnoreEntries(ctx context.Context, ids []string, actor, reason string) (BulkResult, error) {
	return s.orderMany(ctx, ids, ignored, actor, reason)
}

// ReopenEntries returns those of the entries that are closed to Pending Review, in one transaction (E2).
func (s *Store) ReopenEntries(ctx context.Context, ids []string, actor, reason string) (BulkResult, error) {
	return s.orderMany(ctx, ids, reopened, actor, reason)
}

// AssignEntries gives all of the entries to an owner, in one transaction.
func (s *Store) AssignEntries(ctx context.Context, ids []string, owner, actor string) (out BulkResult, err error) {
	err = s.InTx(ctx, func(ctx context.Context) error {
		found, err := s.lockEntries(ctx, ids)
		if err != nil {
			return err
		}
		out = sortOut(ids, found, nil)
		return s.assign(ctx, out.Changed, owner, actor)
	})
	return out, interpretError("assign entries", err)
}

func (s *Store) orderMany(ctx context.Context, ids []string, m move, actor, reason string) (out BulkResult, err error) {
	err = s.InTx(ctx, func(ctx context.Context) error {
		found, err := s.lockEntries(ctx, ids)
		if err != nil {
			return err
		}
		out = sortOut(ids, found, m.refuse)
		if err := s.moveEntries(ctx, out.Changed, m, actor, reason); err != nil {
			return err
		}
		return s.touchMirror(ctx, out.Changed, 0, false)
	})
	return out, interpretError("move entries", err)
}

// sortOut tells the entries that may be changed from those that may not, and from IDs of no entry.
// An entry that is named twice is changed or refused once.
func sortOut(ids []string, found []lockedEntry, refuse func(deadletter.Status) *deadletter.Error) BulkResult {
	byID := map[string]lockedEntry{}
	for _, e := range found {
		byID[e.ID] = e
		if e.DLQRecordID != "" {
			byID[e.DLQRecordID] = e
		}
	}
	out := BulkResult{Changed: []string{}, Refused: []BulkRefusal{}}
	seen := map[string]bool{}
	for _, id := range ids {
		e, ok := byID[id]
		key := e.ID
		if !ok {
			key = id
		}
		if seen[key] {
			continue
		}
		seen[key] = true
		if !ok {
			out.Refused = append(out.Refused, BulkRefusal{id, noEntry(id)})
			continue
		}
		if refuse != nil {
			if err := refuse(e.Status); err != nil {
				out.Refused = append(out.Refused, BulkRefusal{id, err})
				continue
			}
		}
		out.Changed = append(out.Changed, e.ID)
	}
	slices.Sort(out.Changed)
	return out
}
