package store

import (
	"context"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// TallyFilter narrows a count of entries. The times are of First Attempt At and take in every hour that
// they touch; zero times do not narrow.
type TallyFilter struct {
	Status deadletter.Status
	From   time.Time
	To     time.Time
}

func (f TallyFilter) args() names {
	to := f.To
	if to.IsZero() {
		to = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return names{"status": f.Status, "from": f.From.UTC().Truncate(time.Hour), "to": to.UTC()}
}

// Group counts the entries of one status that failed for one reason, by source and target.
type Group struct {
	Reason         deadletter.Reason
	Source, Target string
	Entries        int
}

// CountGroups counts the entries of a filter by reason, source and target, the largest group first.
// However many entries there are, it reads sums.
func (s *Store) CountGroups(ctx context.Context, f TallyFilter) ([]Group, error) {
	countGroups := `SELECT reason_code, source_system, target_table, sum(entries) FROM entry_tally
		WHERE grain = 1 AND status = @status GROUP BY 1, 2, 3 HAVING sum(entries) > 0 ORDER BY 4 DESC, 1, 2, 3`
	args := names{"status": f.Status}
	if !f.From.IsZero() || !f.To.IsZero() {
		countGroups = `SELECT reason_code, source_system, target_table, sum(entries) FROM entry_tally
			WHERE grain = 0 AND status = @status AND hour >= @from AND hour < @to GROUP BY 1, 2, 3 HAVING sum(entries) > 0 ORDER BY 4 DESC, 1, 2, 3`
		args = f.args()
	}
	rows, err := s.db(ctx).Query(ctx, countGroups, args)
	if err != nil {
		return nil, interpretError("count groups", err)
	}
	gs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (g Group, err error) {
		return g, row.Scan(&g.Reason, &g.Source, &g.Target, &g.Entries)
	})
	return gs, interpretError("count groups", err)
}

// Span is when the entries of one reason failed first and last, by First Attempt At.
type Span struct{ First, Last time.Time }

// SpansOf gives the spans of some reasons' entries; a reason without entries is left out.
func (s *Store) SpansOf(ctx context.Context, f TallyFilter, reasons []deadletter.Reason) (map[deadletter.Reason]Span, error) {
	const spansOf = `
		SELECT r.reason, f.at, l.at FROM unnest(@reasons::text[]) r (reason)
		CROSS JOIN LATERAL (SELECT first_attempt_at AS at FROM entry WHERE status = @status AND reason_code = r.reason
			AND first_attempt_at >= @from AND first_attempt_at < @to ORDER BY first_attempt_at LIMIT 1) f
		CROSS JOIN LATERAL (SELECT first_attempt_at AS at FROM entry WHERE status = @status AND reason_code = r.reason
			AND first_attempt_at >= @from AND first_attempt_at < @to ORDER BY first_attempt_at DESC LIMIT 1) l`
	args := f.args()
	args["reasons"] = reasons
	rows, err := s.db(ctx).Query(ctx, spansOf, args)
	if err != nil {
		return nil, interpretError("find spans", err)
	}
	out := map[deadletter.Reason]Span{}
	var reason deadletter.Reason
	var span Span
	_, err = pgx.ForEachRow(rows, []any{&reason, &span.First, &span.Last}, func() error {
		out[reason] = Span{span.First.UTC(), span.Last.UTC()}
		return nil
	})
	return out, interpretError("find spans", err)
}

// Hour counts the entries whose First Attempt At lies in one hour.
type Hour struct {
	At      time.Time
	Entries int
}

// CountHours counts the entries of a filter by hour, the earliest first; hours without any are left out.
func (s *Store) CountHours(ctx context.Context, f TallyFilter) ([]Hour, error) {
	const countHours = `SELECT hour, sum(entries) FROM entry_tally
		WHERE grain = 2 AND status = @status AND hour >= @from AND hour < @to GROUP BY 1 HAVING sum(entries) > 0 ORDER BY 1`
	rows, err := s.db(ctx).Query(ctx, countHours, f.args())
	if err != nil {
		return nil, interpretError("count hours", err)
	}
	hs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (h Hour, err error) {
		err = row.Scan(&h.At, &h.Entries)
		h.At = h.At.UTC()
		return h, err
	})
	return hs, interpretError("count hours", err)
}

// CountStatuses counts all entries by status.
func (s *Store) CountStatuses(ctx context.Context) (map[deadletter.Status]int, error) {
	rows, err := s.db(ctx).Query(ctx, `SELECT status, sum(entries) FROM entry_tally WHERE grain = 1 GROUP BY 1`)
	if err != nil {
		return nil, interpretError("count statuses", err)
	}
	out := map[deadletter.Status]int{}
	var status deadletter.Status
	var n int
	_, err = pgx.ForEachRow(rows, []any{&status, &n}, func() error {
		out[status] = n
		return nil
	})
	return out, interpretError("count statuses", err)
}

// ReasonsOnFile lists the reasons for which any entry was filed, in no order.
func (s *Store) ReasonsOnFile(ctx context.Context) ([]deadletter.Reason, error) {
	rows, err := s.db(ctx).Query(ctx, `SELECT reason_code FROM entry_tally WHERE grain = 1 GROUP BY 1 HAVING sum(entries) > 0`)
	if err != nil {
		return nil, interpretError("list reasons", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[deadletter.Reason])
	return found, interpretError("list reasons", err)
}

// CountEntries counts the entries of a filter, but no further than to a bound.
func (s *Store) CountEntries(ctx context.Context, f Filter, bound int) (n int, err error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	from, run := "entry e", f.Run
	if f.Run = ""; run != "" {
		from = "run_entry m JOIN entry e ON e.id = m.entry_id"
	}
	where, args := f.conditions("e")
	if run != "" {
		where += " AND m.run_id = @run::uuid"
		args["run"] = run
	}
	args["bound"] = bound
	err = s.db(ctx).QueryRow(ctx, `SELECT count(*) FROM (SELECT 1 FROM `+from+` WHERE `+where+` LIMIT @bound) bounded`, args).Scan(&n)
	return n, interpretError("count entries", err)
}

// SumTally sums up the lines of the tally. Every process may do so at any time; one does, and the others
// leave it to that one.
func (s *Store) SumTally(ctx context.Context) error {
	err := s.InTx(ctx, func(ctx context.Context) error {
		var mine bool
		if err := s.db(ctx).QueryRow(ctx, `SELECT pg_try_advisory_xact_lock(hashtext('entry_tally'))`).Scan(&mine); err != nil || !mine {
			return err
		}
		const sumTally = `
			WITH gone AS (
				DELETE FROM entry_tally WHERE (grain, status, reason_code, source_system, target_table, hour) IN (
					SELECT grain, status, reason_code, source_system, target_table, hour FROM entry_tally GROUP BY 1, 2, 3, 4, 5, 6 HAVING count(*) > 1)
				RETURNING *
			)
			INSERT INTO entry_tally SELECT grain, status, reason_code, source_system, target_table, hour, sum(entries) FROM gone
			GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(entries) <> 0`
		_, err := s.db(ctx).Exec(ctx, sumTally)
		return err
	})
	return interpretError("sum tally", err)
}
