package store

import (
	"context"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// dueRestores are the restores that can be worked on, those that were asked for first before others.
const dueRestores = `
	SELECT w.target_table, w.record_key, w.alone OR coalesce(m.deaths, 0) >= 2 ` + dueRestore + ` ORDER BY w.due_at LIMIT 50`

const dueRestore = `FROM restore w LEFT JOIN record_mark m USING (target_table, record_key)
	WHERE w.base = @base AND w.status = 'queued' AND w.due_at <= ` + sqlNow + ` AND ` + notResting

// loadRestores gives records without members their oldest restore: one at a time, since each is
// decided by what the one before has left.
func (s *Store) loadRestores(ctx context.Context, base string, l *loading) error {
	loadRestores := `
		SELECT DISTINCT ON (w.record_key) w.record_key, w.id::text, w.source_system, w.created_at, w.before, w.requested_by, w.tries, coalesce(w.last_status, 0),
			w.last_error, w.alone, i.clock, i.record_id, i.fields, i.version, i.version_before, ` + rewritten + `,
			EXISTS (SELECT 1 FROM run WHERE run.id = w.id AND run.status IN ('cancelled', 'stopped'))
		FROM restore w JOIN intent i ON i.id = w.intent_id LEFT JOIN record_mark m ON m.target_table = w.target_table AND m.record_key = w.record_key
		WHERE w.base = @base AND w.target_table = @target AND w.record_key = ANY (@keys) AND w.status = 'queued' AND w.due_at <= ` + sqlNow + ` AND ` + notResting + `
		ORDER BY w.record_key, w.created_at, w.id`
	rows, err := s.db(ctx).Query(ctx, loadRestores, names{"base": base, "target": l.Target, "keys": l.free()})
	if err != nil {
		return err
	}
	restores, err := pgx.CollectRows(rows, scanRestore)
	for _, r := range restores {
		l.add(r.Key, r.Member)
	}
	return err
}

func scanRestore(row pgx.CollectableRow) (r keyedMember, err error) {
	var before, fields []byte
	var version, versionBefore string
	back := &Restoring{}
	err = row.Scan(&r.Key, &r.ID, &r.Source, &r.FirstAttemptAt, &before, &r.By, &r.Tries, &r.LastStatus,
		&r.LastError, &r.Alone, &back.Clock, &back.RecordID, &fields, &version, &versionBefore, &back.Rewritten, &r.RunEnded)
	if err != nil {
		return r, err
	}
	r.Kind, r.RunID, r.Mode, r.Restoring = deadletter.MemberRestore, r.ID, deadletter.Checked, back
	var values map[string]any
	if err := read(before, &values); err != nil {
		return r, err
	}
	return r, back.fill(fields, version, versionBefore, values)
}

// ItemToRestore is a write that could be taken back as a chunk would hold it: for a preview, which
// stores nothing.
func (s *Store) ItemToRestore(ctx context.Context, w Written) (it Item, err error) {
	err = s.InTx(ctx, func(ctx context.Context) error {
		it, err = s.itemAround(ctx, w.Ref, Member{
			MemberRef: MemberRef{Kind: deadletter.MemberRestore, ID: w.Entry.ID}, Source: w.Entry.SourceSystem, Mode: deadletter.Checked, Restoring: &w.Restoring,
		})
		return err
	})
	return it, interpretError("load item", err)
}
