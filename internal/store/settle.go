package store

import (
	"context"
	"fmt"
	"time"

	"airtable-replay/internal/deadletter"
)

// Settlement is the outcome of one member, to be stored under its claim.
type Settlement struct {
	MemberRef
	Verdict      deadletter.Verdict
	ValuesBefore map[string]any
	RecordID     string
	Effect       deadletter.Effect
	Wrote        deadletter.Version // the version that this member's write put on the record
	Tries        int
	StatusCode   int    // of the last answer; 0: none
	ErrorDetail  string // of the last attempt, safe to show
	Flags        []deadletter.Flag
	ReviewGroup  string   // entries that one decision sent to review share it
	Dates        []string // business dates of the record before and after its write (B6)
	Fetched      []byte   // the sender's state that was written in place of the payload (C5)
	Filing       *Filing  // a live write that becomes an entry (L2)
}

// Settle stores outcomes under a lease; a member that is no longer held is passed over.
func (s *Store) Settle(ctx context.Context, l Lease, settle []Settlement) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		_, err := s.settleAll(ctx, settle)
		return err
	})
	return interpretError("settle", err)
}

// settleAll returns the entries that it settled.
func (s *Store) settleAll(ctx context.Context, settle []Settlement) (settled []string, err error) {
	var others, runs []string
	for _, v := range settle {
		var run string
		var ok bool
		switch v.Kind {
		case deadletter.MemberWrite:
			err = s.settleWrite(ctx, v)
			others = append(others, v.ID)
		case deadletter.MemberRestore:
			run, err = s.settleRestore(ctx, v)
			others = append(others, v.ID)
		case deadletter.MemberEntry:
			run, ok, err = s.settleEntry(ctx, v)
		}
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
		if ok {
			settled = append(settled, v.ID)
		}
	}
	if err := s.forgiveDeaths(ctx, settled, others); err != nil {
		return nil, err
	}
	if _, err := s.FinishRuns(ctx, distinct(runs)); err != nil {
		return nil, err
	}
	return settled, s.touchMirror(ctx, settled, 0, true)
}

// forgiveDeaths gives the records of settled members a fresh start: a pass has survived them (R7).
func (s *Store) forgiveDeaths(ctx context.Context, entries, others []string) error {
	if len(entries)+len(others) == 0 {
		return nil
	}
	const forgiveDeaths = `
		UPDATE record_mark m SET deaths = 0 FROM (
			SELECT target_table, record_key FROM entry WHERE id = ANY ($1::uuid[]) UNION SELECT target_table, record_key FROM write WHERE id = ANY ($2::uuid[])
			UNION SELECT target_table, record_key FROM restore WHERE id = ANY ($2::uuid[])) r
		WHERE m.target_table = r.target_table AND m.record_key = r.record_key AND m.deaths > 0`
	_, err := s.db(ctx).Exec(ctx, forgiveDeaths, entries, others)
	return err
}

func (s *Store) settleEntry(ctx context.Context, v Settlement) (run string, ok bool, err error) {
	fields, skipped, before, detail, err := settlementDocs(v)
	if err != nil {
		return "", false, err
	}
	skippedCounts, err := skippedBy(v)
	if err != nil {
		return "", false, err
	}
	wrote, _ := versionColumns(v.Wrote)
	own := 0
	if v.Verdict.Outcome == deadletter.ReplayFailed && v.Verdict.Reason.OwnFault() {
		own = 1
	}
	const settleEntry = `
		WITH settled AS (
			UPDATE entry e SET status = @to, due_at = NULL, updated_at = replay_now(), outcome = @outcome, outcome_reason = @reason,
				replayed_by = requested_by, replayed_at = replay_now(), fields_replayed = @fields, fields_skipped = @skipped, values_before = @before,
				record_id = coalesce(nullif(@record, ''), record_id), effect = @effect, notes = @note, replay_status = @status, replay_error = @error,
				replay_attempts = @tries, own_failures = CASE WHEN @to = 'resolved' THEN 0 ELSE own_failures + @own END,
				review_group = @group::uuid, wrote_version = coalesce(nullif(@wrote, ''), wrote_version),
				landed_intent = NULL, decided_revision = payload_revision, flags = ARRAY (SELECT DISTINCT f FROM unnest(flags || @flags::text[]) AS f WHERE f <> 'landed' OR @to <> 'resolved')
			WHERE id = @id AND status = 'replaying' AND claim = @claim RETURNING id, run_id, claim, requested_by
		), history AS (
			INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, run_id, claim, outcome, reason, note, detail)
			SELECT id, 'settled', 'replaying', @to, requested_by, run_id, claim, @outcome, @reason, @note, @detail FROM settled
		), member AS (
			UPDATE run_entry m SET outcome = @outcome, reason = @reason, effect = @effect, skipped = @skipped_counts, settled_at = replay_now(),
				record_id = CASE WHEN @effect = '' THEN '' ELSE @record END, dates = @dates::text[]::date[]
			FROM settled WHERE m.run_id = settled.run_id AND m.entry_id = settled.id
		)
		SELECT coalesce(run_id::text, '') FROM settled`
	ids, err := s.idsOf(ctx, "settle entry", settleEntry, names{
		"id": v.ID, "claim": v.Claim, "to": v.Verdict.Outcome.StatusAfter(), "outcome": v.Verdict.Outcome, "reason": v.Verdict.Reason,
		"fields": fields, "skipped": skipped, "before": before, "record": v.RecordID, "effect": v.Effect, "note": text(v.Verdict.Note),
		"status": orNullInt(v.StatusCode), "error": text(v.ErrorDetail), "tries": v.Tries, "own": own, "group": orNullText(v.ReviewGroup), "wrote": wrote,
		"flags": flagTexts(v.Flags), "detail": detail, "skipped_counts": skippedCounts, "dates": append([]string{}, v.Dates...),
	})
	if err != nil || len(ids) == 0 {
		return "", false, err
	}
	return ids[0], true, nil
}

// skippedBy counts the fields that were left out, by reason.
func skippedBy(v Settlement) (string, error) {
	counts := map[deadletter.Reason]int{}
	for _, k := range v.Verdict.Skipped {
		counts[k.Reason]++
	}
	return doc(counts)
}

func settlementDocs(v Settlement) (fields, skipped, before, detail string, err error) {
	if fields, err = doc(v.Verdict.Fields); err != nil {
		return
	}
	if skipped, err = doc(v.Verdict.Skipped); err != nil {
		return
	}
	if before, err = doc(v.ValuesBefore); err != nil {
		return
	}
	account := map[string]any{
		"fields_replayed": v.Verdict.Fields, "fields_skipped": tellSkips(v.Verdict.Skipped), "values_before": v.ValuesBefore, "record_id": v.RecordID,
		"effect": v.Effect, "status_code": v.StatusCode, "error_detail": text(v.ErrorDetail), "attempts": v.Tries,
	}
	if v.Fetched != nil {
		account["fetched_payload"] = text(string(v.Fetched))
	}
	detail, err = doc(account)
	return
}

// skipLine is a skipped field as the history tells it.
type skipLine struct {
	Field     string            `json:"field"`
	Reason    deadletter.Reason `json:"reason"`
	ChangedAt *time.Time        `json:"changed_at"`
	Current   any               `json:"current"`
	Incoming  any               `json:"incoming"`
}

func tellSkips(skips []deadletter.Skip) []skipLine {
	lines := []skipLine{}
	for _, k := range skips {
		lines = append(lines, skipLine{k.Field, k.Reason, orNull(k.ChangedAt), k.Current, k.Incoming})
	}
	return lines
}

func flagTexts(flags []deadletter.Flag) []string {
	out := []string{}
	for _, f := range flags {
		out = append(out, string(f))
	}
	return out
}

// settleWrite closes a live write: written, stale, or dead-lettered with the entry that now holds it.
func (s *Store) settleWrite(ctx context.Context, v Settlement) error {
	var status, entryID string
	switch v.Verdict.Outcome {
	case deadletter.Replayed, deadletter.PartiallyReplayed:
		status = "written"
	case deadletter.Superseded:
		status = "stale"
	case deadletter.NeedsReview, deadletter.ReplayFailed:
		status = "dead_lettered"
		if v.Filing == nil {
			return fmt.Errorf("settle write %s: no filing for a dead letter", v.ID)
		}
		var err error
		if entryID, _, err = s.insertEntry(ctx, *v.Filing); err != nil {
			return err
		}
		if err = s.inheritDoubt(ctx, v.ID, entryID); err != nil {
			return err
		}
	default:
		return fmt.Errorf("settle write %s: outcome %q is none", v.ID, v.Verdict.Outcome)
	}
	const settleWrite = `
		UPDATE write SET status = @status, reason = @reason, note = @note, record_id = @record, entry_id = @entry::uuid, tries = @tries,
			last_status = @code, last_error = @error, settled_at = replay_now()
		WHERE id = @id AND status = 'queued'`
	_, err := s.db(ctx).Exec(ctx, settleWrite, names{
		"id": v.ID, "status": status, "reason": v.Verdict.Reason, "note": text(v.Verdict.Note), "record": v.RecordID, "entry": orNullText(entryID),
		"tries": v.Tries, "code": orNullInt(v.StatusCode), "error": text(v.ErrorDetail),
	})
	return err
}
