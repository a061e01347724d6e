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
	First, Last    time.Time // First Attempt At
}

// CountGroups counts the entries of a filter by reason, source and target. However many there are, it
// reads sums.
func (s *Store) CountGroups(ctx context.Context, f TallyFilter) ([]Group, error) {
	const countGroups = `
		WITH by_hour AS (
			SELECT reason_code, source_system, target_table, hour, sum(entries)::bigint AS entries FROM entry_tally
			WHERE status = @status AND hour >= @from AND hour < @to GROUP BY 1, 2, 3, 4 HAVING sum(entries) > 0
		), grouped AS (
			SELECT reason_code, source_system, target_table, sum(entries)::bigint AS entries, min(hour) AS first, max(hour) AS last
			FROM by_hour GROUP BY 1, 2, 3
		)
		SELECT g.reason_code, g.source_system, g.target_table, g.entries, coalesce(f.at, g.first), coalesce(l.at, g.last)
		FROM grouped g
		LEFT JOIN LATERAL (SELECT e.first_attempt_at AS at FROM entry e WHERE e.status = @status AND e.reason_code = g.reason_code
			AND e.source_system = g.source_system AND e.target_table = g.target_table
			AND e.first_attempt_at >= g.first AND e.first_attempt_at < g.first + interval '1 hour' ORDER BY e.first_attempt_at LIMIT 1) f ON true
		LEFT JOIN LATERAL (SELECT e.first_attempt_at AS at FROM entry e WHERE e.status = @status AND e.reason_code = g.reason_code
			AND e.source_system = g.source_system AND e.target_table = g.target_table
			AND e.first_attempt_at >= g.last AND e.first_attempt_at < g.last + interval '1 hour' ORDER BY e.first_attempt_at DESC LIMIT 1) l ON true
		ORDER BY g.entries DESC, g.reason_code, g.source_system, g.target_table`
	rows, err := s.db(ctx).Query(ctx, countGroups, f.args())
	if err != nil {
		return nil, interpretError("count groups", err)
	}
	gs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (g Group, err error) {
		err = row.Scan(&g.Reason, &g.Source, &g.Target, &g.Entries, &g.First, &g.Last)
		g.First, g.Last = g.First.UTC(), g.Last.UTC()
		return g, err
	})
	return gs, interpretError("count groups", err)
}

// Hour counts the entries whose First Attempt At lies in one hour.
type Hour struct {
	At      time.Time
	Entries int
}

// CountHours counts the entries of a filter by hour, the earliest first; hours without any are left out.
func (s *Store) CountHours(ctx context.Context, f TallyFilter) ([]Hour, error) {
	const countHours = `SELECT hour, sum(entries)::bigint FROM entry_tally
		WHERE status = @status AND hour >= @from AND hour < @to GROUP BY 1 HAVING sum(entries) > 0 ORDER BY 1`
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
	rows, err := s.db(ctx).Query(ctx, `SELECT status, sum(entries)::bigint FROM entry_tally GROUP BY 1`)
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

// CountEntries counts the entries of a filter, but no further than to a bound.
func (s *Store) CountEntries(ctx context.Context, f Filter, bound int) (n int, err error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	where, args := f.conditions("e")
	args["bound"] = bound
	err = s.db(ctx).QueryRow(ctx, `SELECT count(*) FROM (SELECT 1 FROM entry e WHERE `+where+` LIMIT @bound) bounded`, args).Scan(&n)
	return n, interpretError("count entries", err)
}

// SumTally sums up the lines of the tally. Every process may do so at any time.
func (s *Store) SumTally(ctx context.Context) error {
	const sumTally = `
		WITH gone AS (
			DELETE FROM entry_tally WHERE (status, reason_code, source_system, target_table, hour) IN (
				SELECT status, reason_code, source_system, target_table, hour FROM entry_tally GROUP BY 1, 2, 3, 4, 5 HAVING count(*) > 1)
			RETURNING *
		)
		INSERT INTO entry_tally SELECT status, reason_code, source_system, target_table, hour, sum(entries) FROM gone
		GROUP BY 1, 2, 3, 4, 5 HAVING sum(entries) <> 0`
	_, err := s.db(ctx).Exec(ctx, sumTally)
	return interpretError("sum tally", err)
}
