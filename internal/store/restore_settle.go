package store

import (
	"context"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// settleRestore stores what became of a restore, with its line in the entry's history; run is empty
// where it is no longer queued.
func (s *Store) settleRestore(ctx context.Context, v Settlement) (run string, err error) {
	_, _, _, detail, err := settlementDocs(v)
	if err != nil {
		return "", err
	}
	counts, err := skippedBy(v)
	if err != nil {
		return "", err
	}
	event, outcome := deadletter.EventRestoreRefused, "refused"
	if len(v.Verdict.Fields) > 0 {
		event, outcome = deadletter.EventRestored, "restored"
	}
	const settleRestore = `
		WITH settled AS (
			UPDATE restore r SET status = 'settled', restored = @restored, refused = run.claimed - @restored, tries = @tries, last_status = @status, last_error = @error,
				settled_at = replay_now()
			FROM run WHERE r.id = @id AND r.status = 'queued' AND run.id = r.id RETURNING r.id, r.entry_id, r.intent_id, r.requested_by, r.refused
		), member AS (
			UPDATE run_entry m SET outcome = @outcome, reason = @reason, effect = @effect, settled_at = replay_now(),
				skipped = CASE WHEN @listed OR settled.refused = 0 THEN @counts::json ELSE json_build_object(@reason::text, settled.refused) END,
				record_id = CASE WHEN @effect = '' THEN '' ELSE @record END, dates = @dates::text[]::date[]
			FROM settled WHERE m.run_id = settled.id AND m.entry_id = settled.entry_id
		), told AS (
			UPDATE entry e SET updated_at = replay_now(), notes = CASE WHEN @restored = 0 THEN e.notes
				ELSE ltrim(e.notes || ' ' || to_char(replay_now() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC, for ' || settled.requested_by || ': ' || @note) END
			FROM settled WHERE e.id = settled.entry_id RETURNING e.id, e.status, e.claim
		), history AS (
			INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, run_id, claim, reason, note, detail)
			SELECT told.id, @event, told.status, told.status, settled.requested_by, settled.id, told.claim, @reason, @note, @detail FROM told, settled
		)
		SELECT id::text, entry_id::text, intent_id::text FROM settled`
	rows, err := s.db(ctx).Query(ctx, settleRestore, names{
		"id": v.ID, "restored": len(v.Verdict.Fields), "event": event, "outcome": outcome, "reason": v.Verdict.Reason, "effect": v.Effect, "listed": len(v.Verdict.Skipped) > 0, "counts": counts,
		"record": v.RecordID, "dates": append([]string{}, v.Dates...), "note": text(v.Verdict.Note), "detail": detail, "tries": v.Tries,
		"status": orNullInt(v.StatusCode), "error": text(v.ErrorDetail),
	})
	if err != nil {
		return "", err
	}
	type settledRestore struct{ ID, Entry, Intent string }
	settled, err := pgx.CollectRows(rows, pgx.RowToStructByPos[settledRestore])
	if err != nil || len(settled) == 0 {
		return "", err
	}
	if len(v.Verdict.Fields) > 0 {
		if err := s.markRestored(ctx, settled[0].Intent); err != nil {
			return "", err
		}
	}
	return settled[0].ID, s.touchMirror(ctx, []string{settled[0].Entry}, 0, false)
}

// markRestored notes that a record's values are older than its version under one version field says,
// so that entries for it go to review until something newer lands (mission A2).
func (s *Store) markRestored(ctx context.Context, intentID string) error {
	const markRestored = `UPDATE record_mark m SET restored = array_append(array_remove(m.restored, i.clock), i.clock)
		FROM intent i WHERE i.id = $1::uuid AND m.target_table = i.target_table AND m.record_key = i.record_key`
	_, err := s.db(ctx).Exec(ctx, markRestored, intentID)
	return err
}

// tellRestored tells the entry of a restore that was released while its write was under way, and that
// has landed after all.
func (s *Store) tellRestored(ctx context.Context, i OpenIntent) error {
	for _, m := range i.Members {
		if m.Kind != deadletter.MemberRestore {
			continue
		}
		const tellRestored = `
			WITH told AS (
				UPDATE restore SET restored = @restored WHERE id = @id::uuid AND status = 'released' AND restored = 0 RETURNING id, entry_id, intent_id
			), history AS (
				INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, run_id, note)
				SELECT e.id, @event, e.status, e.status, 'pass', told.id, 'A write of a restore that had been released was under way, and has landed. ' || @note FROM told JOIN entry e ON e.id = told.entry_id
			)
			SELECT intent_id::text FROM told`
		intents, err := s.idsOf(ctx, "tell restored", tellRestored, names{
			"id": m.ID, "restored": len(m.Verdict.Fields), "event": deadletter.EventRestored, "note": text(m.Verdict.Note),
		})
		if err != nil {
			return err
		}
		for _, intent := range intents {
			if err := s.markRestored(ctx, intent); err != nil {
				return err
			}
		}
	}
	return nil
}

// tallyRestores fills the counts of runs that are restores: they count fields.
func (s *Store) tallyRestores(ctx context.Context, ids []string, at map[string]*deadletter.Run) error {
	const tallyRestores = `SELECT id::text, CASE WHEN status = 'settled' THEN restored ELSE 0 END, refused, status = 'released' FROM restore WHERE id = ANY ($1::uuid[])`
	rows, err := s.db(ctx).Query(ctx, tallyRestores, ids)
	if err != nil {
		return err
	}
	var id string
	var restored, refused int
	var isReleased bool
	_, err = pgx.ForEachRow(rows, []any{&id, &restored, &refused, &isReleased}, func() error {
		c := deadletter.Counts{Claimed: at[id].Counts.Claimed, Restored: restored, Refused: refused}
		if isReleased {
			c.Released = c.Claimed
		}
		at[id].Counts = c
		return nil
	})
	return err
}
