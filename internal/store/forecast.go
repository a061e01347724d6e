package store

import (
	"context"
	"slices"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// PlanRun makes a dry run over what the claim would take (B1). It claims nothing: the entries are only
// written down, to be judged by passes. Nothing selected: no run is made and Claimed is empty.
func (s *Store) PlanRun(ctx context.Context, c Claim) (Claimed, error) {
	var out Claimed
	err := s.join(ctx, func(ctx context.Context) (err error) {
		out, err = s.plan(ctx, c)
		return err
	})
	if err != nil {
		return Claimed{}, interpretError("plan run", err)
	}
	return out, nil
}

func (s *Store) plan(ctx context.Context, c Claim) (Claimed, error) {
	c.Run.DryRun = true
	out, err := s.selectInto(ctx, c, s.planRows)
	if err != nil || out.Count == 0 {
		return out, err
	}
	return out, s.countLeftOut(ctx, out.RunID, c)
}

func (s *Store) planRows(ctx context.Context, run string, c Claim) ([]claimedRow, error) {
	with, join, where, args := c.selection()
	addRoutes(args, c.Routes)
	if err := addRun(args, run, c.Run); err != nil {
		return nil, err
	}
	planEntries := `
		WITH ` + routeTable + with + `, planned AS (
			INSERT INTO forecast (run_id, entry_id, base, target_table, record_key, rank, version_sort, seq)
			SELECT @run_id, e.id, coalesce(r.base, ''), coalesce(r.target, e.target_table), e.record_key, coalesce(r.rank, 0), e.version_sort, e.seq
			FROM entry e ` + join + ` LEFT JOIN route r ON r.source = e.source_system WHERE ` + where + ` RETURNING base
		), run AS (` + insertRun + ` 0 WHERE EXISTS (SELECT FROM planned))
		SELECT base, count(*)::int FROM planned GROUP BY base ORDER BY base`
	rows, err := s.db(ctx).Query(ctx, planEntries, args)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[claimedRow])
}

// dueForecast finds a dry run of a base of which an entry is to be judged.
const dueForecast = `SELECT f.run_id::text FROM forecast f WHERE f.base = @base AND f.outcome = '' AND f.due_at <= ` + sqlNow + `
	AND EXISTS (SELECT 1 FROM run r WHERE r.id = f.run_id AND r.status IN ('queued', 'running')) ORDER BY f.run_id LIMIT 1`

// TakeForecast takes up to ten records of one target that a dry run is to judge, with the entries that it
// would claim of each. An empty chunk: there is none.
func (s *Store) TakeForecast(ctx context.Context, l Lease) (run string, c Chunk, err error) {
	err = s.fenced(ctx, l, func(ctx context.Context) error {
		runs, err := s.idsOf(ctx, "find dry run", `SELECT f.* FROM base b, LATERAL (`+dueForecast+`) f WHERE b.name = @base AND b.halted_at IS NULL`, names{"base": l.Base})
		if err != nil || len(runs) == 0 {
			return err
		}
		run = runs[0]
		if err := s.beginRuns(ctx, runs); err != nil {
			return err
		}
		refs, err := s.forecastRecords(ctx, l.Base, run)
		if err != nil || len(refs) == 0 {
			return err
		}
		if moved, err := s.followEdits(ctx, run, refs); err != nil {
			return err
		} else if moved {
			if refs, err = s.forecastRecords(ctx, l.Base, run); err != nil || len(refs) == 0 {
				return err
			}
		}
		c, err = s.loadForecast(ctx, run, refs)
		return err
	})
	return run, c, interpretError("take forecast", err)
}

// followEdits takes entries to the record that they are about by now: their payload may have been edited
// since the dry run was planned.
func (s *Store) followEdits(ctx context.Context, run string, refs []RecordRef) (moved bool, err error) {
	keys := []string{}
	for _, r := range refs {
		keys = append(keys, r.Key)
	}
	const followEdits = `UPDATE forecast f SET record_key = e.record_key, version_sort = e.version_sort FROM entry e
		WHERE f.run_id = $1::uuid AND f.target_table = $2 AND f.record_key = ANY ($3) AND f.outcome = '' AND e.id = f.entry_id AND e.record_key <> f.record_key`
	tag, err := s.db(ctx).Exec(ctx, followEdits, run, refs[0].Target, keys)
	return tag.RowsAffected() > 0, err
}

func (s *Store) forecastRecords(ctx context.Context, base, run string) ([]RecordRef, error) {
	const forecastRecords = `SELECT f.target_table, f.record_key, false FROM forecast f WHERE f.base = @base AND f.run_id = @run::uuid AND f.outcome = ''
		AND f.due_at <= ` + sqlNow + ` ORDER BY f.rank, f.target_table, f.version_sort, f.seq LIMIT 200`
	rows, err := s.db(ctx).Query(ctx, forecastRecords, names{"base": base, "run": run})
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[candidate])
	return chooseRecords(found), err
}

func (s *Store) loadForecast(ctx context.Context, run string, refs []RecordRef) (Chunk, error) {
	l := &loading{Chunk: &Chunk{Target: refs[0].Target}, at: map[string]int{}}
	for _, r := range refs {
		l.place(r)
	}
	if err := s.db(ctx).QueryRow(ctx, `SELECT replay_now()`).Scan(&l.Now); err != nil {
		return Chunk{}, err
	}
	l.Now = l.Now.UTC()
	const loadForecast = `
		SELECT f.record_key, e.id::text, e.claim, e.payload_revision, e.source_system, e.operation, e.raw_payload, e.first_attempt_at, e.seq, r.mode, '{}'::text[], NULL::json,
			0, 0, '', e.wrote_version, coalesce(e.landed_intent::text, ''), '', '', false, e.flags, e.version, false
		FROM forecast f JOIN entry e ON e.id = f.entry_id JOIN run r ON r.id = f.run_id
		WHERE f.run_id = $1::uuid AND f.target_table = $2 AND f.record_key = ANY ($3) AND f.outcome = '' ORDER BY f.version_sort NULLS FIRST, f.seq LIMIT $4`
	rows, err := s.db(ctx).Query(ctx, loadForecast, run, l.Target, l.keys(), chunkMembers)
	if err != nil {
		return Chunk{}, err
	}
	entries, err := pgx.CollectRows(rows, scanMember)
	if err != nil {
		return Chunk{}, err
	}
	for _, e := range entries {
		l.add(e.Key, e.Member)
	}
	if err := s.loadAround(ctx, l); err != nil {
		return Chunk{}, err
	}
	return *l.Chunk, s.withoutOwn(ctx, run, l)
}

// withoutOwn takes from the siblings what the dry run itself would claim.
func (s *Store) withoutOwn(ctx context.Context, run string, l *loading) error {
	const ownEntries = `SELECT entry_id::text FROM forecast WHERE run_id = $1::uuid AND target_table = $2 AND record_key = ANY ($3)`
	own, err := s.idsOf(ctx, "find own entries", ownEntries, run, l.Target, l.keys())
	if err != nil {
		return err
	}
	mine := map[string]bool{}
	for _, id := range own {
		mine[id] = true
	}
	for i := range l.Items {
		l.Items[i].Siblings = slices.DeleteFunc(l.Items[i].Siblings, func(id string) bool { return mine[id] })
	}
	return nil
}

// Foreseen is what would become of one entry.
type Foreseen struct {
	EntryID string
	Outcome deadletter.Outcome
	Reason  deadletter.Reason
	Effect  deadletter.Effect
}

// SettleForecast stores what a dry run found about some entries, and ends the run with the last one.
func (s *Store) SettleForecast(ctx context.Context, l Lease, run string, found []Foreseen) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		var ids, outcomes, reasons, effects []string
		for _, f := range found {
			ids, outcomes = append(ids, f.EntryID), append(outcomes, string(f.Outcome))
			reasons, effects = append(reasons, string(f.Reason)), append(effects, string(f.Effect))
		}
		const settleForecast = `UPDATE forecast f SET outcome = x.outcome, reason = x.reason, effect = x.effect
			FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) AS x (id, outcome, reason, effect)
			WHERE f.run_id = $1::uuid AND f.entry_id = x.id AND f.outcome = ''`
		if _, err := s.db(ctx).Exec(ctx, settleForecast, run, ids, outcomes, reasons, effects); err != nil {
			return err
		}
		const finishDryRun = `UPDATE run SET status = 'completed', finished_at = replay_now() WHERE id = $1::uuid AND dry_run AND status IN ('queued', 'running')
			AND NOT EXISTS (SELECT 1 FROM forecast WHERE run_id = $1::uuid AND outcome = '')`
		_, err := s.db(ctx).Exec(ctx, finishDryRun, run)
		return err
	})
	return interpretError("settle forecast", err)
}

// ForecastDelay lets entries of a dry run wait before they are judged.
type ForecastDelay struct {
	Entries []string
	Wait    time.Duration
	// Attempts is after how many failed readings an entry is given up, with Reason; 0: the wait follows no
	// failure.
	Attempts int
	Reason   deadletter.Reason
}

// PostponeForecast lets entries of a dry run wait.
func (s *Store) PostponeForecast(ctx context.Context, l Lease, run string, d ForecastDelay) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		const postponeForecast = `UPDATE forecast SET due_at = replay_now() + @wait::interval, tries = CASE WHEN @attempts > 0 THEN tries + 1 ELSE tries END,
				outcome = CASE WHEN @attempts > 0 AND tries + 1 >= @attempts THEN 'replay_failed' ELSE outcome END,
				reason = CASE WHEN @attempts > 0 AND tries + 1 >= @attempts THEN @reason ELSE reason END
			WHERE run_id = @run::uuid AND entry_id = ANY (@ids::uuid[]) AND outcome = ''`
		_, err := s.db(ctx).Exec(ctx, postponeForecast, names{"run": run, "ids": d.Entries, "wait": d.Wait, "attempts": d.Attempts, "reason": d.Reason})
		return err
	})
	return interpretError("postpone forecast", err)
}

// sweepForecasts ends dry runs of which nobody judges the entries: their base may have left the
// configuration.
func (s *Store) sweepForecasts(ctx context.Context, after time.Duration) error {
	const sweepForecasts = `
		WITH ended AS (
			UPDATE run SET status = 'stopped', reason = 'swept', finished_at = replay_now()
			WHERE dry_run AND status IN ('queued', 'running') AND EXISTS (SELECT 1 FROM forecast e JOIN base b ON b.name = e.base
				WHERE e.run_id = run.id AND e.outcome = '' AND ` + idle + ` AND ` + sweepable + `) RETURNING id
		)
		UPDATE forecast SET outcome = 'released' WHERE run_id IN (SELECT id FROM ended) AND outcome = ''`
	_, err := s.db(ctx).Exec(ctx, sweepForecasts, names{"after": after})
	return err
}

// Foresees tells whether a dry run has an entry that would bring a record about, as far as is known.
func (s *Store) Foresees(ctx context.Context, run, target, targetID string) (bool, error) {
	const foresees = `SELECT EXISTS (SELECT 1 FROM forecast WHERE run_id = $1::uuid AND target_table = $2 AND record_key = 'k:' || $3::text
		AND outcome IN ('', 'replayed', 'partially_replayed'))`
	var ok bool
	err := s.db(ctx).QueryRow(ctx, foresees, run, target, targetID).Scan(&ok)
	return ok, interpretError("foresee record", err)
}

// stopDryRuns ends the dry runs that would have to read from a base that is halted.
func (s *Store) stopDryRuns(ctx context.Context, base string) error {
	const stopDryRuns = `
		WITH stopped AS (
			UPDATE run SET status = 'stopped', reason = 'base_halted', finished_at = replay_now()
			WHERE dry_run AND status IN ('queued', 'running') AND id IN (SELECT run_id FROM forecast WHERE base = $1 AND outcome = '') RETURNING id
		)
		UPDATE forecast SET outcome = 'released' WHERE run_id IN (SELECT id FROM stopped) AND outcome = ''`
	_, err := s.db(ctx).Exec(ctx, stopDryRuns, base)
	return err
}

// endForecast drops what an ended dry run has not judged.
func (s *Store) endForecast(ctx context.Context, run string) error {
	_, err := s.db(ctx).Exec(ctx, `UPDATE forecast SET outcome = 'released' WHERE run_id = $1::uuid AND outcome = ''`, run)
	return err
}
