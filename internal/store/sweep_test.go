package store_test

import (
	"context"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

const stuckAfter = 5 * time.Minute

// stuck are the entries that are listed as stuck, and those that a sweep returns.
func (b *bundle) stuck(t *testing.T) (listed, swept []string) {
	t.Helper()
	es, err := b.store.ListStuck(t.Context(), stuckAfter)
	require.NoError(t, err)
	for _, e := range es {
		listed = append(listed, e.ID)
	}
	swept, err = b.store.SweepStuck(t.Context(), stuckAfter)
	require.NoError(t, err)
	return listed, swept
}

// An entry is stuck once it has been due, and its base without progress, for the whole threshold, to
// the instant (S1).
func TestStuckAtTheInstant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(t *testing.T, b *bundle, id string)
		after   time.Duration // from the claim
	}{
		"nobody came": {func(*testing.T, *bundle, string) {}, stuckAfter},
		"a pass took it and died": {func(t *testing.T, b *bundle, _ string) {
			b.advance(t, time.Minute)
			b.take(t, b.lease(t, orders))
		}, time.Minute + stuckAfter},
		"a slow pass that lived for a while": {func(t *testing.T, b *bundle, _ string) {
			l := b.lease(t, orders)
			for range 20 {
				b.advance(t, 30*time.Second)
				b.take(t, l)
			}
		}, 10*time.Minute + stuckAfter},
		"it waited for its next attempt": {func(t *testing.T, b *bundle, id string) {
			l := b.lease(t, orders)
			m := b.take(t, l).Items[0].Members[0]
			require.NoError(t, b.store.GiveUp(t.Context(), l, nil, []store.Postpone{{Members: []store.MemberRef{m.MemberRef}, Wait: time.Minute}}, nil))
		}, time.Minute + stuckAfter},
		"its base was paused": {func(t *testing.T, b *bundle, _ string) {
			require.NoError(t, b.store.PauseBase(t.Context(), orders, 2*time.Minute, "429"))
		}, 2*time.Minute + stuckAfter},
		"its record rested": {func(t *testing.T, b *bundle, _ string) {
			b.exec(t, `INSERT INTO record_mark (target_table, record_key, rest_until) VALUES ($1, 'k:a', replay_now() + interval '85 seconds')`, targetOf(orders))
		}, unanswered + stuckAfter},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := frozen(t)
			id := b.file(t, "a").ID
			b.claim(t, press(id))
			c.prepare(t, b, id)
			now, err := b.store.Now(t.Context())
			require.NoError(t, err)
			b.advance(t, c.after-now.Sub(morning)-time.Microsecond)
			listed, swept := b.stuck(t)
			require.Empty(t, listed)
			require.Empty(t, swept)
			b.advance(t, time.Microsecond)
			listed, swept = b.stuck(t)
			require.Equal(t, []string{id}, listed)
			require.Equal(t, []string{id}, swept)
			listed, swept = b.stuck(t)
			require.Empty(t, listed)
			require.Empty(t, swept)
		})
	}
}

// What waits for a person or for a living pass is never stuck, however long.
func TestNeverStuck(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	ids := b.fileIDs(t, "pending", "claimed")
	b.claim(t, press(ids[1]))
	l, ok, err := b.store.AcquireLease(t.Context(), orders, "slow", 24*time.Hour)
	require.NoError(t, err)
	require.True(t, ok)
	b.advance(t, 23*time.Hour)
	listed, swept := b.stuck(t)
	require.Empty(t, append(listed, swept...), "a slow but living job is never swept")
	b.release(t, l)
	b.exec(t, `UPDATE base SET halted_at = replay_now() WHERE name = $1`, orders)
	b.advance(t, time.Hour)
	listed, swept = b.stuck(t)
	require.Empty(t, append(listed, swept...), "halted")
}

// What stood still because everything did is worked on, not returned: where a pass was asked for only
// now, the sweep lets that come first (R5).
func TestRecoveryComesBeforeTheSweep(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	b.claim(t, press(b.fileIDs(t, "a", "b")...))
	b.take(t, b.lease(t, orders))
	b.advance(t, time.Hour) // nothing ran, the sweeper neither
	asked := 0
	ask := func() {
		t.Helper()
		require.NoError(t, b.store.WakeDueBases(t.Context(), time.Second, func(context.Context, string) error {
			asked++
			return nil
		}))
	}
	ask()
	require.Equal(t, 1, asked)
	listed, swept := b.stuck(t)
	require.Len(t, listed, 2, "an admin sees them")
	require.Empty(t, swept)
	b.advance(t, 10*time.Second-time.Microsecond)
	ask()
	_, swept = b.stuck(t)
	require.Empty(t, swept)
	b.advance(t, time.Microsecond)
	ask()
	_, swept = b.stuck(t)
	require.Len(t, swept, 2, "nobody came")
}

// A swept entry says so and keeps its claim from those who come back with it; its run is told, its write
// is kept (S1, R2).
func TestSweptEntryIsFenced(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	id := b.file(t, "a").ID
	l, it := b.work(t, id)
	in := b.intend(t, l, writeOf(it))
	b.advance(t, stuckAfter)
	_, swept := b.stuck(t)
	require.Equal(t, []string{id}, swept)
	e := b.show(t, id)
	require.Equal(t, []any{deadletter.PendingReview, int64(2), deadletter.Outcome(""), deadletter.ReasonSwept, "sweeper", []deadletter.Flag{deadletter.MayHaveBeenWritten}},
		[]any{e.Status, e.Claim, e.Replay.Outcome, e.Replay.Reason, e.Replay.ReplayedBy, e.Flags})
	require.Contains(t, e.Replay.Notes, "Nobody had worked on this entry for 5m0s")
	require.Contains(t, e.Replay.Notes, "it may have been changed")
	line := b.lastLine(t, id)
	require.Equal(t, []any{"swept", "sweeper", deadletter.ReasonSwept, e.Replay.Notes, int64(2)}, []any{line.Event, line.Actor, line.Reason, line.Note, line.Claim})
	r := b.run(t, e.Replay.RunID)
	require.Equal(t, []any{deadletter.RunCompleted, 1, true}, []any{r.Status, r.Counts.Released, r.Reconciliation.Balanced})
	require.Equal(t, "open", b.value(t, `SELECT state FROM intent`))
	require.Equal(t, "true", b.value(t, `SELECT clear_press::text FROM mirror_row`))

	// It is pressed again, and the pass from before comes back, even with the lease of today.
	b.claim(t, press(id))
	today := b.lease(t, orders)
	before := b.state(t)["entry"]
	require.NoError(t, b.store.Settle(t.Context(), today, []store.Settlement{outcome(it.Members[0], deadletter.Superseded, deadletter.ReasonNewerFromSender)}))
	got, err := b.store.StoreIntents(t.Context(), today, []store.Intend{writeOf(it)}, nil, bounds)
	require.NoError(t, err)
	require.Equal(t, []string{""}, got)
	require.Equal(t, before, b.state(t)["entry"])
	require.False(t, b.intent(t, in.ID).Members[0].Held)
}

// A reset under a living write is refused; before, after, and under a pass that only looks for an old
// write it is not (S2, R4).
func TestResetUnderALivingWrite(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	id := b.file(t, "a").ID
	l, it := b.work(t, id)
	in := b.intend(t, l, writeOf(it))
	before := b.state(t)
	err := b.store.ResetEntry(t.Context(), id, "admin", "it hangs")
	d := problem(t, err)
	require.Equal(t, []any{deadletter.CodeConflict, "entry-being-written", deadletter.Replaying, b.show(t, id).Replay.RunID}, []any{d.Code, d.Problem, d.EntryStatus, d.RunID})
	require.Empty(t, cmp.Diff(before, b.state(t)))

	require.NoError(t, b.store.GiveUp(t.Context(), l, gaveUp(in, it.Ref, 0, deadletter.FateOpen), nil, nil))
	require.NoError(t, b.store.ResetEntry(t.Context(), id, "admin", "it hangs"), "nothing is on its way")
	e := b.show(t, id)
	require.Equal(t, []any{deadletter.PendingReview, deadletter.ReasonReset, "admin"}, []any{e.Status, e.Replay.Reason, e.Replay.ReplayedBy})
	require.Contains(t, e.Replay.Notes, "Reset by admin. Reason: it hangs")

	other := b.file(t, "b").ID
	b.claim(t, press(other))
	b.intend(t, l, writeOf(b.take(t, l).Items[0]))
	b.advance(t, 35*time.Second) // dead, and another takes over
	b.take(t, b.lease(t, orders))
	require.NoError(t, b.store.ResetEntry(t.Context(), other, "admin", ""))
	require.Equal(t, []deadletter.Flag{deadletter.MayHaveBeenWritten}, b.show(t, other).Flags)
}

// A halt gives back what is claimed, all runs of the base stop, live writes stay queued; what a living
// pass has under way is left to it, and its outcome recorded (W7).
func TestHaltGivesBackWhatIsNotWritten(t *testing.T) {
	t.Parallel()
	b := frozen(t, "other")
	ids := b.fileIDs(t, "being written", "waiting", "waiting too")
	elsewhere := b.fileAs(t, filing("other", "x", "x")).ID
	pressed := b.claim(t, press(ids[0])).RunID
	many := b.claim(t, runOf(store.Filter{IDs: append(ids, elsewhere)}, "other")).RunID
	live := b.accept(t, orders, "live", "{}")
	l := b.lease(t, orders)
	var in store.OpenIntent
	var ref store.RecordRef
	for _, it := range b.take(t, l).Items {
		if it.TargetID == "being written" {
			in, ref = b.intend(t, l, writeOf(it)), it.Ref
		}
	}
	first, err := b.store.HaltBase(t.Context(), orders, "the token is gone", "service")
	require.NoError(t, err)
	require.True(t, first)
	for _, id := range ids[1:] {
		e := b.show(t, id)
		require.Equal(t, []any{deadletter.PendingReview, deadletter.ReasonBaseHalted}, []any{e.Status, e.Replay.Reason})
		require.Contains(t, e.Replay.Notes, "the token is gone")
		require.Empty(t, e.Flags)
	}
	require.Equal(t, deadletter.Replaying, b.show(t, ids[0]).Status)
	require.Equal(t, deadletter.Replaying, b.show(t, elsewhere).Status)
	require.Equal(t, "queued", b.value(t, `SELECT status FROM write WHERE id = $1`, live))
	require.NoError(t, b.store.SettleLandings(t.Context(), l, []store.Landing{landed(in, ref)}, nil))
	require.Equal(t, deadletter.Replayed, b.show(t, ids[0]).Replay.Outcome)
	require.Equal(t, deadletter.RunCompleted, b.run(t, pressed).Status)
	require.Equal(t, deadletter.RunRunning, b.run(t, many).Status, "it goes on at the other base")

	other := b.lease(t, "other")
	b.settled(t, other, b.take(t, other))
	r := b.run(t, many)
	require.Equal(t, []any{deadletter.RunStopped, deadletter.ReasonBaseHalted, deadletter.Counts{Claimed: 3, Released: 2, Superseded: 1}, true},
		[]any{r.Status, r.Reason, r.Counts, r.Reconciliation.Balanced})

	first, err = b.store.HaltBase(t.Context(), orders, "another reason", "admin")
	require.NoError(t, err)
	require.False(t, first)
	state, err := b.store.FindBase(t.Context(), orders)
	require.NoError(t, err)
	require.Equal(t, []any{true, "the token is gone", "service", morning, 1}, []any{state.Halted, state.Reason, state.HaltedBy, state.HaltedAt, state.WaitingWrites})
	require.NoError(t, b.store.ResumeBase(t.Context(), orders))
	require.Equal(t, "base-not-halted", problem(t, b.store.ResumeBase(t.Context(), orders)).Problem)
}

// A stopped run gives back what it has not written, says why, and its totals add up once the rest is
// recorded (B1, W7).
func TestStopRun(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	ids := b.fileIDs(t, "written", "waiting")
	run := b.claim(t, runOf(store.Filter{IDs: ids})).RunID
	l := b.lease(t, orders)
	var landing store.Landing
	for _, it := range b.take(t, l).Items {
		if it.TargetID == "written" {
			landing = landed(b.intend(t, l, writeOf(it)), it.Ref)
		}
	}
	require.NoError(t, b.store.StopRun(t.Context(), run, deadletter.ReasonRunStopped, "Five failed alike."))
	r := b.run(t, run)
	require.Equal(t, []any{deadletter.RunStopped, deadletter.ReasonRunStopped, "all of them Five failed alike.", false, false},
		[]any{r.Status, r.Reason, r.Note, r.Finished(), r.Reconciliation.Balanced})
	require.Equal(t, []any{deadletter.PendingReview, deadletter.ReasonRunStopped}, []any{b.show(t, ids[1]).Status, b.show(t, ids[1]).Replay.Reason})
	require.NoError(t, b.store.SettleLandings(t.Context(), l, []store.Landing{landing}, nil))
	r = b.run(t, run)
	require.Equal(t, []any{deadletter.RunStopped, deadletter.Counts{Claimed: 2, Replayed: 1, Released: 1}, morning, true},
		[]any{r.Status, r.Counts, r.FinishedAt, r.Reconciliation.Balanced})
	before := b.state(t)
	require.NoError(t, b.store.StopRun(t.Context(), run, deadletter.ReasonCancelled, "again"))
	require.Empty(t, cmp.Diff(before, b.state(t)), "it has ended")
}
