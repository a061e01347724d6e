package store

import (
	"context"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

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
		if _, err := s.settleAll(ctx, settle); err != nil {
			return err
		}
		return s.releaseEnded(ctx, wait)
	})
	return interpretError("give up", err)
}

// releaseEnded gives back what would wait for another attempt while its run has been cancelled or stopped.
func (s *Store) releaseEnded(ctx context.Context, wait []Postpone) error {
	var refs []MemberRef
	for _, p := range wait {
		refs = append(refs, p.Members...)
	}
	_, err := s.giveBackEnded(ctx, refs)
	return err
}

// ReleaseEnded gives back those of some members whose run was cancelled or stopped before a pass got to
// them, and returns their IDs (B1).
func (s *Store) ReleaseEnded(ctx context.Context, l Lease, refs []MemberRef) (released []string, err error) {
	if len(refs) == 0 {
		return nil, nil
	}
	err = s.fenced(ctx, l, func(ctx context.Context) error {
		released, err = s.giveBackEnded(ctx, refs)
		return err
	})
	return released, interpretError("release members of ended runs", err)
}

func (s *Store) giveBackEnded(ctx context.Context, refs []MemberRef) (released []string, err error) {
	var ids []string
	for _, m := range refs {
		switch m.Kind {
		case deadletter.MemberEntry:
			ids = append(ids, m.ID)
		case deadletter.MemberRestore:
			given, err := s.releaseEndedRestore(ctx, m.ID)
			if err != nil {
				return nil, err
			}
			released = append(released, given...)
		case deadletter.MemberWrite:
		}
	}
	if len(ids) == 0 {
		return released, nil
	}
	const endedRuns = `SELECT DISTINCT r.reason FROM entry e JOIN run r ON r.id = e.run_id
		WHERE e.id = ANY ($1::uuid[]) AND e.status = 'replaying' AND r.status IN ('cancelled', 'stopped')`
	reasons, err := s.idsOf(ctx, "find ended runs", endedRuns, ids)
	for _, reason := range reasons {
		given, err := s.giveBack(ctx, giveBack{
			transition: deadletter.TransitionReleased, reason: deadletter.Reason(reason), actor: "service",
			note:  "The run had ended when its turn came.",
			where: "e.id = ANY (@waiting::uuid[]) AND EXISTS (SELECT 1 FROM run r WHERE r.id = e.run_id AND r.status IN ('cancelled', 'stopped') AND r.reason = @reason)",
			args:  pgx.NamedArgs{"waiting": ids},
		})
		if err != nil {
			return nil, err
		}
		released = append(released, given...)
	}
	return released, err
}

func (s *Store) giveUpOne(ctx context.Context, g GivenUp) error {
	if g.Fate == deadletter.FateNotLanded {
		return s.endAttempt(ctx, g)
	}
	const giveUp = `UPDATE intent SET retry = true, look_at = may_land_until, attempts = jsonb_set(attempts::jsonb, ARRAY[(json_array_length(attempts) - 1)::text, 'status'], to_jsonb(@status::int))::json
		WHERE id = @id::uuid AND state = 'open' RETURNING may_land_until`
	rows, err := s.db(ctx).Query(ctx, giveUp, names{"id": g.IntentID, "status": g.Status})
	if err != nil {
		return err
	}
	bounds, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	if err != nil || len(bounds) == 0 {
		return err
	}
	return s.rest(ctx, g.Ref, bounds[0])
}

// endAttempt notes that the last attempt of an intent was refused or never left. The intent is closed,
// unless an earlier attempt of it is still unaccounted for; then that one's bound is its own.
func (s *Store) endAttempt(ctx context.Context, g GivenUp) error {
	const endAttempt = `
		UPDATE intent SET retry = true, attempts = jsonb_set(jsonb_set(attempts::jsonb, ARRAY[(json_array_length(attempts) - 1)::text, 'status'], to_jsonb(@status::int)),
			ARRAY[(json_array_length(attempts) - 1)::text, 'fate'], '"not_landed"')::json
		WHERE id = @id::uuid AND state = 'open'`
	if _, err := s.db(ctx).Exec(ctx, endAttempt, names{"id": g.IntentID, "status": g.Status}); err != nil {
		return err
	}
	const boundOpen = `
		UPDATE intent i SET may_land_until = o.until, look_at = o.until
		FROM (SELECT max((a ->> 'may_land_until')::timestamptz) AS until FROM intent, json_array_elements(attempts) a WHERE id = $1::uuid AND a ->> 'fate' = 'open') o
		WHERE i.id = $1::uuid AND i.state = 'open' AND o.until IS NOT NULL`
	tag, err := s.db(ctx).Exec(ctx, boundOpen, g.IntentID)
	if err != nil || tag.RowsAffected() == 1 {
		return err
	}
	if err := s.closeIntent(ctx, g.IntentID, deadletter.FateNotLanded); err != nil {
		return err
	}
	return s.clearMayHave(ctx, g.IntentID)
}

func (s *Store) postpone(ctx context.Context, p Postpone) error {
	tries := 0
	if p.Counted {
		tries = 1
	}
	var entries, writes, restores []string
	claims := []int64{}
	for _, m := range p.Members {
		switch m.Kind {
		case deadletter.MemberWrite:
			writes = append(writes, m.ID)
		case deadletter.MemberRestore:
			restores = append(restores, m.ID)
		case deadletter.MemberEntry:
			entries, claims = append(entries, m.ID), append(claims, m.Claim)
		}
	}
	if err := s.postponeRestores(ctx, restores, p); err != nil {
		return err
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
		return nil
	})
	return interpretError("look later", err)
}
