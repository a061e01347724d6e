package store

import (
	"context"
	"strconv"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// insertRun makes a queued run of what addRun names; the number of what it claimed follows.
const insertRun = `INSERT INTO run (id, kind, status, dry_run, requested_by, note, selector, mode, claimed)
	SELECT @run_id, @kind, 'queued', @dry_run, @by, @note, @selector, @mode,`

// addRun adds the arguments of insertRun.
func addRun(args pgx.NamedArgs, id string, r deadletter.Run) error {
	selector, err := doc(r.Selector)
	if err != nil {
		return err
	}
	args["run_id"], args["kind"], args["dry_run"], args["by"], args["note"], args["selector"], args["mode"] = id, r.Kind, r.DryRun, text(r.RequestedBy), text(r.Note), selector, r.Mode
	return nil
}

const runColumns = `r.id::text, r.kind, r.status, r.reason, r.dry_run, r.mode, r.requested_by, r.note, r.selector, r.claimed, r.left_out,
	r.created_at, r.started_at, r.finished_at`

func scanRun(row pgx.CollectableRow) (r deadletter.Run, err error) {
	var selector []byte
	var started, finished instant
	err = row.Scan(&r.ID, &r.Kind, &r.Status, &r.Reason, &r.DryRun, &r.Mode, &r.RequestedBy, &r.Note, &selector, &r.Counts.Claimed, &r.LeftOut,
		&r.CreatedAt, &started, &finished)
	if err != nil {
		return r, err
	}
	r.CreatedAt, r.StartedAt, r.FinishedAt = r.CreatedAt.UTC(), started.Time, finished.Time
	return r, read(selector, &r.Selector)
}

// ShowRun finds a run with its totals.
func (s *Store) ShowRun(ctx context.Context, id string) (deadletter.Run, error) {
	if checkID(id) != nil {
		return deadletter.Run{}, noRun(id)
	}
	rows, err := s.db(ctx).Query(ctx, `SELECT `+runColumns+` FROM run r WHERE r.id = $1::uuid`, id)
	if err != nil {
		return deadletter.Run{}, interpretError("show run", err)
	}
	rs, err := pgx.CollectRows(rows, scanRun)
	if err != nil {
		return deadletter.Run{}, interpretError("show run", err)
	}
	if len(rs) == 0 {
		return deadletter.Run{}, noRun(id)
	}
	err = s.tallyAll(ctx, rs)
	return rs[0], interpretError("show run", err)
}

func noRun(id string) error {
	return deadletter.Errorf(deadletter.CodeNotFound, "run-not-found", "there is no run %q", id)
}

// ListRuns lists runs, the newest first.
func (s *Store) ListRuns(ctx context.Context, p Page) (rs []deadletter.Run, next string, err error) {
	before := int64(1<<63 - 1)
	if p.Cursor != "" {
		if _, err := parseCursor(p.Cursor, func(id string) (err error) {
			before, err = strconv.ParseInt(id, 10, 64)
			return err
		}); err != nil {
			return nil, "", err
		}
	}
	rows, err := s.db(ctx).Query(ctx, `SELECT `+runColumns+` FROM run r WHERE r.seq < $1 ORDER BY r.seq DESC LIMIT $2`, before, p.limit()+1)
	if err != nil {
		return nil, "", interpretError("list runs", err)
	}
	if rs, err = pgx.CollectRows(rows, scanRun); err != nil {
		return nil, "", interpretError("list runs", err)
	}
	if len(rs) > p.limit() {
		rs = rs[:p.limit()]
		var seq int64
		if err := s.db(ctx).QueryRow(ctx, `SELECT seq FROM run WHERE id = $1`, rs[len(rs)-1].ID).Scan(&seq); err != nil {
			return nil, "", interpretError("list runs", err)
		}
		next = cursor{ID: strconv.FormatInt(seq, 10)}.String()
	}
	return rs, next, interpretError("list runs", s.tallyAll(ctx, rs))
}

// tally fills counts and reconciliation from what each run did to each entry (B5).
func (s *Store) tally(ctx context.Context, rs []deadletter.Run) error {
	at := map[string]*deadletter.Run{}
	var ids []string
	for i := range rs {
		rs[i].Reconciliation.SkippedByReason = map[deadletter.Reason]int{}
		at[rs[i].ID] = &rs[i]
		ids = append(ids, rs[i].ID)
	}
	const tallyRun = `SELECT run_id::text, outcome, effect, count(*) FROM run_entry WHERE run_id = ANY ($1::uuid[]) GROUP BY 1, 2, 3`
	rows, err := s.db(ctx).Query(ctx, tallyRun, ids)
	if err != nil {
		return err
	}
	var id, outcome, effect string
	var n int
	if _, err = pgx.ForEachRow(rows, []any{&id, &outcome, &effect, &n}, func() error {
		count(&at[id].Counts, outcome, n)
		countEffect(&at[id].Reconciliation, deadletter.Effect(effect), n)
		return nil
	}); err != nil {
		return err
	}
	if err := s.tallySkipped(ctx, ids, at); err != nil {
		return err
	}
	if err := s.tallyRestores(ctx, ids, at); err != nil {
		return err
	}
	for i := range rs {
		rs[i].Reconciliation.Balanced = balanced(rs[i])
	}
	return nil
}

func (s *Store) tallySkipped(ctx context.Context, ids []string, at map[string]*deadletter.Run) error {
	const tallySkipped = `SELECT run_id::text, key, sum(value::int) FROM run_entry, json_each_text(skipped) WHERE run_id = ANY ($1::uuid[]) AND skipped::text <> '{}' GROUP BY 1, 2`
	rows, err := s.db(ctx).Query(ctx, tallySkipped, ids)
	if err != nil {
		return err
	}
	var id string
	var reason deadletter.Reason
	var n int
	_, err = pgx.ForEachRow(rows, []any{&id, &reason, &n}, func() error {
		at[id].Reconciliation.SkippedByReason[reason] = n
		return nil
	})
	return err
}

func count(c *deadletter.Counts, outcome string, n int) {
	switch deadletter.Outcome(outcome) {
	case deadletter.Replayed:
		c.Replayed += n
	case deadletter.PartiallyReplayed:
		c.PartiallyReplayed += n
	case deadletter.Superseded:
		c.Superseded += n
	case deadletter.NeedsReview:
		c.NeedsReview += n
	case deadletter.ReplayFailed:
		c.ReplayFailed += n
	default:
		if outcome == released {
			c.Released += n
		}
	}
}

func countEffect(r *deadletter.Reconciliation, e deadletter.Effect, n int) {
	switch e {
	case deadletter.EffectCreated:
		r.Created += n
	case deadletter.EffectUpdated:
		r.Updated += n
	case deadletter.EffectUnchanged:
		r.Unchanged += n
	case deadletter.EffectMerged:
		r.Merged += n
	case deadletter.EffectNone:
	}
}

// balanced is the equation of mission B5, for a restore that of its fields; it holds for a run that is not finished yet only if
// nothing is open.
func balanced(r deadletter.Run) bool {
	if r.Kind == deadletter.RunRestore {
		return r.Counts.Claimed == r.Counts.Settled()
	}
	written := r.Counts.Replayed + r.Counts.PartiallyReplayed
	effects := r.Reconciliation.Created + r.Reconciliation.Updated + r.Reconciliation.Unchanged + r.Reconciliation.Merged
	return r.Counts.Claimed == r.Counts.Settled() && written == effects
}

// released is what run_entry.outcome says of an entry that went back without a decision.
const released = "released"
