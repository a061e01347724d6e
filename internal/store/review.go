package store

import (
	"context"
	"slices"

	"airtable-replay/internal/deadletter"
)

// The changes of status on a person's word.
var (
	ignored  = move{deadletter.TransitionIgnored, []deadletter.Status{deadletter.PendingReview}, deadletter.Ignored, "entry-not-pending"}
	reopened = move{deadletter.TransitionReopened, []deadletter.Status{deadletter.Resolved, deadletter.Ignored}, deadletter.PendingReview, "entry-not-closed"}
)

// IgnoreEntry closes an entry at Pending Review for good (E2).
func (s *Store) IgnoreEntry(ctx context.Context, id, actor, reason string) error {
	return s.order(ctx, id, ignored, actor, reason)
}

// ReopenEntry returns a closed entry to Pending Review (E2).
func (s *Store) ReopenEntry(ctx context.Context, id, actor, reason string) error {
	return s.order(ctx, id, reopened, actor, reason)
}

// move is a change of status on a person's word.
type move struct {
	transition deadletter.Transition
	from       []deadletter.Status
	to         deadletter.Status
	problem    string // where it is not permitted
}

// refuse says why an entry of a status cannot be moved so; nil: it can.
func (m move) refuse(status deadletter.Status) *deadletter.Error {
	if slices.Contains(m.from, status) {
		return nil
	}
	err := deadletter.Errorf(deadletter.CodeConflict, m.problem, "an entry that is %s cannot be %s", status, m.transition)
	err.EntryStatus = status
	return err
}

func (s *Store) order(ctx context.Context, id string, m move, actor, reason string) error {
	err := s.InTx(ctx, func(ctx context.Context) error {
		e, err := s.ShowEntry(ctx, id)
		if err != nil {
			return err
		}
		locked, err := s.lockEntries(ctx, []string{e.ID})
		if err != nil {
			return err
		}
		for _, e := range locked {
			if refusal := m.refuse(e.Status); refusal != nil {
				return refusal
			}
		}
		if err := s.moveEntries(ctx, []string{e.ID}, m, actor, reason); err != nil {
			return err
		}
		return s.touchMirror(ctx, []string{e.ID}, 0, false)
	})
	return interpretError("move entry", err)
}

// moveEntries moves those of the entries whose status permits it, each with its line of history.
func (s *Store) moveEntries(ctx context.Context, ids []string, m move, actor, reason string) error {
	const moveEntries = `
		WITH old AS (
			SELECT id, status FROM entry WHERE id = ANY (@ids::uuid[]) AND status = ANY (@from::text[]) ORDER BY id FOR NO KEY UPDATE
		), moved AS (
			UPDATE entry e SET status = @to, updated_at = replay_now() FROM old WHERE e.id = old.id RETURNING e.id, old.status
		)
		INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, reason, note)
		SELECT id, @event, status, @to, @actor, '', @reason FROM moved ORDER BY id`
	_, err := s.db(ctx).Exec(ctx, moveEntries, names{
		"ids": ids, "from": m.from, "to": m.to, "event": m.transition, "actor": text(actor), "reason": text(reason),
	})
	return err
}
