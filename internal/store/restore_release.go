package store

import (
	"context"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// restoreWritten is true of a restore r whose write a living pass has sent or is about to send.
const restoreWritten = `EXISTS (SELECT 1 FROM intent_member im JOIN intent i ON i.id = im.intent_id JOIN base b ON b.name = i.base
	WHERE im.member_id = r.id AND i.state = 'open' AND NOT i.retry AND i.lease_token = b.lease_token AND b.lease_until > replay_now())`

// release is why restores go back undone.
type release struct {
	reason deadletter.Reason
	actor  string
	note   string
	where  string // over restore r
	args   pgx.NamedArgs
}

// releaseRestores ends restores before they are written; those that are being written stay. Their
// runs are for the caller to finish.
func (s *Store) releaseRestores(ctx context.Context, g release) (runs []string, err error) {
	for k, v := range map[string]any{
		"event": deadletter.EventRestoreReleased, "reason": g.reason, "actor": text(g.actor), "note": text(g.note), "landed_note": mayHaveLanded,
	} {
		g.args[k] = v
	}
	releaseRestores := `
		WITH given AS (
			UPDATE restore r SET status = 'released', settled_at = replay_now()
			WHERE r.status = 'queued' AND NOT ` + restoreWritten + ` AND ` + g.where + ` RETURNING r.id, r.entry_id
		), member AS (
			UPDATE run_entry m SET outcome = 'released', reason = @reason, settled_at = replay_now() FROM given WHERE m.run_id = given.id AND m.outcome = ''
		), history AS (
			INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, run_id, claim, reason, note)
			SELECT e.id, @event, e.status, e.status, @actor, given.id, e.claim, @reason, @note || CASE
				WHEN EXISTS (SELECT 1 FROM intent_member im JOIN intent i ON i.id = im.intent_id WHERE im.member_id = given.id AND i.state = 'open') THEN @landed_note ELSE '' END
			FROM given JOIN entry e ON e.id = given.entry_id
		)
		SELECT id::text FROM given`
	return s.idsOf(ctx, "release restores", releaseRestores, g.args)
}

// sweepRestores ends restores on which nobody works any more, as SweepStuck does with entries: their
// base may have left the configuration.
func (s *Store) sweepRestores(ctx context.Context, after time.Duration) error {
	return s.InTx(ctx, func(ctx context.Context) error {
		runs, err := s.releaseRestores(ctx, release{
			reason: deadletter.ReasonSwept, actor: "sweeper", note: "Nobody had worked on this restore for " + after.String() + ", so it was ended.",
			where: `EXISTS (SELECT 1 FROM restore e JOIN base b ON b.name = e.base WHERE e.id = r.id AND ` + idle + ` AND ` + sweepable + `)`,
			args:  pgx.NamedArgs{"after": after},
		})
		if err == nil {
			_, err = s.FinishRuns(ctx, runs)
		}
		return err
	})
}

// releaseEndedRestore ends a restore that is still to be written while its run has been cancelled, and
// returns its ID then.
func (s *Store) releaseEndedRestore(ctx context.Context, id string) ([]string, error) {
	runs, err := s.releaseRestores(ctx, release{
		reason: deadletter.ReasonCancelled, actor: "service", note: "The run had ended when another attempt was due.",
		where: "r.id = @id::uuid AND EXISTS (SELECT 1 FROM run WHERE run.id = r.id AND run.status IN ('cancelled', 'stopped'))", args: pgx.NamedArgs{"id": id},
	})
	if err == nil {
		_, err = s.FinishRuns(ctx, runs)
	}
	return runs, err
}

// postponeRestores lets restores wait.
func (s *Store) postponeRestores(ctx context.Context, ids []string, p Postpone) error {
	if len(ids) == 0 {
		return nil
	}
	tries := 0
	if p.Counted {
		tries = 1
	}
	const postponeRestores = `
		UPDATE restore SET due_at = coalesce(@until, replay_now() + @wait::interval), tries = tries + @tries, alone = alone OR @alone,
			last_status = CASE WHEN @counted THEN @status ELSE last_status END, last_error = CASE WHEN @counted THEN @error ELSE last_error END
		WHERE id = ANY (@ids::uuid[]) AND status = 'queued'`
	_, err := s.db(ctx).Exec(ctx, postponeRestores, names{
		"until": orNull(p.Until), "wait": p.Wait, "tries": tries, "alone": p.Alone, "counted": p.Counted, "status": orNullInt(p.Status), "error": text(p.Error), "ids": ids,
	})
	return err
}
