package store

import (
	"context"
	"time"

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
			w.last_error, w.alone, i.clock, i.record_id, i.fields, i.version, i.version_before, ` + rewritten + `
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
		&r.LastError, &r.Alone, &back.Clock, &back.RecordID, &fields, &version, &versionBefore, &back.Rewritten)
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

// releaseEndedRestore ends a restore that would wait for another attempt while its run has been
// cancelled.
func (s *Store) releaseEndedRestore(ctx context.Context, id string) error {
	runs, err := s.releaseRestores(ctx, release{
		reason: deadletter.ReasonCancelled, actor: "service", note: "The run had ended when another attempt was due.",
		where: "r.id = @id::uuid AND EXISTS (SELECT 1 FROM run WHERE run.id = r.id AND run.status IN ('cancelled', 'stopped'))", args: pgx.NamedArgs{"id": id},
	})
	if err == nil {
		_, err = s.FinishRuns(ctx, runs)
	}
	return err
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
