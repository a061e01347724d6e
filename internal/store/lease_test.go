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
