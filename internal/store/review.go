package store

import (
	"context"

	"airtable-replay/internal/deadletter"
)

// IgnoreEntry closes an entry at Pending Review for good (E2).
func (s *Store) IgnoreEntry(ctx context.Context, id, actor, reason string) error {
	return s.order(ctx, id, move{deadletter.TransitionIgnored, []deadletter.Status{deadletter.PendingReview}, deadletter.Ignored, "entry-not-pending"}, actor, reason)
}

// ReopenEntry returns a closed entry to Pending Review (E2).
func (s *Store) ReopenEntry(ctx context.Context, id, actor, reason string) error {
	return s.order(ctx, id, move{deadletter.TransitionReopened, []deadletter.Status{deadletter.Resolved, deadletter.Ignored}, deadletter.PendingReview, "entry-not-closed"}, actor, reason)
}

// move is a change of status on a person's word.
type move struct {
	transition deadletter.Transition
	from       []deadletter.Status
	to         deadletter.Status
	problem    string // where it is not permitted
}

func (s *Store) order(ctx context.Context, id string, m move, actor, reason string) error {
	err := s.InTx(ctx, func(ctx context.Context) error {
		e, err := s.ShowEntry(ctx, id)
		if err != nil {
			return err
		}
		const moveEntry = `
			WITH old AS (
				SELECT id, status FROM entry WHERE id = @id AND status = ANY (@from::text[]) FOR NO KEY UPDATE
			), moved AS (
				UPDATE entry e SET status = @to, updated_at = replay_now() FROM old WHERE e.id = old.id RETURNING e.id, old.status
			)
			INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, reason, note)
			SELECT id, @event, status, @to, @actor, '', @reason FROM moved`
		tag, err := s.db(ctx).Exec(ctx, moveEntry, names{
			"id": e.ID, "from": m.from, "to": m.to, "event": m.transition, "actor": text(actor), "reason": text(reason),
		})
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			if e, err = s.ShowEntry(ctx, id); err != nil {
				return err
			}
			problem := deadletter.Errorf(deadletter.CodeConflict, m.problem, "an entry that is %s cannot be %s", e.Status, m.transition)
			problem.EntryStatus = e.Status
			return problem
		}
		return s.touchMirror(ctx, []string{e.ID}, 0, false)
	})
	return interpretError("move entry", err)
}
