package store

import (
	"context"
	"slices"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// giveBack moves replaying entries back to Pending Review without a decision: sweep, reset, halt,
// cancel. The claim number rises, so that a pass that still works on them can neither write nor
// record; intents and Values Before stay (R2).
type giveBack struct {
	transition deadletter.Transition
	reason     deadletter.Reason
	actor      string
	note       string
	where      string // over entry e
	args       pgx.NamedArgs
}

// mayHaveLanded is what an entry says when it goes back while a write of its own is unaccounted for.
const mayHaveLanded = " A write was under way: check the record, it may have been changed."

// beingWritten is true of an entry e whose write a living pass has sent or is about to send. Its
// outcome is known within a request's time; taking it away would only make that harder to tell.
const beingWritten = `EXISTS (SELECT 1 FROM intent_member im JOIN intent i ON i.id = im.intent_id JOIN base b ON b.name = i.base
	WHERE im.member_id = e.id AND im.claim = e.claim AND i.state = 'open' AND NOT i.retry AND i.lease_token = b.lease_token AND b.lease_until > replay_now())`

// giveBack works on the entries that are not being written. Its caller holds their bases, so that no
// write of theirs begins meanwhile.
func (s *Store) giveBack(ctx context.Context, g giveBack) ([]string, error) {
	for k, v := range map[string]any{
		"event": g.transition, "reason": g.reason, "actor": text(g.actor), "note": text(g.note), "landed_note": mayHaveLanded,
	} {
		g.args[k] = v
	}
	giveBackEntries := `
		WITH pick AS (
			SELECT e.id, EXISTS (SELECT 1 FROM intent_member im JOIN intent i ON i.id = im.intent_id WHERE im.member_id = e.id AND i.state = 'open') AS open
			FROM entry e WHERE e.status = 'replaying' AND NOT ` + beingWritten + ` AND ` + g.where + ` ORDER BY e.id FOR NO KEY UPDATE OF e
		), given AS (
			UPDATE entry e SET status = 'pending_review', claim = e.claim + 1, due_at = NULL, updated_at = replay_now(),
				outcome = NULL, outcome_reason = @reason, replayed_by = @actor, replayed_at = replay_now(), replay_attempts = e.tries,
				replay_status = e.last_status, replay_error = e.last_error,
				notes = @note || CASE WHEN pick.open THEN @landed_note ELSE '' END,
				flags = CASE WHEN pick.open AND NOT 'may_have_been_written' = ANY (e.flags) THEN e.flags || '{may_have_been_written}' ELSE e.flags END
			FROM pick WHERE e.id = pick.id RETURNING e.id, e.run_id, e.claim, e.notes
		), history AS (
			INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, run_id, claim, reason, note)
			SELECT id, @event, 'replaying', 'pending_review', @actor, run_id, claim, @reason, notes FROM given
		), member AS (
			UPDATE run_entry m SET outcome = 'released', reason = @reason, settled_at = replay_now()
			FROM given WHERE m.run_id = given.run_id AND m.entry_id = given.id AND m.outcome = ''
		)
		SELECT id::text, coalesce(run_id::text, '') FROM given`
	rows, err := s.db(ctx).Query(ctx, giveBackEntries, g.args)
	if err != nil {
		return nil, err
	}
	type pair struct{ ID, Run string }
	given, err := pgx.CollectRows(rows, pgx.RowToStructByPos[pair])
	if err != nil || len(given) == 0 {
		return nil, err
	}
	var ids, runs []string
	for _, p := range given {
		ids, runs = append(ids, p.ID), append(runs, p.Run)
	}
	if _, err := s.FinishRuns(ctx, distinct(runs)); err != nil {
		return nil, err
	}
	return ids, s.touchMirror(ctx, ids, 0, true)
}

// distinct keeps the first of each value that is not empty.
func distinct(list []string) []string {
	return slices.DeleteFunc(allDistinct(list), func(v string) bool { return v == "" })
}

func allDistinct(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(v string) bool {
		again := seen[v]
		seen[v] = true
		return again
	})
}

// stuck is true of a replaying entry e of base b that has been due for @after while its base, neither
// halted, paused nor leased, made no progress (S1, R5). Paused, resting or waiting is not stuck.
const stuck = `e.status = 'replaying' AND ` + idle

// idle is true of a waiting item e of base b on which nobody has worked for @after.
const idle = `e.due_at <= replay_now() - @after::interval AND b.halted_at IS NULL
	AND coalesce(b.paused_until, '-infinity') <= replay_now() - @after::interval AND b.lease_until <= replay_now() AND b.progress_at <= replay_now() - @after::interval
	AND NOT EXISTS (SELECT 1 FROM record_mark m WHERE m.target_table = e.target_table AND m.record_key = e.record_key AND m.rest_until > replay_now() - @after::interval)`

// sweepable is true of a base b unless a pass was first asked for a moment ago: recovery comes before
// the sweep (R5), so that what stood still because everything did is worked on, not returned.
const sweepable = `NOT (b.asked_at > b.progress_at AND b.asked_at > replay_now() - least(@after::interval, interval '10 seconds'))`

// SweepStuck returns every stuck entry to Pending Review and lists them (S1). A base for which
// WakeDueBases has only just begun to ask for a pass is left to that.
func (s *Store) SweepStuck(ctx context.Context, after time.Duration) (ids []string, err error) {
	err = s.InTx(ctx, func(ctx context.Context) error {
		bases, err := s.idsOf(ctx, "find stuck bases", `SELECT DISTINCT b.name FROM base b JOIN entry e ON e.base = b.name WHERE `+stuck+` AND `+sweepable, names{"after": after})
		if err != nil || len(bases) == 0 {
			return err
		}
		const lockBases = `SELECT 1 FROM base b WHERE name = ANY ($1) ORDER BY name FOR NO KEY UPDATE`
		if _, err := s.db(ctx).Exec(ctx, lockBases, bases); err != nil {
			return err
		}
		ids, err = s.giveBack(ctx, giveBack{
			transition: deadletter.TransitionSwept, reason: deadletter.ReasonSwept, actor: "sweeper",
			note:  "Nobody had worked on this entry for " + after.String() + ", so it was returned. Check the record before you press again.",
			where: `e.id IN (SELECT e.id FROM entry e JOIN base b ON b.name = e.base WHERE ` + stuck + ` AND ` + sweepable + `)`, args: pgx.NamedArgs{"after": after},
		})
		return err
	})
	for _, sweep := range []func() error{
		func() error { return s.sweepRestores(ctx, after) },
		func() error { return s.sweepForecasts(ctx, after) },
		func() error { return s.releaseHalted(ctx) },
	} {
		if err == nil {
			err = sweep()
		}
	}
	return ids, interpretError("sweep stuck", err)
}

// releaseHalted gives back what a pass had been writing when its base was halted, and whose outcome it did
// not live to record (W7, R4).
func (s *Store) releaseHalted(ctx context.Context) error {
	return s.InTx(ctx, func(ctx context.Context) error {
		const leftBehind = `SELECT DISTINCT b.name FROM base b JOIN entry e ON e.base = b.name
			WHERE b.halted_at IS NOT NULL AND b.lease_until <= replay_now() AND e.status = 'replaying'`
		bases, err := s.idsOf(ctx, "find leftovers of halted bases", leftBehind)
		if err != nil || len(bases) == 0 {
			return err
		}
		const lockHalted = `SELECT 1 FROM base WHERE name = ANY ($1) ORDER BY name FOR NO KEY UPDATE`
		if _, err := s.db(ctx).Exec(ctx, lockHalted, bases); err != nil {
			return err
		}
		_, err = s.giveBack(ctx, giveBack{
			transition: deadletter.TransitionReleased, reason: deadletter.ReasonBaseHalted, actor: "sweeper",
			note:  "The base was halted while this entry was being written.",
			where: "e.base = ANY (@halted::text[]) AND EXISTS (SELECT 1 FROM base b WHERE b.name = e.base AND b.halted_at IS NOT NULL)", args: pgx.NamedArgs{"halted": bases},
		})
		return err
	})
}

// ListStuck lists the entries on which nobody works any more; a sweep returns them unless a pass begins.
func (s *Store) ListStuck(ctx context.Context, after time.Duration) ([]deadletter.Entry, error) {
	rows, err := s.db(ctx).Query(ctx, `SELECT `+entryColumns+` FROM entry e JOIN base b ON b.name = e.base WHERE `+stuck+` ORDER BY e.requested_at, e.id LIMIT 1000`,
		names{"after": after})
	if err != nil {
		return nil, interpretError("list stuck", err)
	}
	es, err := pgx.CollectRows(rows, scanEntry)
	return es, interpretError("list stuck", err)
}

// ResetEntry returns one replaying entry to Pending Review on an admin's word (S2). While a living
// pass has a write of the entry under way it is refused.
func (s *Store) ResetEntry(ctx context.Context, id, actor, reason string) error {
	err := s.InTx(ctx, func(ctx context.Context) error {
		e, err := s.ShowEntry(ctx, id)
		if err != nil {
			return err
		}
		const lockBase = `SELECT 1 FROM base WHERE name = $1 FOR NO KEY UPDATE`
		if _, err := s.db(ctx).Exec(ctx, lockBase, e.Base); err != nil {
			return err
		}
		ids, err := s.giveBack(ctx, giveBack{
			transition: deadletter.TransitionReset, reason: deadletter.ReasonReset, actor: actor, note: resetNote(actor, reason),
			where: "e.id = @id::uuid", args: pgx.NamedArgs{"id": e.ID},
		})
		if err != nil || len(ids) > 0 {
			return err
		}
		if e, err = s.ShowEntry(ctx, e.ID); err != nil {
			return err
		}
		return notReset(e)
	})
	return interpretError("reset entry", err)
}

func resetNote(actor, reason string) string {
	note := "Reset by " + actor + "."
	if reason != "" {
		note += " Reason: " + reason
	}
	return note
}

// notReset says why an entry was not reset: it is being written, or not replaying at all.
func notReset(e deadletter.Entry) error {
	err := deadletter.Errorf(deadletter.CodeConflict, "entry-not-replaying", "only an entry that is replaying can be reset; this one is %s", e.Status)
	if e.Status == deadletter.Replaying {
		err = deadletter.Errorf(deadletter.CodeConflict, "entry-being-written", "a write of this entry is under way; its outcome will be recorded within a minute")
		if e.Replay != nil {
			err.RunID = e.Replay.RunID
		}
	}
	err.EntryStatus = e.Status
	return err
}
