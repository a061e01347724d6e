package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func TestLeaseHasOneHolder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.wide(t, 20)
	b.claim(t, press(b.file(t, "a").ID))
	const contenders = 50
	won, errs, leases := make([]bool, contenders), make([]error, contenders), make([]store.Lease, contenders)
	var wg sync.WaitGroup
	for i := range contenders {
		wg.Go(func() { leases[i], won[i], errs[i] = s.AcquireLease(t.Context(), orders, fmt.Sprint(i), time.Minute) })
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	first := slices.Index(won, true)
	require.GreaterOrEqual(t, first, 0)
	require.Equal(t, first, len(won)-1-slices.Index(reversed(won), true), "one holder")
	state, err := b.store.FindBase(t.Context(), orders)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint(first), state.LeaseHolder)
	require.False(t, b.release(t, store.Lease{Base: orders, Token: leases[first].Token + 1}), "who holds nothing releases nothing")
	require.True(t, b.release(t, leases[first]))
	require.Greater(t, b.lease(t, orders).Token, leases[first].Token)
}

func reversed(list []bool) []bool {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

// There is nothing to lease on a base that is leased, halted, paused, or has nothing due.
func TestLeaseNeedsDueWork(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	refused := func(why string) {
		t.Helper()
		_, ok, err := b.store.AcquireLease(t.Context(), orders, "x", time.Minute)
		require.NoError(t, err)
		require.False(t, ok, why)
	}
	s := store.New(b.db.Pool, "") // no mirror: its rows are work too
	require.NoError(t, b.store.PauseBase(t.Context(), orders, time.Minute, "429"))
	b.accept(t, orders, "a", "{}")
	refused("paused")
	b.advance(t, time.Minute)
	b.lease(t, orders)
	refused("leased")
	b.advance(t, 35*time.Second)
	b.exec(t, `UPDATE base SET halted_at = now() WHERE name = $1`, orders)
	refused("halted")
	require.NoError(t, b.store.ResumeBase(t.Context(), orders))
	m := b.take(t, b.lease(t, orders)).Items[0].Members[0]
	b.advance(t, 35*time.Second)
	l := b.lease(t, orders)
	require.NoError(t, s.GiveUp(t.Context(), l, nil, []store.Postpone{{Members: []store.MemberRef{m.MemberRef}, Wait: time.Second}}, nil))
	require.False(t, b.release(t, l), "nothing is due")
	refused("not due")
	b.advance(t, time.Second)
	b.lease(t, orders)
}

// fencedVerbs are the transactions of a pass.
func fencedVerbs(b *bundle, it store.Item, in store.OpenIntent) map[string]func(ctx context.Context, l store.Lease) error {
	m := it.Members[0]
	return map[string]func(ctx context.Context, l store.Lease) error{
		"take": func(ctx context.Context, l store.Lease) error { _, err := b.store.TakeChunk(ctx, l); return err },
		"charge": func(ctx context.Context, l store.Lease) error {
			return b.store.ChargeTaken(ctx, l, []store.RecordRef{it.Ref})
		},
		"set target ID": func(ctx context.Context, l store.Lease) error { return b.store.SetTargetID(ctx, l, m.MemberRef, "z") },
		"intend": func(ctx context.Context, l store.Lease) error {
			_, err := b.store.StoreIntents(ctx, l, []store.Intend{writeOf(it)}, nil, bounds)
			return err
		},
		"settle": func(ctx context.Context, l store.Lease) error {
			return b.store.Settle(ctx, l, []store.Settlement{outcome(m, deadletter.Superseded, deadletter.ReasonNewerFromSender)})
		},
		"settle landings": func(ctx context.Context, l store.Lease) error {
			return b.store.SettleLandings(ctx, l, []store.Landing{landed(in, it.Ref)}, nil)
		},
		"settle misses": func(ctx context.Context, l store.Lease) error {
			return b.store.SettleMisses(ctx, l, []store.Miss{{Intent: in, Ref: it.Ref, Fate: deadletter.FateUnknown}})
		},
		"give up": func(ctx context.Context, l store.Lease) error {
			return b.store.GiveUp(ctx, l, []store.GivenUp{{IntentID: in.ID, Ref: it.Ref, Fate: deadletter.FateOpen}}, []store.Postpone{{Members: []store.MemberRef{m.MemberRef}}}, nil)
		},
		"look later": func(ctx context.Context, l store.Lease) error {
			return b.store.LookLater(ctx, l, []store.OpenIntent{in}, time.Second)
		},
		"begin mirror": func(ctx context.Context, l store.Lease) error { return b.store.BeginMirror(ctx, l, []string{m.ID}) },
		"settle mirror": func(ctx context.Context, l store.Lease) error {
			return b.store.SettleMirror(ctx, l, []store.Mirrored{{EntryID: m.ID, DLQRecordID: "recX", Revision: 1}}, time.Minute)
		},
		"postpone mirror": func(ctx context.Context, l store.Lease) error {
			return b.store.PostponeMirror(ctx, l, []store.MirrorDelay{{EntryID: m.ID, Wait: time.Hour}})
		},
		"hold mirror": func(ctx context.Context, l store.Lease) error { return b.store.HoldMirror(ctx, l, time.Hour, "x") },
	}
}

// Who has lost the lease, by its end or to another, changes nothing, whatever it tries (R4).
func TestExpiredHolderChangesNothing(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	l, it := b.work(t, b.file(t, "a").ID)
	in := b.intend(t, l, writeOf(it))
	b.advance(t, 35*time.Second) // to the instant at which it ends
	verbs := fencedVerbs(b, it, in)
	for _, when := range []string{"expired", "taken over"} {
		if when == "taken over" {
			b.lease(t, orders)
		}
		before := b.state(t)
		for name, do := range verbs {
			require.ErrorIs(t, do(t.Context(), l), store.ErrStale, "%s, %s", name, when)
			require.Empty(t, cmp.Diff(before, b.state(t)), "%s, %s", name, when)
		}
		if when == "taken over" {
			b.release(t, l)
			require.Empty(t, cmp.Diff(before, b.state(t)), "released by another")
		}
	}
}

// The lease is renewed by progress alone: by every transaction of the pass (R4).
func TestProgressRenewsTheLease(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	l, it := b.work(t, b.file(t, "a").ID)
	for range 3 {
		b.advance(t, 34*time.Second)
		b.take(t, l)
	}
	b.advance(t, 34*time.Second)
	in := b.intend(t, l, writeOf(it))
	b.advance(t, 34*time.Second)
	require.NoError(t, b.store.LookLater(t.Context(), l, []store.OpenIntent{in}, time.Second))
	b.advance(t, 35*time.Second)
	require.ErrorIs(t, b.store.LookLater(t.Context(), l, []store.OpenIntent{in}, time.Second), store.ErrStale)
}

// worker makes passes as jobs do: each ends at once when the lease lives, and when its own ends with
// work due, another is asked for.
type worker struct {
	store *store.Store
	jobs  sync.WaitGroup
	mu    sync.Mutex
	errs  []error
}

func (w *worker) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.errs = append(w.errs, err)
}

func (w *worker) start(ctx context.Context) {
	w.jobs.Go(func() {
		l, ok, err := w.store.AcquireLease(ctx, orders, "worker", time.Minute)
		if w.note(err); !ok {
			return
		}
		w.note(w.work(ctx, l))
		again := false
		w.note(w.store.ReleaseLease(ctx, l, func(context.Context) error {
			again = true
			return nil
		}))
		if again {
			w.start(ctx)
		}
	})
}

// work settles what is due until nothing is.
func (w *worker) work(ctx context.Context, l store.Lease) error {
	for {
		c, err := w.store.TakeChunk(ctx, l)
		if err != nil || len(c.Items) == 0 {
			return err
		}
		var settle []store.Settlement
		for _, it := range c.Items {
			for _, m := range it.Members {
				settle = append(settle, outcome(m, deadletter.Superseded, deadletter.ReasonNewerFromSender))
			}
		}
		if err := w.store.Settle(ctx, l, settle); err != nil {
			return err
		}
	}
}

// Presses and live writes race with the ends of passes, and no wake-up is lost: once all jobs have
// ended, nothing is left that nobody was asked to do (R1).
func TestNoWakeUpIsLost(t *testing.T) {
	t.Parallel()
	b := unmirrored(t)
	w := &worker{store: store.New(b.pool(t, 20), "")}
	const people, presses = 8, 25
	ids := b.fileMany(t, people*presses)
	var wg sync.WaitGroup
	for i := range people {
		wg.Go(func() {
			for j := range presses {
				if j%4 == 0 {
					_, err := w.store.AcceptWrites(t.Context(), []store.Incoming{incoming(orders, fmt.Sprint(i, j), "{}")})
					w.note(err)
				} else {
					_, err := w.store.ClaimEntries(t.Context(), press(ids[i*presses+j]))
					w.note(err)
				}
				w.start(t.Context())
			}
		})
	}
	wg.Wait()
	w.jobs.Wait()
	require.NoError(t, errors.Join(w.errs...))
	require.Equal(t, "0 0", b.value(t, `SELECT concat_ws(' ', (SELECT count(*) FROM entry WHERE status = 'replaying'), (SELECT count(*) FROM write WHERE status = 'queued'))`))
	require.Equal(t, "144 56", b.value(t, `SELECT concat_ws(' ', (SELECT count(*) FROM run WHERE status = 'completed'), (SELECT count(*) FROM write WHERE status = 'stale'))`))
}

// blocked waits until a transaction of this database waits for another, or done is closed.
func (b *bundle) blocked(t *testing.T, done <-chan struct{}) {
	t.Helper()
	const waiting = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
	require.Eventually(t, func() bool {
		select {
		case <-done:
			return true
		default:
			return b.value(t, `SELECT (`+waiting+`)::text`) != "0"
		}
	}, time.Minute, time.Millisecond)
}

// during runs other while a press has claimed and not yet committed, and returns when both are done.
func (b *bundle) during(t *testing.T, claim store.Claim, other func(s *store.Store) error) (pressed, met error) {
	t.Helper()
	s := store.New(b.pool(t, 4), "")
	claimed, commit, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		pressed = s.InTx(t.Context(), func(ctx context.Context) error {
			_, err := s.ClaimEntries(ctx, claim)
			close(claimed)
			<-commit
			return err
		})
	})
	<-claimed
	wg.Go(func() {
		defer close(done)
		met = other(s)
	})
	b.blocked(t, done)
	close(commit)
	wg.Wait()
	return pressed, met
}

// A pass that ends while a press is about to commit sees what was pressed (R1).
func TestReleaseWaitsForAPress(t *testing.T) {
	t.Parallel()
	b := unmirrored(t)
	ids := b.fileIDs(t, "a", "b")
	l, it := b.work(t, ids[0])
	require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{outcome(it.Members[0], deadletter.Superseded, deadletter.ReasonNewerFromSender)}))
	woken := false
	pressed, released := b.during(t, press(ids[1]), func(s *store.Store) error {
		return s.ReleaseLease(t.Context(), l, func(context.Context) error {
			woken = true
			return nil
		})
	})
	require.NoError(t, pressed)
	require.NoError(t, released)
	require.True(t, woken)
}

// A halt that comes while a press is about to commit gives back what was claimed (W7).
func TestHaltWaitsForAPress(t *testing.T) {
	t.Parallel()
	b := unmirrored(t)
	id := b.file(t, "a").ID
	pressed, halted := b.during(t, press(id), func(s *store.Store) error {
		_, err := s.HaltBase(t.Context(), orders, "the token is gone", "service")
		return err
	})
	require.NoError(t, pressed)
	require.NoError(t, halted)
	e := b.show(t, id)
	require.Equal(t, []any{deadletter.PendingReview, deadletter.ReasonBaseHalted}, []any{e.Status, e.Replay.Reason})
	require.Equal(t, deadletter.RunStopped, b.run(t, e.Replay.RunID).Status)
}

// A pass that died between take and intend is charged to its records once, when the lease is taken
// over; one that ended in order, or had stored its intents, is not (R7).
func TestDeathsAreCharged(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	ids := b.fileIDs(t, "a", "b")
	b.claim(t, press(ids...))
	b.take(t, b.lease(t, orders))
	deaths := func() string {
		return b.value(t, `SELECT coalesce(string_agg(record_key || deaths, ' ' ORDER BY record_key), '') FROM record_mark`)
	}
	require.Empty(t, deaths())

	b.advance(t, 35*time.Second) // dead after take
	l := b.lease(t, orders)
	require.Equal(t, "k:a1 k:b1", deaths())
	b.take(t, l)
	b.release(t, l) // ended in order
	l = b.lease(t, orders)
	require.Equal(t, "k:a1 k:b1", deaths())

	c := b.take(t, l)
	require.NoError(t, b.store.ChargeTaken(t.Context(), l, []store.RecordRef{c.Items[0].Ref})) // panicked
	require.Equal(t, "k:a2 k:b1", deaths())
	b.advance(t, 35*time.Second)
	l = b.lease(t, orders)
	require.Equal(t, "k:a2 k:b1", deaths(), "charged once")

	c = b.take(t, l)
	require.Len(t, c.Items, 1, "two deaths: alone")
	require.Equal(t, 2, c.Items[0].Mark.Deaths)
	require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{outcome(c.Items[0].Members[0], deadletter.Superseded, deadletter.ReasonNewerFromSender)}))
	require.Equal(t, "k:a0 k:b1", deaths(), "settled: a fresh start")

	b.advance(t, 35*time.Second) // dead after the settling of one, before the next chunk
	l = b.lease(t, orders)
	require.Equal(t, "k:a1 k:b1", deaths())
	c = b.take(t, l)
	require.Equal(t, "b", c.Items[0].TargetID)
	b.intend(t, l, writeOf(c.Items[0]))
	b.advance(t, 35*time.Second) // dead after intend
	b.lease(t, orders)
	require.Equal(t, "k:a1 k:b1", deaths())
	require.NoError(t, b.store.ForgetDeaths(t.Context(), store.RecordRef{Target: targetOf(orders), Key: "k:a"}))
	require.Equal(t, "k:a0 k:b1", deaths())
}

// A death that comes after some members of a chunk were settled or postponed is still charged.
func TestDeathAfterAnEarlySettlement(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	b.claim(t, press(b.fileIDs(t, "a", "b", "c")...))
	l := b.lease(t, orders)
	items := b.take(t, l).Items
	require.Len(t, items, 3)
	require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{outcome(items[0].Members[0], deadletter.ReplayFailed, deadletter.ReasonUnknownSource)}))
	require.NoError(t, b.store.GiveUp(t.Context(), l, nil, []store.Postpone{{Members: []store.MemberRef{items[1].Members[0].MemberRef}, Wait: time.Second}}, nil))
	require.NoError(t, b.store.LookLater(t.Context(), l, nil, time.Second))
	b.advance(t, 35*time.Second)
	b.lease(t, orders)
	mark, err := b.store.FindMark(t.Context(), items[2].Ref)
	require.NoError(t, err)
	require.Equal(t, 1, mark.Deaths)
}

// Each base with due work and nobody at it is asked for once per interval, and no other (R5).
func TestWakeDueBases(t *testing.T) {
	t.Parallel()
	bases := []string{"due", "halted", "idle", "later", "leased", "paused", "resting"}
	b := frozen(t, bases...)
	s := store.New(b.db.Pool, "")
	for _, base := range bases {
		if base != "idle" {
			b.accept(t, base, base, "{}")
		}
	}
	b.lease(t, "leased")
	b.exec(t, `UPDATE base SET halted_at = replay_now() WHERE name = 'halted'`)
	require.NoError(t, s.PauseBase(t.Context(), "paused", time.Minute, "429"))
	b.exec(t, `UPDATE write SET due_at = replay_now() + interval '30 seconds' WHERE base = 'later'`)
	b.exec(t, `INSERT INTO record_mark (target_table, record_key, rest_until) VALUES ($1, 'k:resting', replay_now() + interval '40 seconds')`, targetOf("resting"))
	woken := func() (names []string) {
		t.Helper()
		require.NoError(t, s.WakeDueBases(t.Context(), 5*time.Second, func(ctx context.Context, base string) error {
			_, inTx := store.TxFrom(ctx)
			require.True(t, inTx)
			names = append(names, base)
			return nil
		}))
		return names
	}
	require.Equal(t, []string{"due"}, woken())
	require.Empty(t, woken(), "once per interval")
	b.advance(t, 5*time.Second-time.Microsecond)
	require.Empty(t, woken())
	b.advance(t, time.Microsecond)
	require.Equal(t, []string{"due"}, woken())
	b.advance(t, 25*time.Second)
	require.Equal(t, []string{"due", "later"}, woken())
	b.advance(t, 10*time.Second)
	require.Equal(t, []string{"due", "later", "leased", "resting"}, woken(), "a lease ended, a rest is over")
	b.advance(t, 20*time.Second)
	require.Equal(t, []string{"due", "later", "leased", "paused", "resting"}, woken())
	require.NoError(t, s.ResumeBase(t.Context(), "halted"))
	require.Equal(t, []string{"halted"}, woken())
	failing := errors.New("no queue")
	b.advance(t, time.Minute)
	require.ErrorIs(t, s.WakeDueBases(t.Context(), time.Second, func(context.Context, string) error { return failing }), failing)
	require.NotEmpty(t, woken(), "a wake that failed is not counted")
}
