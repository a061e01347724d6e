package store

import (
	"context"
	"fmt"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
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
	ReviewGroup  string  // entries that one decision sent to review share it
	Filing       *Filing // a live write that becomes an entry (L2)
}

// Settle stores outcomes under a lease; a member that is no longer held is passed over.
func (s *Store) Settle(ctx context.Context, l Lease, settle []Settlement) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		if err := s.settleAll(ctx, settle); err != nil {
			return err
		}
		_, err := s.db(ctx).Exec(ctx, `UPDATE base SET taking = '[]' WHERE name = $1`, l.Base)
		return err
	})
	return interpretError("settle", err)
}

func (s *Store) settleAll(ctx context.Context, settle []Settlement) error {
	var touched, runs []string
	for _, v := range settle {
		if v.Kind == deadletter.MemberWrite {
			if err := s.settleWrite(ctx, v); err != nil {
				return err
			}
			continue
		}
		run, ok, err := s.settleEntry(ctx, v)
		if err != nil {
			return err
		}
		if ok {
			touched, runs = append(touched, v.ID), append(runs, run)
		}
	}
	if len(touched) == 0 {
		return nil
	}
	if _, err := s.FinishRuns(ctx, distinct(runs)); err != nil {
		return err
	}
	return s.touchMirror(ctx, touched, 0, true)
}

func (s *Store) settleEntry(ctx context.Context, v Settlement) (run string, ok bool, err error) {
	fields, skipped, before, detail, err := settlementDocs(v)
	if err != nil {
		return "", false, err
	}
	skippedBy := map[deadletter.Reason]int{}
	for _, k := range v.Verdict.Skipped {
		skippedBy[k.Reason]++
	}
	skippedCounts, err := doc(skippedBy)
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
				landed_intent = NULL, flags = ARRAY (SELECT DISTINCT unnest(flags || @flags::text[]))
			WHERE id = @id AND status = 'replaying' AND claim = @claim RETURNING id, run_id, claim, requested_by
		), history AS (
			INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, run_id, claim, outcome, reason, note, detail)
			SELECT id, 'settled', 'replaying', @to, requested_by, run_id, claim, @outcome, @reason, @note, @detail FROM settled
		), member AS (
			UPDATE run_entry m SET outcome = @outcome, reason = @reason, effect = @effect, skipped = @skipped_counts, settled_at = replay_now()
			FROM settled WHERE m.run_id = settled.run_id AND m.entry_id = settled.id
		)
		SELECT coalesce(run_id::text, '') FROM settled`
	ids, err := s.idsOf(ctx, "settle entry", settleEntry, names{
		"id": v.ID, "claim": v.Claim, "to": v.Verdict.Outcome.StatusAfter(), "outcome": v.Verdict.Outcome, "reason": v.Verdict.Reason,
		"fields": fields, "skipped": skipped, "before": before, "record": v.RecordID, "effect": v.Effect, "note": text(v.Verdict.Note),
		"status": orNullInt(v.StatusCode), "error": text(v.ErrorDetail), "tries": v.Tries, "own": own, "group": orNullText(v.ReviewGroup), "wrote": wrote,
		"flags": flagTexts(v.Flags), "detail": detail, "skipped_counts": skippedCounts,
	})
	if err != nil || len(ids) == 0 {
		return "", false, err
	}
	return ids[0], true, nil
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
	detail, err = doc(map[string]any{
		"fields_replayed": v.Verdict.Fields, "fields_skipped": v.Verdict.Skipped, "values_before": v.ValuesBefore, "record_id": v.RecordID,
		"effect": v.Effect, "status_code": v.StatusCode, "error_detail": text(v.ErrorDetail), "attempts": v.Tries,
	})
	return
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
	status, entryID := "written", ""
	switch v.Verdict.Outcome {
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
	case deadletter.Replayed, deadletter.PartiallyReplayed:
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

// Landing closes an intent whose write is on the record.
type Landing struct {
	Intent      OpenIntent
	Ref         RecordRef
	Mark        Mark // the record's mark after it
	Certain     bool // no attempt of it is unaccounted for: the record need not rest
	Settlements []Settlement
}

// SettleLandings stores that writes have landed, settles the members that are still held, and tells
// the others' entries: swept, reset or released meanwhile, they keep their status and show `landed`
// (R2).
func (s *Store) SettleLandings(ctx context.Context, l Lease, landings []Landing, settle []Settlement) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		for _, d := range landings {
			if err := s.closeIntent(ctx, d.Intent.ID, deadletter.FateLanded); err != nil {
				return err
			}
			if err := s.saveMark(ctx, d.Ref, d.Mark, d.Certain); err != nil {
				return err
			}
			if err := s.tellLanded(ctx, d); err != nil {
				return err
			}
			if err := s.settleAll(ctx, d.Settlements); err != nil {
				return err
			}
		}
		return s.settleAll(ctx, settle)
	})
	return interpretError("settle landings", err)
}

func (s *Store) closeIntent(ctx context.Context, id string, fate deadletter.Fate) error {
	const closeIntent = `UPDATE intent SET state = $2, retry = false, closed_at = replay_now() WHERE id = $1::uuid AND state = 'open'`
	_, err := s.db(ctx).Exec(ctx, closeIntent, id, fate)
	return err
}

func (s *Store) tellLanded(ctx context.Context, d Landing) error {
	version, _ := versionColumns(d.Intent.Version)
	var ids []string
	for _, m := range d.Intent.Members {
		if m.Held || m.Kind != deadletter.MemberEntry {
			continue
		}
		ids = append(ids, m.ID)
	}
	if len(ids) == 0 {
		return nil
	}
	const tellLanded = `
		WITH told AS (
			UPDATE entry SET flags = array_append(array_remove(array_remove(flags, 'landed'), 'may_have_been_written'), 'landed'), updated_at = replay_now(),
				wrote_version = coalesce(nullif(@version, ''), wrote_version), landed_intent = @intent::uuid
			WHERE id = ANY (@ids::uuid[]) AND status <> 'resolved' RETURNING id, status
		)
		INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, note)
		SELECT id, 'landed', status, status, 'pass', 'A write of this entry that was under way has landed. The next press records it without writing again.' FROM told`
	if _, err := s.db(ctx).Exec(ctx, tellLanded, names{"version": version, "intent": d.Intent.ID, "ids": ids}); err != nil {
		return err
	}
	return s.touchMirror(ctx, ids, 0, false)
}

// Miss closes an intent that did not land, or of which nobody will ever know (R2).
type Miss struct {
	Intent OpenIntent
	Ref    RecordRef
	Fate   deadletter.Fate // FateNotLanded or FateUnknown
}

// SettleMisses closes intents that did not land; members of an unknown one are flagged
// may_have_been_written.
func (s *Store) SettleMisses(ctx context.Context, l Lease, misses []Miss) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		for _, m := range misses {
			if err := s.closeIntent(ctx, m.Intent.ID, m.Fate); err != nil {
				return err
			}
			if m.Fate == deadletter.FateNotLanded {
				if err := s.clearMayHave(ctx, m.Intent); err != nil {
					return err
				}
				continue
			}
			const flagUnknown = `UPDATE entry SET flags = ARRAY (SELECT DISTINCT unnest(flags || '{may_have_been_written}')), updated_at = replay_now()
				WHERE id IN (SELECT member_id FROM intent_member WHERE intent_id = $1::uuid AND kind = 'entry')`
			if _, err := s.db(ctx).Exec(ctx, flagUnknown, m.Intent.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return interpretError("settle misses", err)
}

func (s *Store) clearMayHave(ctx context.Context, i OpenIntent) error {
	const clearMayHave = `UPDATE entry e SET flags = array_remove(flags, 'may_have_been_written'), updated_at = replay_now()
		WHERE 'may_have_been_written' = ANY (flags) AND id IN (SELECT member_id FROM intent_member WHERE intent_id = $1::uuid AND kind = 'entry')
			AND NOT EXISTS (SELECT 1 FROM intent_member o JOIN intent oi ON oi.id = o.intent_id WHERE o.member_id = e.id AND oi.state IN ('open', 'unknown'))`
	_, err := s.db(ctx).Exec(ctx, clearMayHave, i.ID)
	return err
}

// Postpone lets members wait (W2, W3, R4b, R8): they stay claimed and come up again when due.
type Postpone struct {
	Members []MemberRef
	Wait    time.Duration
	Until   time.Time // instead of Wait, when set
	Counted bool      // the wait follows an attempt that counts (W2)
	Status  int
	Error   string
	Alone   bool // to be worked on singly (W6)
}

// GivenUp is an attempt of an intent that its sender gave up on in good order.
type GivenUp struct {
	IntentID string
	Ref      RecordRef
	Status   int             // of the answer; 0: none
	Fate     deadletter.Fate // FateOpen: unknown, the record rests; FateNotLanded: refused or never sent
}

// GiveUp stores the end of attempts and lets their members wait, under the lease.
func (s *Store) GiveUp(ctx context.Context, l Lease, given []GivenUp, wait []Postpone, settle []Settlement) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		for _, g := range given {
			if err := s.giveUpOne(ctx, g); err != nil {
				return err
			}
		}
		for _, p := range wait {
			if err := s.postpone(ctx, p); err != nil {
				return err
			}
		}
		if err := s.settleAll(ctx, settle); err != nil {
			return err
		}
		_, err := s.db(ctx).Exec(ctx, `UPDATE base SET taking = '[]' WHERE name = $1`, l.Base)
		return err
	})
	return interpretError("give up", err)
}

func (s *Store) giveUpOne(ctx context.Context, g GivenUp) error {
	if g.Fate == deadletter.FateNotLanded {
		return s.endAttempt(ctx, g)
	}
	const giveUp = `UPDATE intent SET retry = true, look_at = may_land_until, attempts = jsonb_set(attempts::jsonb, ARRAY[(json_array_length(attempts) - 1)::text, 'status'], to_jsonb(@status::int))::json
		WHERE id = @id::uuid AND state = 'open' RETURNING may_land_until`
	var until time.Time
	if err := s.db(ctx).QueryRow(ctx, giveUp, names{"id": g.IntentID, "status": g.Status}).Scan(&until); err != nil {
		return err
	}
	return s.rest(ctx, g.Ref, until)
}

// endAttempt notes that the last attempt of an intent was refused or never left. The intent is closed
// unless an earlier attempt of it is still unaccounted for.
func (s *Store) endAttempt(ctx context.Context, g GivenUp) error {
	const endAttempt = `
		UPDATE intent SET retry = true, look_at = may_land_until, attempts = jsonb_set(jsonb_set(attempts::jsonb, ARRAY[(json_array_length(attempts) - 1)::text, 'status'], to_jsonb(@status::int)),
			ARRAY[(json_array_length(attempts) - 1)::text, 'fate'], '"not_landed"')::json
		WHERE id = @id::uuid AND state = 'open'`
	if _, err := s.db(ctx).Exec(ctx, endAttempt, names{"id": g.IntentID, "status": g.Status}); err != nil {
		return err
	}
	const closeRefused = `UPDATE intent i SET state = 'not_landed', closed_at = replay_now() WHERE id = $1::uuid AND state = 'open'
		AND NOT EXISTS (SELECT 1 FROM json_array_elements(i.attempts) a WHERE a ->> 'fate' = 'open')`
	_, err := s.db(ctx).Exec(ctx, closeRefused, g.IntentID)
	return err
}

func (s *Store) postpone(ctx context.Context, p Postpone) error {
	tries := 0
	if p.Counted {
		tries = 1
	}
	var entries, writes []string
	claims := []int64{}
	for _, m := range p.Members {
		if m.Kind == deadletter.MemberWrite {
			writes = append(writes, m.ID)
			continue
		}
		entries, claims = append(entries, m.ID), append(claims, m.Claim)
	}
	args := names{
		"wait": p.Wait, "until": orNull(p.Until), "tries": tries, "status": orNullInt(p.Status), "error": text(p.Error), "alone": p.Alone,
		"writes": writes, "counted": p.Counted,
	}
	const postponeWrites = `
		UPDATE write SET due_at = coalesce(@until, replay_now() + @wait::interval), tries = tries + @tries, alone = alone OR @alone,
			last_status = CASE WHEN @counted THEN @status ELSE last_status END, last_error = CASE WHEN @counted THEN @error ELSE last_error END,
			first_attempt_at = coalesce(first_attempt_at, CASE WHEN @counted THEN replay_now() END)
		WHERE id = ANY (@writes::uuid[]) AND status = 'queued'`
	if _, err := s.db(ctx).Exec(ctx, postponeWrites, args); err != nil {
		return err
	}
	delete(args, "writes")
	args["entries"], args["claims"] = entries, claims
	const postponeEntries = `
		UPDATE entry e SET due_at = coalesce(@until, replay_now() + @wait::interval), tries = tries + @tries, alone = alone OR @alone,
			last_status = CASE WHEN @counted THEN @status ELSE last_status END, last_error = CASE WHEN @counted THEN @error ELSE last_error END
		FROM (SELECT * FROM unnest(@entries::uuid[], @claims::bigint[]) AS h (id, claim) ORDER BY id) h
		WHERE e.id = h.id AND e.claim = h.claim AND e.status = 'replaying'`
	_, err := s.db(ctx).Exec(ctx, postponeEntries, args)
	return err
}

// LookLater puts off the next look at writes that have not landed yet but still may, and lets their
// records rest until then (R4b).
func (s *Store) LookLater(ctx context.Context, l Lease, intents []OpenIntent, wait time.Duration) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		for _, i := range intents {
			const lookLater = `
				UPDATE intent SET look_at = CASE WHEN may_land_until > replay_now() THEN least(may_land_until, replay_now() + @wait::interval) ELSE replay_now() + @wait::interval END
				WHERE id = @id::uuid AND state = 'open' RETURNING target_table, record_key, may_land_until`
			rows, err := s.db(ctx).Query(ctx, lookLater, names{"wait": wait, "id": i.ID})
			if err != nil {
				return err
			}
			type resting struct {
				Target, Key string
				Until       time.Time
			}
			found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[resting])
			if err != nil {
				return err
			}
			for _, r := range found {
				if err := s.rest(ctx, RecordRef{Target: r.Target, Key: r.Key}, r.Until); err != nil {
					return err
				}
			}
		}
		_, err := s.db(ctx).Exec(ctx, `UPDATE base SET taking = '[]' WHERE name = $1`, l.Base)
		return err
	})
	return interpretError("look later", err)
}
