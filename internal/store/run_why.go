package store

import (
	"context"
	"slices"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// CountWhy counts a run's entries that were not written by outcome and reason, the largest count first;
// of a run that is not finished, those so far. It reads nothing where the run's counts say that there are none.
func (s *Store) CountWhy(ctx context.Context, r deadletter.Run) ([]deadletter.Why, error) {
	if c := r.Counts; c.Superseded+c.NeedsReview+c.ReplayFailed+c.Released == 0 {
		return nil, nil
	}
	if known, ok := s.totals.recallWhy(r.ID); ok {
		return known, nil
	}
	const countWhy = `SELECT CASE outcome WHEN @released THEN '' ELSE outcome END, reason, count(*) FROM run_entry
		WHERE run_id = @run::uuid AND outcome = ANY (@outcomes) GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`
	rows, err := s.db(ctx).Query(ctx, countWhy, names{
		"run": r.ID, "released": released,
		"outcomes": []string{string(deadletter.Superseded), string(deadletter.NeedsReview), string(deadletter.ReplayFailed), released},
	})
	if err != nil {
		return nil, interpretError("count reasons of run", err)
	}
	why, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (w deadletter.Why, err error) {
		return w, row.Scan(&w.Outcome, &w.Reason, &w.Entries)
	})
	if err != nil {
		return nil, interpretError("count reasons of run", err)
	}
	if _, within := TxFrom(ctx); !within && r.Finished() && r.Reconciliation.Balanced {
		s.totals.rememberWhy(r.ID, why)
	}
	return why, nil
}

func (t *totals) recallWhy(run string) ([]deadletter.Why, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	why, ok := t.why[run]
	return slices.Clone(why), ok
}

func (t *totals) rememberWhy(run string, why []deadletter.Why) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.why == nil || len(t.why) >= maxTotals {
		t.why = map[string][]deadletter.Why{}
	}
	t.why[run] = slices.Clone(why)
}

// Subject is the one entry that a run is about.
type Subject struct {
	EntryID  string
	Target   string // empty: not known
	TargetID string // empty: not readable
}

// SubjectsOf gives the entries of the runs that took exactly one, by the ID of the run.
func (s *Store) SubjectsOf(ctx context.Context, rs []deadletter.Run) (map[string]*Subject, error) {
	var ids []string
	for _, r := range rs {
		if r.Counts.Claimed == 1 {
			ids = append(ids, r.ID)
		}
	}
	out := map[string]*Subject{}
	if len(ids) == 0 {
		return out, nil
	}
	const subjectsOf = `SELECT m.run_id::text, e.id::text, e.target_table, coalesce(e.target_id, '') FROM run_entry m JOIN entry e ON e.id = m.entry_id
		WHERE m.run_id = ANY (@runs::uuid[])`
	rows, err := s.db(ctx).Query(ctx, subjectsOf, names{"runs": ids})
	if err != nil {
		return nil, interpretError("find subjects of runs", err)
	}
	var run string
	var one Subject
	_, err = pgx.ForEachRow(rows, []any{&run, &one.EntryID, &one.Target, &one.TargetID}, func() error {
		found := one
		out[run] = &found
		return nil
	})
	return out, interpretError("find subjects of runs", err)
}
