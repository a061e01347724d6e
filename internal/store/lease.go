package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Lease is the right to work on one base; its token fences every transaction of the pass (R4).
type Lease struct {
	Base   string
	Token  int64
	Length time.Duration // each renewal's, counted on the database's clock
}

// sqlNow is the shared clock, read once for a statement: unlike the function itself, an index can be
// searched with it.
const sqlNow = `(SELECT replay_now())`

// dueData tells, as an SQL condition over @base, whether any data of a base can be worked on now: an
// intent to look at, a write, an entry or a restore that is due and whose record does not rest. Each is
// looked for in the order of its index, however many there are.
const dueData = `coalesce(
	(SELECT true FROM intent i WHERE i.base = @base AND i.state = 'open' AND i.look_at <= ` + sqlNow + ` ORDER BY i.look_at LIMIT 1),
	(SELECT true FROM write w LEFT JOIN record_mark m USING (target_table, record_key)
		WHERE w.base = @base AND w.status = 'queued' AND w.due_at <= ` + sqlNow + ` AND ` + notResting + ` ORDER BY ` + writeOrder + ` LIMIT 1),
	(SELECT true FROM entry w LEFT JOIN record_mark m USING (target_table, record_key)
		WHERE w.base = @base AND w.status = 'replaying' AND w.due_at <= ` + sqlNow + ` AND ` + notResting + ` ORDER BY ` + entryOrder + ` LIMIT 1),
	(SELECT true FROM (` + dueForecast + `) f),
	(SELECT true ` + dueRestore + ` ORDER BY w.due_at LIMIT 1),
	false)`

// dueMirror tells the same of rows to mirror.
const dueMirror = `mirror_held_until <= replay_now() AND coalesce(
	(SELECT true FROM mirror_row r WHERE r.base = @base AND r.dirty_at IS NOT NULL AND r.due_at <= ` + sqlNow + ` ORDER BY r.due_at LIMIT 1), false)`

// dueWork tells of a base that is open whether there is anything to do: on a halted one only rows to
// mirror are (R9).
const dueWork = `(halted_at IS NULL AND ` + dueData + ` OR ` + dueMirror + `)`

// open is true of a base to which something may be sent: it is not paused, and not halted for its token
// or quota (R9).
const open = `(halted_at IS NULL OR halt_kind = 'data') AND coalesce(paused_until, '-infinity') <= replay_now()`

// workable is true of an open base that nobody works on.
const workable = `lease_until <= replay_now() AND ` + open

// The orders in which writes and entries are worked on; each has an index.
const (
	writeOrder = `w.seq`
	entryOrder = `w.priority, w.rank, w.target_table, w.version_sort, w.seq`
	runOrder   = `w.run_id, w.rank, w.target_table, w.version_sort, w.seq`
)

// notResting is true of an item w unless its record m rests; an item whose own write was given up on
// may be sent again meanwhile, as the same write (R4b).
const notResting = `(m.rest_until IS NULL OR m.rest_until <= replay_now() OR EXISTS (
	SELECT 1 FROM intent_member im JOIN intent i ON i.id = im.intent_id WHERE im.member_id = w.id AND i.state = 'open' AND i.retry))`

// AcquireLease takes the lease of a base that is workable and has work due.
// ok is false when there is nothing to take. A predecessor that died between take and intend leaves
// its records behind; each is charged with a death (R7).
func (s *Store) AcquireLease(ctx context.Context, base, holder string, length time.Duration) (l Lease, ok bool, err error) {
	err = s.InTx(ctx, func(ctx context.Context) error {
		const acquireLease = `
			UPDATE base SET lease_token = lease_token + 1, lease_holder = @holder, lease_until = replay_now() + @length,
				progress_at = replay_now()
			WHERE name = @base AND ` + workable + ` AND ` + dueWork + ` RETURNING lease_token, taking`
		rows, err := s.db(ctx).Query(ctx, acquireLease, names{"base": base, "holder": holder, "length": length})
		if err != nil {
			return err
		}
		type taken struct {
			Token  int64
			Taking []byte
		}
		got, err := pgx.CollectRows(rows, pgx.RowToStructByPos[taken])
		if err != nil || len(got) == 0 {
			return err
		}
		l, ok = Lease{Base: base, Token: got[0].Token, Length: length}, true
		return s.chargeDeaths(ctx, base, got[0].Taking)
	})
	return l, ok, interpretError("acquire lease", err)
}

// RecordRef names one record of a target by the key that entries and writes share.
type RecordRef struct{ Target, Key string }

func (s *Store) chargeDeaths(ctx context.Context, base string, taking []byte) error {
	var refs []RecordRef
	if err := read(taking, &refs); err != nil || len(refs) == 0 {
		return err
	}
	if err := s.ChargeRecords(ctx, refs); err != nil {
		return err
	}
	_, err := s.db(ctx).Exec(ctx, `UPDATE base SET taking = '[]' WHERE name = $1`, base)
	return err
}

// ChargeTaken charges the records of a chunk that panicked, under its lease.
func (s *Store) ChargeTaken(ctx context.Context, l Lease, refs []RecordRef) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		if err := s.ChargeRecords(ctx, refs); err != nil {
			return err
		}
		_, err := s.db(ctx).Exec(ctx, `UPDATE base SET taking = '[]' WHERE name = $1`, l.Base)
		return err
	})
	return interpretError("charge records", err)
}

// ForgetDeaths gives a record a fresh start, once its members have been told.
func (s *Store) ForgetDeaths(ctx context.Context, ref RecordRef) error {
	_, err := s.db(ctx).Exec(ctx, `UPDATE record_mark SET deaths = 0 WHERE target_table = $1 AND record_key = $2`, ref.Target, ref.Key)
	return interpretError("forget deaths", err)
}

// ChargeRecords notes that a pass died or panicked over these records before it stored an intent.
func (s *Store) ChargeRecords(ctx context.Context, refs []RecordRef) error {
	for _, r := range refs {
		const chargeRecord = `INSERT INTO record_mark (target_table, record_key, deaths) VALUES ($1, $2, 1)
			ON CONFLICT (target_table, record_key) DO UPDATE SET deaths = record_mark.deaths + 1`
		if _, err := s.db(ctx).Exec(ctx, chargeRecord, r.Target, r.Key); err != nil {
			return interpretError("charge record", err)
		}
	}
	return nil
}

// fence renews the lease by progress and refuses a holder whose lease is gone. It locks the base, so
// it comes first in every transaction of a pass.
func (s *Store) fence(ctx context.Context, l Lease) error {
	const renewLease = `UPDATE base SET lease_until = replay_now() + @length, progress_at = replay_now()
		WHERE name = @base AND lease_token = @token AND lease_until > replay_now()`
	tag, err := s.db(ctx).Exec(ctx, renewLease, names{"base": l.Base, "token": l.Token, "length": l.Length})
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrStale
	}
	return nil
}

// Renew renews a lease by progress that stores nothing.
func (s *Store) Renew(ctx context.Context, l Lease) error {
	return interpretError("renew lease", s.fence(ctx, l))
}

// fenced runs do in a transaction that holds the lease.
func (s *Store) fenced(ctx context.Context, l Lease, do func(ctx context.Context) error) error {
	return s.InTx(ctx, func(ctx context.Context) error {
		if err := s.fence(ctx, l); err != nil {
			return err
		}
		return do(ctx)
	})
}

// ReleaseLease ends a lease. The base row is locked against presses first, and due work is looked
// for in a second statement, so that nothing pressed meanwhile is missed (R1); wake is called inside
// the transaction when there is some.
func (s *Store) ReleaseLease(ctx context.Context, l Lease, wake func(ctx context.Context) error) error {
	err := s.InTx(ctx, func(ctx context.Context) error {
		const lockBase = `SELECT 1 FROM base WHERE name = $1 AND lease_token = $2 FOR UPDATE`
		tag, err := s.db(ctx).Exec(ctx, lockBase, l.Base, l.Token)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		const releaseLease = `UPDATE base SET lease_until = '-infinity', lease_holder = '', taking = '[]', woken_at = replay_now() WHERE name = @base
			RETURNING ` + open + ` AND ` + dueWork
		var due bool
		if err := s.db(ctx).QueryRow(ctx, releaseLease, names{"base": l.Base}).Scan(&due); err != nil || !due {
			return err
		}
		return wake(ctx)
	})
	return interpretError("release lease", err)
}

// WakeDueBases calls wake for every base with due work and no living lease that nobody has woken for
// a while (R5). It is the safety net behind every stored wait.
func (s *Store) WakeDueBases(ctx context.Context, every time.Duration, wake func(ctx context.Context, base string) error) error {
	names, err := s.idsOf(ctx, "list bases", `SELECT name FROM base WHERE `+workable+` AND woken_at <= replay_now() - $1::interval ORDER BY name`, every)
	if err != nil {
		return err
	}
	for _, base := range names {
		if err := s.wakeDueBase(ctx, base, every, wake); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) wakeDueBase(ctx context.Context, base string, every time.Duration, wake func(ctx context.Context, base string) error) error {
	err := s.InTx(ctx, func(ctx context.Context) error {
		const wakeBase = `UPDATE base SET woken_at = replay_now(), asked_at = CASE WHEN asked_at > progress_at THEN asked_at ELSE replay_now() END
			WHERE name = @base AND ` + workable + ` AND woken_at <= replay_now() - @every::interval AND ` + dueWork
		tag, err := s.db(ctx).Exec(ctx, wakeBase, names{"base": base, "every": every})
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return wake(ctx, base)
	})
	return interpretError("wake base", err)
}

// EnsureBases makes a row for every configured base and token owner.
func (s *Store) EnsureBases(ctx context.Context, bases, owners []string) error {
	_, err := s.db(ctx).Exec(ctx, `INSERT INTO base (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`, bases)
	if err != nil {
		return interpretError("ensure bases", err)
	}
	_, err = s.db(ctx).Exec(ctx, `INSERT INTO token_budget (owner) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`, owners)
	return interpretError("ensure token budgets", err)
}
