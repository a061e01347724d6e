package replay

import (
	"context"
	"fmt"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// MaxBulk is how many entries one order may name.
const MaxBulk = 1000

// BulkOrder is a person's word on many entries: ignore, reopen.
type BulkOrder struct {
	IDs    []string // 1 to MaxBulk, ours or the Airtable record IDs of their rows
	Actor  string
	Reason string
}

// BulkResult is what an order on many entries came to: each of them is in one of the two lists.
type BulkResult struct {
	Changed []string // ours
	Refused []BulkRefusal
}

// BulkRefusal is an entry that was left as it is.
type BulkRefusal struct {
	ID      string // as it was asked for
	Problem string // the stable name of the problem, such as "entry-not-pending"
	Detail  string // why, safe to show
}

// IgnoreEntries closes those of the entries that are at Pending Review, in one transaction; each of
// the others is named with why.
func (s *Service) IgnoreEntries(ctx context.Context, o BulkOrder) (BulkResult, error) {
	return bulk(o.IDs, func() (store.BulkResult, error) { return s.Store.IgnoreEntries(ctx, o.IDs, o.Actor, o.Reason) })
}

// ReopenEntries returns those of the entries that are closed to Pending Review, in one transaction;
// each of the others is named with why.
func (s *Service) ReopenEntries(ctx context.Context, o BulkOrder) (BulkResult, error) {
	return bulk(o.IDs, func() (store.BulkResult, error) { return s.Store.ReopenEntries(ctx, o.IDs, o.Actor, o.Reason) })
}

// AssignEntries gives the entries to an owner, in one transaction; an empty name takes them from
// whoever had them.
func (s *Service) AssignEntries(ctx context.Context, ids []string, owner, by string) (BulkResult, error) {
	return bulk(ids, func() (store.BulkResult, error) { return s.Store.AssignEntries(ctx, ids, owner, by) })
}

// AssignOwner gives an entry to an owner, whatever its status; an empty name takes it from whoever had
// it.
func (s *Service) AssignOwner(ctx context.Context, id, owner, by string) (deadletter.Entry, error) {
	if err := s.Store.AssignOwner(ctx, id, owner, by); err != nil {
		return deadletter.Entry{}, err
	}
	return s.Store.ShowEntry(ctx, id)
}

func bulk(ids []string, order func() (store.BulkResult, error)) (BulkResult, error) {
	if n := len(ids); n == 0 || n > MaxBulk {
		err := deadletter.Errorf(deadletter.CodeInvalid, "", "the order cannot be accepted as it is")
		err.Fields = []deadletter.FieldError{{Field: "ids", Rule: "size", Detail: fmt.Sprintf("must hold 1 to %d IDs, not %d", MaxBulk, n)}}
		return BulkResult{}, err
	}
	r, err := order()
	if err != nil {
		return BulkResult{}, err
	}
	out := BulkResult{Changed: r.Changed, Refused: make([]BulkRefusal, len(r.Refused))}
	for i, refusal := range r.Refused {
		out.Refused[i] = BulkRefusal{ID: refusal.ID, Problem: refusal.Cause.Problem, Detail: refusal.Cause.Sentence()}
	}
	return out, nil
}
