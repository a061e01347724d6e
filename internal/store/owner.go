package store

import (
	"context"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// AssignOwner gives an entry to an owner, whatever its status; an empty name takes it from whoever
// had it.
func (s *Store) AssignOwner(ctx context.Context, id, owner, actor string) error {
	err := s.InTx(ctx, func(ctx context.Context) error {
		e, err := s.ShowEntry(ctx, id)
		if err != nil {
			return err
		}
		return s.assign(ctx, []string{e.ID}, owner, actor)
	})
	return interpretError("assign owner", err)
}

// assign leaves alone what has this owner already.
func (s *Store) assign(ctx context.Context, ids []string, owner, actor string) error {
	const assignOwner = `
		WITH old AS (
			SELECT id, status, assigned_owner FROM entry WHERE id = ANY (@ids::uuid[]) AND assigned_owner <> @owner ORDER BY id FOR NO KEY UPDATE
		), assigned AS (
			UPDATE entry e SET assigned_owner = @owner, updated_at = replay_now() FROM old WHERE e.id = old.id
			RETURNING e.id, e.status, old.assigned_owner AS before
		), history AS (
			INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, detail)
			SELECT id, @event, status, status, @actor, json_build_object('assigned_owner', @owner::text, 'before', before) FROM assigned ORDER BY id
		)
		SELECT id::text FROM assigned`
	changed, err := s.idsOf(ctx, "assign owner", assignOwner, names{"ids": ids, "owner": text(owner), "actor": text(actor), "event": deadletter.EventAssigned})
	if err != nil {
		return err
	}
	return s.touchMirror(ctx, changed, 0, false)
}

// lockedEntry is an entry whose row this transaction holds.
type lockedEntry struct {
	ID          string
	DLQRecordID string
	Status      deadletter.Status
}

// lockEntries locks entries in the order of their IDs. IDs are ours, or record IDs of rows; those of
// no entry are left out.
func (s *Store) lockEntries(ctx context.Context, ids []string) ([]lockedEntry, error) {
	own, rows := splitIDs(ids)
	const lockEntries = `SELECT id::text, coalesce(dlq_record_id, ''), status FROM entry
		WHERE id = ANY ($1::uuid[]) OR dlq_record_id = ANY ($2::text[]) ORDER BY id FOR NO KEY UPDATE`
	found, err := s.db(ctx).Query(ctx, lockEntries, own, rows)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowToStructByPos[lockedEntry])
}

// splitIDs tells our IDs from those of rows in the dead letter table; anything else is neither.
func splitIDs(ids []string) (own, rows []string) {
	own, rows = []string{}, []string{}
	for _, id := range ids {
		if checkID(id) == nil {
			own = append(own, id)
		} else {
			rows = append(rows, id)
		}
	}
	return own, rows
}
