package store

import (
	"context"

	"airtable-replay/internal/deadletter"
)

// IgnoreEntry closes an entry at Pending Review for good (E2).
func (s *Store) IgnoreEntry(ctx context.Context, id, actor, reason string) error {
	return s.move(ctx, id, actor, reason, deadletter.TransitionIgnored, []deadletter.Status{deadletter.PendingReview}, deadletter.Ignored)
}

// ReopenEntry returns a closed entry to Pending Review (E2).
func (s *Store) ReopenEntry(ctx context.Context, id, actor, reason string) error {
	return s.move(ctx, id, actor, reason, deadletter.TransitionReopened, []deadletter.Status{deadletter.Resolved, deadletter.Ignored}, deadletter.PendingReview)
}

func (s *Store) move(ctx context.Context, id, actor, reason string, t deadletter.Transition, from []deadletter.Status, to deadletter.Status) error {
	err := s.InTx(ctx, func(ctx context.Context) error {
		e, err := s.ShowEntry(ctx, id)
		if err != nil {
			return err
		}
		const moveEntry = `
			WITH moved AS (
				UPDATE entry e SET status = @to, updated_at = replay_now() FROM (SELECT id, status FROM entry WHERE id = @id FOR UPDATE) old
				WHERE e.id = old.id AND e.status = ANY (@from) RETURNING e.id, old.status
			)
			INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, reason, note)
			SELECT id, @event, status, @to, @actor, '', @reason FROM moved`
		froms := make([]string, len(from))
		for i, f := range from {
			froms[i] = string(f)
		}
		tag, err := s.db(ctx).Exec(ctx, moveEntry, names{
			"id": e.ID, "from": froms, "to": to, "event": t, "actor": text(actor), "reason": text(reason),
		})
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			problem := deadletter.Errorf(deadletter.CodeConflict, "entry-not-"+string(from[0]), "an entry that is %s cannot be %s", e.Status, t)
			problem.EntryStatus = e.Status
			return problem
		}
		return s.touchMirror(ctx, []string{e.ID}, 0, false)
	})
	return interpretError("move entry", err)
}
