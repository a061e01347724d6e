package store

import (
	"context"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// mirrorPatience is how long a press may last before the mirror says Replaying (T3).
const mirrorPatience = 10 * time.Second

// touchMirror marks the rows of entries for the mirror, to be sent after a delay at the latest.
// clearPress also unticks Replay Requested. Without a dead letter table it does nothing.
func (s *Store) touchMirror(ctx context.Context, ids []string, delay time.Duration, clearPress bool) error {
	if s.mirrorBase == "" || len(ids) == 0 {
		return nil
	}
	const touchMirror = `
		INSERT INTO mirror_row (entry_id, base, dirty_at, due_at, clear_press)
		SELECT id, @base, replay_now(), replay_now() + @delay::interval, @clear FROM unnest(@ids::uuid[]) AS t (id) ORDER BY id
		ON CONFLICT (entry_id) DO UPDATE SET revision = mirror_row.revision + 1, dirty_at = coalesce(mirror_row.dirty_at, replay_now()),
			due_at = least(coalesce(mirror_row.due_at, 'infinity'), replay_now() + @delay::interval), clear_press = mirror_row.clear_press OR @clear`
	_, err := s.db(ctx).Exec(ctx, touchMirror, names{"base": s.mirrorBase, "delay": delay, "clear": clearPress, "ids": ids})
	return interpretError("touch mirror", err)
}

// ClearPress asks the mirror to untick Replay Requested of an entry, so that the button works again
// after a refused press (T3).
func (s *Store) ClearPress(ctx context.Context, id string) error {
	return s.touchMirror(ctx, []string{id}, 0, true)
}

// MirrorRow is an entry whose row in the dead letter table is behind.
type MirrorRow struct {
	Entry      deadletter.Entry
	Revision   int64 // to be handed back once Airtable holds it
	ClearPress bool
	Tries      int
	Late       bool // older than ten seconds
}

// DueMirrorRows lists up to n rows of a base that are due, the oldest first.
func (s *Store) DueMirrorRows(ctx context.Context, base string, n int) ([]MirrorRow, error) {
	const dueRows = `SELECT r.revision, r.clear_press, r.tries, r.dirty_at < replay_now() - interval '10 seconds', ` + entryColumns + `
		FROM mirror_row r JOIN entry e ON e.id = r.entry_id WHERE r.base = $1 AND r.dirty_at IS NOT NULL AND r.due_at <= replay_now()
		ORDER BY r.due_at LIMIT $2`
	rows, err := s.db(ctx).Query(ctx, dueRows, base, n)
	if err != nil {
		return nil, interpretError("list due mirror rows", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m MirrorRow, err error) {
		m.Entry, err = scanEntry(prefixed{CollectableRow: row, dest: []any{&m.Revision, &m.ClearPress, &m.Tries, &m.Late}})
		return m, err
	})
	return out, interpretError("list due mirror rows", err)
}

// prefixed scans some columns of its own before those of the scanner that it is given to.
type prefixed struct {
	pgx.CollectableRow
	dest []any
}

// Scan implements pgx.CollectableRow.
func (p prefixed) Scan(dest ...any) error { return p.CollectableRow.Scan(append(p.dest, dest...)...) }

// MirrorState tells a pass whether rows wait, and whether some wait longer than ten seconds (R9).
func (s *Store) MirrorState(ctx context.Context, base string) (due, late bool, err error) {
	const mirrorState = `SELECT count(*) > 0, coalesce(bool_or(dirty_at < replay_now() - interval '10 seconds'), false)
		FROM (SELECT dirty_at FROM mirror_row WHERE base = $1 AND dirty_at IS NOT NULL AND due_at <= replay_now() ORDER BY due_at LIMIT 10) r`
	err = s.db(ctx).QueryRow(ctx, mirrorState, base).Scan(&due, &late)
	return due, late, interpretError("read mirror state", err)
}

// Mirrored is a row that Airtable now holds.
type Mirrored struct {
	EntryID     string
	DLQRecordID string
	Revision    int64
}

// SettleMirror notes which revisions Airtable holds; a row that changed meanwhile stays due.
func (s *Store) SettleMirror(ctx context.Context, l Lease, done []Mirrored) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		for _, d := range done {
			const settleMirror = `
				UPDATE mirror_row SET sent = @revision, tries = 0, last_error = '',
					dirty_at = CASE WHEN revision = @revision THEN NULL ELSE dirty_at END, due_at = CASE WHEN revision = @revision THEN NULL ELSE due_at END,
					clear_press = CASE WHEN revision = @revision THEN false ELSE clear_press END
				WHERE entry_id = @id`
			if _, err := s.db(ctx).Exec(ctx, settleMirror, names{"revision": d.Revision, "id": d.EntryID}); err != nil {
				return err
			}
			const nameRow = `UPDATE entry SET dlq_record_id = $2 WHERE id = $1 AND dlq_record_id IS DISTINCT FROM $2
				AND NOT EXISTS (SELECT 1 FROM entry o WHERE o.dlq_record_id = $2 AND o.id <> $1)`
			if _, err := s.db(ctx).Exec(ctx, nameRow, d.EntryID, d.DLQRecordID); err != nil {
				return err
			}
		}
		return nil
	})
	return interpretError("settle mirror", err)
}

// PostponeMirror lets rows wait after a request that failed; they are sent with the latest state
// then. lost forgets the row's record ID, where Airtable says that it is gone.
func (s *Store) PostponeMirror(ctx context.Context, l Lease, ids []string, wait time.Duration, problem string, lost bool) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		const postponeMirror = `UPDATE mirror_row SET due_at = replay_now() + @wait::interval, tries = tries + 1, last_error = @problem WHERE entry_id = ANY (@ids::uuid[])`
		if _, err := s.db(ctx).Exec(ctx, postponeMirror, names{"wait": wait, "problem": text(problem), "ids": ids}); err != nil || !lost {
			return err
		}
		_, err := s.db(ctx).Exec(ctx, `UPDATE entry SET dlq_record_id = NULL WHERE id = ANY ($1::uuid[])`, ids)
		return err
	})
	return interpretError("postpone mirror", err)
}
