package store

import (
	"context"
	"maps"
	"sync"

	"airtable-replay/internal/deadletter"
)

// maxTotals bounds the runs whose totals are remembered.
const maxTotals = 10_000

// totals remembers the totals of finished runs, which change no more: to count the entries of large runs
// anew for each page would take long. A run that does not add up is counted anew each time.
type totals struct {
	mu    sync.Mutex
	known map[string]total
	why   map[string][]deadletter.Why
}

type total struct {
	counts         deadletter.Counts
	reconciliation deadletter.Reconciliation
}

// tallyAll fills in the totals of runs: the known ones from memory.
func (s *Store) tallyAll(ctx context.Context, rs []deadletter.Run) error {
	var counted []deadletter.Run
	var at []int
	for i := range rs {
		if !s.totals.recall(&rs[i]) {
			counted, at = append(counted, rs[i]), append(at, i)
		}
	}
	if len(counted) == 0 {
		return nil
	}
	if err := s.tally(ctx, counted); err != nil {
		return err
	}
	for n, i := range at {
		rs[i] = counted[n]
	}
	if _, within := TxFrom(ctx); !within { // a transaction may yet be undone
		s.totals.remember(counted)
	}
	return nil
}

func (t *totals) recall(r *deadletter.Run) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.known[r.ID]
	if ok {
		r.Counts, r.Reconciliation = found.counts, found.reconciliation
		r.Reconciliation.SkippedByReason = maps.Clone(found.reconciliation.SkippedByReason)
	}
	return ok
}

// remember keeps the totals of runs that are finished and add up.
func (t *totals) remember(rs []deadletter.Run) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || len(t.known)+len(rs) > maxTotals {
		t.known = map[string]total{}
	}
	for _, r := range rs {
		if r.Finished() && r.Reconciliation.Balanced {
			kept := total{r.Counts, r.Reconciliation}
			kept.reconciliation.SkippedByReason = maps.Clone(r.Reconciliation.SkippedByReason)
			t.known[r.ID] = kept
		}
	}
}
