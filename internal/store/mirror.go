package store

import (
	"context"
	"fmt"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// mirrorPatience is how long a press may last before the mirror says Replaying (T3).
const mirrorPatience = 10 * time.Second

// touchMirror marks the rows of entries for the mirror. clearPress also unticks Replay Requested. A
// delay is for a press that was just accepted: it may be over before anything has to be shown, and
// the tick in the box is its own now, so the untick of an earlier press is dropped (R10). A row whose
// last request is not settled keeps its wait: an older state may still land before that (R9). Without
// a dead letter table it does nothing.
func (s *Store) touchMirror(ctx context.Context, ids []string, delay time.Duration, clearPress bool) error {
	if s.mirrorBase == "" || len(ids) == 0 {
		return nil
	}
	_, err := s.db(ctx).Exec(ctx, fmt.Sprintf(touchMirror, `unnest(@ids::uuid[]) AS t (id)`), names{"base": s.mirrorBase, "delay": delay, "accepted": delay > 0, "clear": clearPress, "ids": ids})
	return interpretError("touch mirror", err)
}

// touchMirrorOf is touchMirror for the entries of a run.
func (s *Store) touchMirrorOf(ctx context.Context, run string, delay time.Duration) error {
	if s.mirrorBase == "" {
		return nil
	}
	entries := `(SELECT entry_id AS id FROM run_entry WHERE run_id = @run) t`
	_, err := s.db(ctx).Exec(ctx, fmt.Sprintf(touchMirror, entries), names{"base": s.mirrorBase, "delay": delay, "accepted": delay > 0, "clear": false, "run": run})
	return interpretError("touch mirror", err)
}

// touchMirror makes the rows of entries due, which stand for an SQL source of their IDs.
const touchMirror = `
	INSERT INTO mirror_row (entry_id, base, dirty_at, due_at, clear_press)
	SELECT id, @base, replay_now(), replay_now() + @delay::interval, @clear FROM %s ORDER BY id
	ON CONFLICT (entry_id) DO UPDATE SET revision = mirror_row.revision + 1, dirty_at = coalesce(mirror_row.dirty_at, replay_now()),
		due_at = CASE WHEN mirror_row.tries > 0 THEN coalesce(mirror_row.due_at, replay_now() + @delay::interval)
			ELSE least(coalesce(mirror_row.due_at, 'infinity'), replay_now() + @delay::interval) END,
		clear_press = NOT @accepted AND (mirror_row.clear_press OR @clear)`

// RemirrorEntries marks every entry for the mirror, as after the dead letter table was replaced or
// has got fields that it had lacked. The rows are due after a wait.
func (s *Store) RemirrorEntries(ctx context.Context, wait time.Duration) error {
	if s.mirrorBase == "" {
		return nil
	}
	const remirrorEntries = `
		INSERT INTO mirror_row (entry_id, base, dirty_at, due_at) SELECT id, $1, replay_now(), replay_now() + $2::interval FROM entry ORDER BY id
		ON CONFLICT (entry_id) DO UPDATE SET base = excluded.base, revision = mirror_row.revision + 1, dirty_at = coalesce(mirror_row.dirty_at, excluded.dirty_at),
			due_at = CASE WHEN mirror_row.tries > 0 THEN coalesce(mirror_row.due_at, excluded.due_at) ELSE excluded.due_at END`
	_, err := s.db(ctx).Exec(ctx, remirrorEntries, s.mirrorBase, wait)
	return interpretError("remirror entries", err)
}

// MirrorRow is an entry whose row in the dead letter table is behind.
type MirrorRow struct {
	Entry      deadletter.Entry
	Revision   int64 // to be handed back once Airtable holds it
	ClearPress bool
	Tries      int // sends begun since the last that is settled
}

// mirrorOpen is true of a base b whose rows may be sent: it is not paused, its mirror is not held, and
// no halt is about its token or quota (R9).
const mirrorOpen = `coalesce(b.paused_until, '-infinity') <= replay_now() AND b.mirror_held_until <= replay_now()
	AND (b.halted_at IS NULL OR b.halt_kind = 'data')`

// DueMirrorRows lists up to n rows of a base that are due, the oldest first; none while its mirror is
// not open.
func (s *Store) DueMirrorRows(ctx context.Context, base string, n int) ([]MirrorRow, error) {
	const dueRows = `SELECT r.revision, r.clear_press, r.tries, ` + entryColumns + `
		FROM mirror_row r JOIN entry e ON e.id = r.entry_id JOIN base b ON b.name = r.base
		WHERE r.base = $1 AND r.dirty_at IS NOT NULL AND r.due_at <= replay_now() AND ` + mirrorOpen + `
		ORDER BY r.due_at, r.entry_id LIMIT $2`
	rows, err := s.db(ctx).Query(ctx, dueRows, base, n)
	if err != nil {
		return nil, interpretError("list due mirror rows", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m MirrorRow, err error) {
		m.Entry, err = scanEntry(prefixed{CollectableRow: row, dest: []any{&m.Revision, &m.ClearPress, &m.Tries}})
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

// MirrorState tells a pass whether rows can be sent now, and whether some wait longer than ten
// seconds (R9).
func (s *Store) MirrorState(ctx context.Context, base string) (due, late bool, err error) {
	const mirrorState = `SELECT count(*) > 0, coalesce(bool_or(since < replay_now() - interval '10 seconds'), false)
		FROM (SELECT least(r.dirty_at, r.due_at) AS since FROM mirror_row r JOIN base b ON b.name = r.base
			WHERE r.base = $1 AND r.dirty_at IS NOT NULL AND r.due_at <= replay_now() AND ` + mirrorOpen + `
			ORDER BY r.due_at LIMIT 10) r`
	err = s.db(ctx).QueryRow(ctx, mirrorState, base).Scan(&due, &late)
	return due, late, interpretError("read mirror state", err)
}

// BeginMirror notes, before a request is sent, that these rows are in it: should its answer never be
// settled, the next one knows.
func (s *Store) BeginMirror(ctx context.Context, l Lease, ids []string) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		_, err := s.db(ctx).Exec(ctx, `UPDATE mirror_row SET tries = tries + 1 WHERE entry_id = ANY ($1::uuid[])`, ids)
		return err
	})
	return interpretError("begin mirror", err)
}

// Mirrored is a row that Airtable now holds.
type Mirrored struct {
	EntryID     string
	DLQRecordID string
	Revision    int64
	Cleared     bool // Replay Requested was unticked along with it
}

// SettleMirror notes which revisions Airtable holds; a row that changed meanwhile stays due. Where an
// earlier request of the row has no answer, it may land after this one and undo it: such a row is
// sent once more after the rest. Until then dirty_at lies in the future.
func (s *Store) SettleMirror(ctx context.Context, l Lease, done []Mirrored, rest time.Duration) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		for _, d := range done {
			const settleMirror = `
				UPDATE mirror_row SET sent = @revision, tries = 0, last_error = '', clear_press = clear_press AND NOT (@cleared AND revision = @revision),
					dirty_at = CASE WHEN tries > 1 THEN replay_now() + @rest::interval WHEN dirty_at > replay_now() OR revision <> @revision THEN dirty_at END,
					due_at = CASE WHEN revision <> @revision THEN due_at WHEN tries > 1 THEN replay_now() + @rest::interval WHEN dirty_at > replay_now() THEN dirty_at END
				WHERE entry_id = @id`
			if _, err := s.db(ctx).Exec(ctx, settleMirror, names{"revision": d.Revision, "id": d.EntryID, "cleared": d.Cleared, "rest": rest}); err != nil {
				return err
			}
			if err := s.nameMirrorRow(ctx, d.EntryID, d.DLQRecordID); err != nil {
				return err
			}
		}
		return nil
	})
	return interpretError("settle mirror", err)
}

// NameMirrorRow notes which record is the row of an entry that has none yet. It is a fact, whoever
// found it.
func (s *Store) NameMirrorRow(ctx context.Context, entryID, recordID string) error {
	const free = `SELECT 1 FROM entry WHERE id = $1::uuid AND dlq_record_id IS NULL`
	tag, err := s.db(ctx).Exec(ctx, free, entryID)
	if err == nil && tag.RowsAffected() == 1 {
		err = s.nameMirrorRow(ctx, entryID, recordID)
	}
	return interpretError("name mirror row", err)
}

func (s *Store) nameMirrorRow(ctx context.Context, entryID, recordID string) error {
	const nameRow = `UPDATE entry SET dlq_record_id = $2 WHERE id = $1 AND dlq_record_id IS DISTINCT FROM $2
		AND NOT EXISTS (SELECT 1 FROM entry o WHERE o.dlq_record_id = $2 AND o.id <> $1)`
	_, err := s.db(ctx).Exec(ctx, nameRow, entryID, recordID)
	return err
}

// MirrorDelay makes a row wait after a request that did not bring it to Airtable; the latest state is
// sent then.
type MirrorDelay struct {
	EntryID string
	Wait    time.Duration
	Tries   int    // what the row's tries become: those before, where this request certainly was not applied
	Problem string // for people who look
	Lost    bool   // Airtable says that the row is gone: its record ID is forgotten
}

// PostponeMirror lets rows wait.
func (s *Store) PostponeMirror(ctx context.Context, l Lease, delays []MirrorDelay) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		for _, d := range delays {
			const postponeMirror = `UPDATE mirror_row SET due_at = replay_now() + @wait::interval, tries = @tries, last_error = @problem WHERE entry_id = @id`
			if _, err := s.db(ctx).Exec(ctx, postponeMirror, names{"wait": d.Wait, "tries": d.Tries, "problem": text(d.Problem), "id": d.EntryID}); err != nil {
				return err
			}
			if !d.Lost {
				continue
			}
			if _, err := s.db(ctx).Exec(ctx, `UPDATE entry SET dlq_record_id = NULL WHERE id = $1::uuid`, d.EntryID); err != nil {
				return err
			}
		}
		return nil
	})
	return interpretError("postpone mirror", err)
}

// HoldMirror lets all rows of a base wait, those that are yet to come too: what is wrong is wrong for
// each of them. A longer wait that is already set stays.
func (s *Store) HoldMirror(ctx context.Context, l Lease, wait time.Duration, problem string) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		const holdMirror = `UPDATE base SET mirror_held_until = greatest(mirror_held_until, replay_now() + $2::interval), mirror_problem = $3 WHERE name = $1`
		_, err := s.db(ctx).Exec(ctx, holdMirror, l.Base, wait, text(problem))
		return err
	})
	return interpretError("hold mirror", err)
}
