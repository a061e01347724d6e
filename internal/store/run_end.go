package store

import (
	"context"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// FinishRuns closes every run of which no entry waits any more, and returns those that it closed. A run
// some of whose entries went back because their base was halted has stopped, not completed; one that was
// cancelled or stopped stays so. The runs are locked first and their entries looked at in a later
// statement: of two passes that settle the last entries at once, the second sees what the first did.
func (s *Store) FinishRuns(ctx context.Context, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	const lockRuns = `SELECT 1 FROM run WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE`
	if _, err := s.db(ctx).Exec(ctx, lockRuns, ids); err != nil {
		return nil, interpretError("lock runs", err)
	}
	const finishRuns = `
		UPDATE run r SET finished_at = replay_now(),
			status = CASE WHEN r.status NOT IN ('queued', 'running') THEN r.status WHEN halted.it THEN 'stopped' ELSE 'completed' END,
			reason = CASE WHEN r.status IN ('queued', 'running') AND halted.it THEN 'base_halted' ELSE r.reason END
		FROM (SELECT id, EXISTS (SELECT 1 FROM run_entry m WHERE m.run_id = run.id AND m.outcome = 'released' AND m.reason = 'base_halted') AS it FROM run
			WHERE id = ANY ($1::uuid[]) AND finished_at IS NULL AND NOT dry_run
				AND (SELECT true FROM run_entry m WHERE m.run_id = run.id AND m.outcome = '' ORDER BY m.claim LIMIT 1) IS NULL) halted
		WHERE r.id = halted.id RETURNING r.id::text`
	return s.idsOf(ctx, "finish runs", finishRuns, ids)
}

// beginRuns marks the runs of entries that a pass takes as running.
func (s *Store) beginRuns(ctx context.Context, ids []string) error {
	const beginRuns = `UPDATE run SET status = 'running', started_at = replay_now() WHERE id = ANY ($1::uuid[]) AND status = 'queued'`
	_, err := s.db(ctx).Exec(ctx, beginRuns, ids)
	return err
}

// runEnd is how a run ends before its time.
type runEnd struct {
	status     deadletter.RunStatus
	transition deadletter.Transition
	reason     deadletter.Reason
	actor      string
	words      string // kept with the run
	note       string // kept with each entry that goes back
}

// StopRun ends a run that failed too often, and gives its open entries back to Pending Review.
func (s *Store) StopRun(ctx context.Context, id string, reason deadletter.Reason, words string) error {
	_, err := s.endRun(ctx, id, runEnd{
		status: deadletter.RunStopped, transition: deadletter.TransitionReleased, reason: reason, actor: "service", words: words,
		note: "The run was stopped before this entry was written. " + words,
	})
	return interpretError("stop run", err)
}

// CancelRun ends a run on a person's word, and gives its open entries back to Pending Review (B1). A run
// that has ended already is refused.
func (s *Store) CancelRun(ctx context.Context, id, actor, reason string) error {
	words := "Cancelled by " + actor + "."
	if reason != "" {
		words += " Reason: " + reason
	}
	err := s.InTx(ctx, func(ctx context.Context) error {
		r, err := s.ShowRun(ctx, id)
		if err != nil {
			return err
		}
		ended, err := s.endRun(ctx, r.ID, runEnd{
			status: deadletter.RunCancelled, transition: deadletter.TransitionReleased, reason: deadletter.ReasonCancelled, actor: actor, words: words,
			note: "The run was cancelled before this entry was written. " + words,
		})
		if err != nil || ended {
			return err
		}
		if r, err = s.ShowRun(ctx, id); err != nil {
			return err
		}
		conflict := deadletter.Errorf(deadletter.CodeConflict, "run-finished", "only a run that is queued or running can be cancelled; this one is %s", r.Status)
		conflict.RunID = r.ID
		return conflict
	})
	return interpretError("cancel run", err)
}

// endRun ends a run and gives its open entries back, but for those whose write a living pass has under
// way: it records their outcome, and the run is finished only then.
func (s *Store) endRun(ctx context.Context, id string, e runEnd) (ended bool, err error) {
	err = s.InTx(ctx, func(ctx context.Context) error {
		const lockBases = `SELECT 1 FROM base ORDER BY name FOR NO KEY UPDATE`
		if _, err := s.db(ctx).Exec(ctx, lockBases); err != nil {
			return err
		}
		const endRun = `UPDATE run SET status = @status, reason = @reason, note = CASE WHEN note = '' THEN @words ELSE note || ' ' || @words END,
			finished_at = CASE WHEN dry_run THEN replay_now() END WHERE id = @id::uuid AND status IN ('queued', 'running')`
		tag, err := s.db(ctx).Exec(ctx, endRun, names{"id": id, "status": e.status, "reason": e.reason, "words": text(e.words)})
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		ended = true
		if _, err = s.giveBack(ctx, giveBack{
			transition: e.transition, reason: e.reason, actor: e.actor, note: e.note,
			where: "e.run_id = @ended::uuid", args: pgx.NamedArgs{"ended": id},
		}); err != nil {
			return err
		}
		if _, err = s.releaseRestores(ctx, release{
			reason: e.reason, actor: e.actor, note: e.words, where: "r.id = @ended::uuid", args: pgx.NamedArgs{"ended": id},
		}); err != nil {
			return err
		}
		if err := s.endForecast(ctx, id); err != nil {
			return err
		}
		_, err = s.FinishRuns(ctx, []string{id})
		return err
	})
	return ended, err
}
