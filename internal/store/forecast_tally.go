package store

import (
	"context"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// ForecastTable is what a dry run would do to one target.
type ForecastTable struct {
	Base, Target             string
	Entries, Records, Writes int // Writes: records that would be written, as far as they are judged
	Waiting                  int // entries that are not judged yet
}

// ShowForecast totals what a dry run found so far, and lists its targets, from which its cost follows.
func (s *Store) ShowForecast(ctx context.Context, run string) (deadletter.Forecast, []ForecastTable, error) {
	f := deadletter.Forecast{Outcomes: map[deadletter.Outcome]int{}, Reasons: map[deadletter.Reason]int{}}
	const tallyForecast = `SELECT outcome, reason, effect, count(*) FROM forecast WHERE run_id = $1::uuid GROUP BY 1, 2, 3`
	rows, err := s.db(ctx).Query(ctx, tallyForecast, run)
	if err != nil {
		return f, nil, interpretError("tally forecast", err)
	}
	var outcome deadletter.Outcome
	var reason deadletter.Reason
	var effect deadletter.Effect
	var n int
	if _, err := pgx.ForEachRow(rows, []any{&outcome, &reason, &effect, &n}, func() error {
		f.Selected += n
		if outcome == "" || outcome == released {
			return nil
		}
		f.Checked += n
		f.Outcomes[outcome] += n
		if reason != "" {
			f.Reasons[reason] += n
		}
		switch effect {
		case deadletter.EffectCreated:
			f.Created += n
		case deadletter.EffectUpdated, deadletter.EffectUnchanged:
			f.Updated += n
		case deadletter.EffectMerged:
			f.Merged += n
		case deadletter.EffectNone:
		}
		return nil
	}); err != nil {
		return f, nil, interpretError("tally forecast", err)
	}
	const listTables = `
		SELECT base, target_table, sum(n)::int, count(*)::int, count(*) FILTER (WHERE writes)::int, sum(waiting)::int FROM (
			SELECT base, target_table, record_key, count(*) AS n, bool_or(effect <> '') AS writes, count(*) FILTER (WHERE outcome = '') AS waiting
			FROM forecast WHERE run_id = $1::uuid GROUP BY 1, 2, 3) r
		GROUP BY 1, 2 ORDER BY 1, 2`
	if rows, err = s.db(ctx).Query(ctx, listTables, run); err != nil {
		return f, nil, interpretError("list forecast tables", err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ForecastTable])
	for _, t := range tables {
		f.Records += t.Records
	}
	return f, tables, interpretError("list forecast tables", err)
}
