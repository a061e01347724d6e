package store

import (
	"context"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// Effects are the records that a run changed in one target, with the business dates that they had before
// and have now (B6).
type Effects struct {
	Target    string
	RecordIDs []string // in order, each once
	DateFrom  string   // YYYY-MM-DD; empty: none is known
	DateTo    string
}

// UntoldRuns lists finished runs of which downstream has not been told, the oldest first.
func (s *Store) UntoldRuns(ctx context.Context) ([]string, error) {
	const untoldRuns = `SELECT id::text FROM run WHERE finished_at IS NOT NULL AND announced_at IS NULL ORDER BY finished_at LIMIT 100`
	return s.idsOf(ctx, "list untold runs", untoldRuns)
}

// TellRun calls tell with a finished run and what it changed, in one transaction with the note that
// downstream has been told. A run that somebody else is telling of, or has told of, is passed over.
func (s *Store) TellRun(ctx context.Context, id string, tell func(ctx context.Context, r deadletter.Run, changed []Effects) error) error {
	err := s.InTx(ctx, func(ctx context.Context) error {
		const lockRun = `SELECT id::text FROM run WHERE id = $1::uuid AND finished_at IS NOT NULL AND announced_at IS NULL FOR NO KEY UPDATE SKIP LOCKED`
		locked, err := s.idsOf(ctx, "lock run", lockRun, id)
		if err != nil || len(locked) == 0 {
			return err
		}
		r, err := s.ShowRun(ctx, id)
		if err != nil {
			return err
		}
		changed, err := s.effects(ctx, id)
		if err != nil {
			return err
		}
		if err := tell(ctx, r, changed); err != nil {
			return err
		}
		_, err = s.db(ctx).Exec(ctx, `UPDATE run SET announced_at = replay_now() WHERE id = $1::uuid`, id)
		return err
	})
	return interpretError("tell run", err)
}

func (s *Store) effects(ctx context.Context, run string) ([]Effects, error) {
	const listEffects = `
		SELECT e.target_table, array_agg(DISTINCT m.record_id), min(d.day), max(d.day)
		FROM run_entry m JOIN entry e ON e.id = m.entry_id LEFT JOIN LATERAL unnest(m.dates) AS d (day) ON true
		WHERE m.run_id = $1::uuid AND m.record_id <> '' AND m.effect <> 'unchanged' GROUP BY 1 ORDER BY 1`
	rows, err := s.db(ctx).Query(ctx, listEffects, run)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Effects, err error) {
		var from, to *time.Time
		err = row.Scan(&e.Target, &e.RecordIDs, &from, &to)
		e.DateFrom, e.DateTo = day(from), day(to)
		return e, err
	})
}

func day(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.DateOnly)
}
