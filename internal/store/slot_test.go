package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/store"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// paceOf four requests a second, the default.
var pace = store.Pace{Owner: "owner", Interval: 250 * time.Millisecond, Burst: 5, Window: 1100 * time.Millisecond, OwnerInterval: 20 * time.Millisecond}

// most is the largest number of departures within any window.
func most(departures []time.Time, window time.Duration) int {
	n := 0
	for i, from := range departures {
		in := 0
		for _, d := range departures[i:] {
			if d.Before(from.Add(window)) {
				in++
			}
		}
		n = max(n, in)
	}
	return n
}

// traffic is what really leaves for one base.
type traffic struct {
	b          *bundle
	base       string
	now        time.Time
	departures []time.Time
}

func (f *traffic) advance(t testing.TB, by time.Duration) {
	f.b.advance(t, by)
	f.now = f.now.Add(by)
}

// request books n requests and lets the first leave, late by some time.
func (f *traffic) request(t testing.TB, n int, late time.Duration) {
	wait, err := f.b.store.ReserveSlots(t.Context(), f.base, n, pace)
	require.NoError(t, err)
	f.advance(t, wait+late)
	if late > 0 {
		require.NoError(t, f.b.store.NoteDeparture(t.Context(), f.base, n, pace.Interval))
	}
	f.departures = append(f.departures, f.now)
}

// However a pass mixes single requests, pairs of a read and a write, and previews of other processes,
// and however late each leaves, no window holds six departures, and the average is the pace (W4).
func TestNeverSixWithinAWindow(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	now := morning
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		base := fmt.Sprint("base ", n)
		require.NoError(t, b.store.EnsureBases(t.Context(), []string{base}, nil))
		f := &traffic{b: b, base: base, now: now}
		defer func() { now = f.now }()
		millis := func(label string, limit int) time.Duration {
			return time.Duration(rapid.IntRange(0, limit).Draw(rt, label)) * time.Millisecond
		}
		begin := f.now
		for range rapid.IntRange(1, 16).Draw(rt, "steps") {
			late := time.Duration(0)
			if rapid.Bool().Draw(rt, "late") {
				late = millis("by", 700)
			}
			if rapid.Bool().Draw(rt, "single") {
				f.request(t, 1, late)
				continue
			}
			b.accept(t, base, "r", "{}") // something to be leased
			l, ok, err := b.store.AcquireLease(t.Context(), base, "x", time.Minute)
			require.NoError(t, err)
			require.True(t, ok)
			f.request(t, 2, late)
			f.advance(t, millis("read takes", 400))
			if rapid.Bool().Draw(rt, "preview meanwhile") {
				f.request(t, 1, 0)
			}
			if rapid.Bool().Draw(rt, "writes") {
				_, err = b.store.StoreIntents(t.Context(), l, nil, nil, bounds)
				require.NoError(t, err)
				f.departures = append(f.departures, f.now)
			}
			require.NoError(t, b.store.ReleaseLease(t.Context(), l, noWake))
		}
		require.LessOrEqual(rt, most(f.departures, pace.Window), 5)
		require.True(rt, slices.IsSortedFunc(f.departures, time.Time.Compare))
		if len(f.departures) > 5 {
			require.LessOrEqual(rt, float64(len(f.departures)-5), f.now.Sub(begin).Seconds()*4, "on average four a second")
		}
	})
}

// What the limits come to: pairs of a read and its write alone reach 3.6 a second; with a mirror row
// between them it is the full pace.
func TestPaceOfPairs(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	f := &traffic{b: b, now: morning}
	leaves := func(sizes ...int) (after []int64) {
		b.advance(t, time.Minute)
		f.base, f.departures = fmt.Sprint("base ", b.next()), nil
		require.NoError(t, b.store.EnsureBases(t.Context(), []string{f.base}, nil))
		for i := range 7 {
			f.request(t, sizes[i%len(sizes)], 0)
			after = append(after, f.departures[i].Sub(f.departures[0]).Milliseconds())
		}
		return after
	}
	require.Equal(t, []int64{0, 250, 500, 750, 1000, 1250, 1500}, leaves(1))
	require.Equal(t, []int64{0, 500, 1100, 1600, 2200, 2700, 3300}, leaves(2))
	require.Equal(t, []int64{0, 375, 750, 1125, 1500, 1875, 2250}, leaves(2, 1))
}

// A write that leaves late, behind its read, moves the slots behind it.
func TestLateWriteMovesTheNextSlot(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	l, it := b.work(t, b.file(t, "a").ID)
	wait, err := b.store.ReserveSlots(t.Context(), orders, 2, pace)
	require.NoError(t, err)
	require.Zero(t, wait)
	b.advance(t, 2*time.Second)
	b.intend(t, l, writeOf(it))
	wait, err = b.store.ReserveSlots(t.Context(), orders, 2, pace)
	require.NoError(t, err)
	require.Equal(t, 250*time.Millisecond, wait, "not at once, as two seconds after the booking")
}

// Many processes book slots of one base at once: none gets another's.
func TestSlotsOfManyProcesses(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	s := b.wide(t, 20)
	const n = 40
	waits, errs := make([]time.Duration, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { waits[i], errs[i] = s.ReserveSlots(t.Context(), orders, 1, pace) })
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	slices.Sort(waits)
	for i, wait := range waits {
		require.Equal(t, time.Duration(i)*250*time.Millisecond, wait)
	}
}

// The bases of one owner share fifty requests a second, however many they are; a base that waits for a
// late slot of its own keeps none of the others waiting (W4).
func TestOwnersBudgetIsShared(t *testing.T) {
	t.Parallel()
	const n = 120
	var bases []string
	for i := range n {
		bases = append(bases, fmt.Sprint("base ", i))
	}
	b := frozen(t, bases...)
	var leave []time.Time
	for _, base := range bases {
		wait, err := b.store.ReserveSlots(t.Context(), base, 1, pace)
		require.NoError(t, err)
		leave = append(leave, morning.Add(wait))
	}
	slices.SortFunc(leave, time.Time.Compare)
	require.Equal(t, 50, most(leave, time.Second))
	require.Equal(t, morning.Add((n-1)*20*time.Millisecond), leave[n-1])

	b.advance(t, time.Minute)
	slow := pace
	slow.Interval = 10 * time.Second
	for i := range 3 {
		wait, err := b.store.ReserveSlots(t.Context(), "base 0", 1, slow)
		require.NoError(t, err)
		require.Equal(t, time.Duration(i)*10*time.Second, wait)
	}
	wait, err := b.store.ReserveSlots(t.Context(), "base 1", 1, pace)
	require.NoError(t, err)
	require.Equal(t, 20*time.Millisecond, wait, "not behind the slow base's slots of the next half minute")
	_, err = b.store.ReserveSlots(t.Context(), "base 1", 1, store.Pace{Owner: "nobody"})
	require.Error(t, err)
}

// Bookings of an owner never overlap, each is the first that fits, and those that are over go.
func TestBookedSpansNeverOverlap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		now := morning
		var booked []time.Time
		type span struct{ from, to time.Time }
		var all []span
		for range rapid.IntRange(1, 40).Draw(rt, "bookings") {
			now = now.Add(time.Duration(rapid.IntRange(0, 30).Draw(rt, "passes")) * time.Millisecond)
			start := now.Add(time.Duration(rapid.IntRange(0, 300).Draw(rt, "start")) * time.Millisecond)
			length := time.Duration(rapid.IntRange(1, 40).Draw(rt, "length")) * time.Millisecond
			var at time.Time
			at, booked = store.BookSpan(booked, now, start, length)
			free := func(from time.Time) bool {
				return !slices.ContainsFunc(all, func(s span) bool { return from.Before(s.to) && s.from.Before(from.Add(length)) })
			}
			require.False(rt, at.Before(start))
			require.True(rt, free(at), "overlaps")
			for earlier := start; earlier.Before(at); earlier = earlier.Add(time.Millisecond) {
				require.False(rt, free(earlier), "not the first that fits")
			}
			all = append(all, span{at, at.Add(length)})
			require.True(rt, slices.IsSortedFunc(booked, time.Time.Compare))
			require.Zero(rt, len(booked)%2)
			require.False(rt, len(booked) > 2 && !booked[1].After(now), "what is over is dropped")
		}
	})
}
