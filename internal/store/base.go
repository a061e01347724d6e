package store

import (
	"context"
	"errors"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// BaseState is what people see of a base.
type BaseState struct {
	Name           string
	Halted         bool
	HaltedAt       time.Time
	HaltedBy       string
	HaltKind       HaltKind  // meaningful while halted
	Reason         string    // of the halt or of the pause
	PausedUntil    time.Time // zero: not paused
	WaitingEntries int       // restores included
	WaitingWrites  int
	WaitingMirror  int
	LeaseHolder    string // empty: nobody works on it
	LeaseUntil     time.Time
	// MirrorHeldUntil is until when no row goes to the dead letter table, zero for no such wait, and
	// MirrorProblem is why.
	MirrorHeldUntil time.Time
	MirrorProblem   string
}

// ListBases lists the configured bases with what waits for each.
func (s *Store) ListBases(ctx context.Context) ([]BaseState, error) {
	return s.basesWhere(ctx, "b.name <> ''")
}

// FindBase is the state of one base.
func (s *Store) FindBase(ctx context.Context, name string) (BaseState, error) {
	bs, err := s.basesWhere(ctx, "b.name = $1 AND b.name <> ''", name)
	if err != nil {
		return BaseState{}, err
	}
	if len(bs) == 0 {
		return BaseState{}, deadletter.Errorf(deadletter.CodeNotFound, "base-not-found", "there is no base %q", name)
	}
	return bs[0], nil
}

func (s *Store) basesWhere(ctx context.Context, where string, args ...any) ([]BaseState, error) {
	listBases := `
		SELECT name, halted_at IS NOT NULL, halted_at, halted_by, CASE WHEN halted_at IS NOT NULL THEN halt_kind ELSE '' END, CASE WHEN halted_at IS NOT NULL THEN halt_reason WHEN paused_until > replay_now() THEN pause_reason ELSE '' END,
			CASE WHEN paused_until > replay_now() THEN paused_until END,
			(SELECT count(*) FROM entry WHERE base = b.name AND status = 'replaying') + (SELECT count(*) FROM restore WHERE base = b.name AND status = 'queued'),
			(SELECT count(*) FROM write WHERE base = b.name AND status = 'queued'),
			(SELECT count(*) FROM mirror_row WHERE base = b.name AND dirty_at IS NOT NULL),
			CASE WHEN lease_until > replay_now() THEN lease_holder ELSE '' END, CASE WHEN lease_until > replay_now() THEN lease_until END,
			CASE WHEN mirror_held_until > replay_now() THEN mirror_held_until END, CASE WHEN mirror_held_until > replay_now() THEN mirror_problem ELSE '' END
		FROM base b WHERE ` + where + ` ORDER BY name`
	rows, err := s.db(ctx).Query(ctx, listBases, args...)
	if err != nil {
		return nil, interpretError("list bases", err)
	}
	bs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (b BaseState, err error) {
		var halted, paused, lease, held instant
		err = row.Scan(&b.Name, &b.Halted, &halted, &b.HaltedBy, &b.HaltKind, &b.Reason, &paused, &b.WaitingEntries, &b.WaitingWrites, &b.WaitingMirror, &b.LeaseHolder, &lease, &held, &b.MirrorProblem)
		b.HaltedAt, b.PausedUntil, b.LeaseUntil, b.MirrorHeldUntil = halted.Time, paused.Time, lease.Time, held.Time
		return b, err
	})
	return bs, interpretError("list bases", err)
}

// PauseBase makes the whole base wait, in every process (W3). A longer pause that is already set
// stays, with its reason.
func (s *Store) PauseBase(ctx context.Context, base string, d time.Duration, reason string) error {
	const pauseBase = `UPDATE base SET paused_until = replay_now() + $2::interval, pause_reason = $3
		WHERE name = $1 AND coalesce(paused_until, '-infinity') < replay_now() + $2::interval`
	_, err := s.db(ctx).Exec(ctx, pauseBase, base, d, text(reason))
	return interpretError("pause base", err)
}

// HaltKind is what a halt is about, which decides whether the dead letter table is still written (R9).
type HaltKind string

// The kinds. An admin's halt is about the data.
const (
	HaltData   HaltKind = "data"   // what was written was refused; rows to mirror go on
	HaltAccess HaltKind = "access" // the token or the quota: nothing is sent at all
)

// HaltBase is Halt about the data.
func (s *Store) HaltBase(ctx context.Context, base, reason, actor string) (first bool, err error) {
	return s.Halt(ctx, base, HaltData, reason, actor)
}

// Halt stops a base until somebody resumes it (W7): live writes stay queued, claimed entries go
// back to Pending Review, but for those whose write a living pass has under way: it records their
// outcome. first is false when it was halted already; it then only becomes a halt about access. The base row is locked against claims first, and
// the claimed entries are looked for in a later statement, so that none is claimed and left behind.
func (s *Store) Halt(ctx context.Context, base string, kind HaltKind, reason, actor string) (first bool, err error) {
	err = s.InTx(ctx, func(ctx context.Context) error {
		const lockBase = `SELECT 1 FROM base WHERE name = $1 FOR UPDATE`
		if _, err := s.db(ctx).Exec(ctx, lockBase, base); err != nil {
			return err
		}
		const haltBase = `UPDATE base SET halted_at = replay_now(), halt_kind = $4, halt_reason = $2, halted_by = $3 WHERE name = $1 AND halted_at IS NULL`
		tag, err := s.db(ctx).Exec(ctx, haltBase, base, text(reason), text(actor), kind)
		if err != nil {
			return err
		}
		if first = tag.RowsAffected() == 1; !first && kind == HaltAccess {
			const worsenHalt = `UPDATE base SET halt_kind = 'access', halt_reason = halt_reason || ' ' || $2 WHERE name = $1 AND halt_kind <> 'access'`
			if _, err := s.db(ctx).Exec(ctx, worsenHalt, base, text(reason)); err != nil {
				return err
			}
		}
		if err := s.stopDryRuns(ctx, base); err != nil {
			return err
		}
		_, err = s.giveBack(ctx, giveBack{
			transition: deadletter.TransitionReleased, reason: deadletter.ReasonBaseHalted, actor: actor,
			note:  "The base was halted before this entry was written: " + reason,
			where: "e.base = @base", args: pgx.NamedArgs{"base": base},
		})
		if err != nil {
			return err
		}
		runs, err := s.releaseRestores(ctx, release{
			reason: deadletter.ReasonBaseHalted, actor: actor, note: "The base was halted before anything was restored: " + reason,
			where: "r.base = @base", args: pgx.NamedArgs{"base": base},
		})
		if err != nil {
			return err
		}
		_, err = s.FinishRuns(ctx, runs)
		return err
	})
	return first, interpretError("halt base", err)
}

// ResumeBase lets a halted base go on and forgets its failures.
func (s *Store) ResumeBase(ctx context.Context, base string) error {
	const resumeBase = `UPDATE base SET halted_at = NULL, halt_kind = 'data', halt_reason = '', halted_by = '', failure = '', failures = 0, woken_at = '-infinity',
		resumed_at = replay_now() WHERE name = $1 AND halted_at IS NOT NULL`
	tag, err := s.db(ctx).Exec(ctx, resumeBase, base)
	if err == nil && tag.RowsAffected() == 0 {
		return deadletter.Errorf(deadletter.CodeConflict, "base-not-halted", "base %q is not halted", base)
	}
	return interpretError("resume base", err)
}

// CountFailure counts identical permanent failures in a row and returns how many there are now.
func (s *Store) CountFailure(ctx context.Context, base, signature string) (n int, err error) {
	const countFailure = `UPDATE base SET failures = CASE WHEN failure = $2 THEN failures + 1 ELSE 1 END, failure = $2 WHERE name = $1 RETURNING failures`
	err = s.db(ctx).QueryRow(ctx, countFailure, base, text(signature)).Scan(&n)
	return n, interpretError("count failure", err)
}

// ResetFailures ends a row of identical failures, of a base and of runs.
func (s *Store) ResetFailures(ctx context.Context, base string, runs []string) error {
	if _, err := s.db(ctx).Exec(ctx, `UPDATE base SET failure = '', failures = 0 WHERE name = $1 AND failures > 0`, base); err != nil {
		return interpretError("reset failures", err)
	}
	_, err := s.db(ctx).Exec(ctx, `UPDATE run SET failure = '', failures = 0 WHERE id = ANY ($1::uuid[]) AND failures > 0`, distinct(runs))
	return interpretError("reset failures", err)
}

// CountRunFailure counts identical permanent failures in a row within a run over many entries and
// returns how many there are now; a single press does not count.
func (s *Store) CountRunFailure(ctx context.Context, run, signature string) (n int, err error) {
	const countRunFailure = `UPDATE run SET failures = CASE WHEN failure = $2 THEN failures + 1 ELSE 1 END, failure = $2
		WHERE id = $1::uuid AND kind = 'run' AND status IN ('queued', 'running') RETURNING failures`
	err = s.db(ctx).QueryRow(ctx, countRunFailure, orNullText(run), text(signature)).Scan(&n)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	return n, interpretError("count run failure", err)
}
