package store_test

import (
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/stretchr/testify/require"
)

func TestListBasesTellsWhatWaits(t *testing.T) {
	t.Parallel()
	b := frozen(t, "other")
	b.claim(t, press(b.fileIDs(t, "a", "b")...))
	b.accept(t, "other", "w", "{}")
	b.lease(t, orders)
	require.NoError(t, b.store.PauseBase(t.Context(), "other", 30*time.Second, "429"))
	bases, err := b.store.ListBases(t.Context())
	require.NoError(t, err)
	require.Equal(t, []store.BaseState{
		{Name: orders, WaitingEntries: 2, WaitingMirror: 2, LeaseHolder: "tester", LeaseUntil: morning.Add(35 * time.Second)},
		{Name: "other", Reason: "429", PausedUntil: morning.Add(30 * time.Second), WaitingWrites: 1},
	}, bases)
	for _, want := range bases {
		got, err := b.store.FindBase(t.Context(), want.Name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, name := range []string{"", "none"} {
		_, err = b.store.FindBase(t.Context(), name)
		require.Equal(t, "base-not-found", problem(t, err).Problem)
	}
	b.advance(t, 35*time.Second)
	bases, err = b.store.ListBases(t.Context())
	require.NoError(t, err)
	require.Equal(t, []store.BaseState{{Name: orders, WaitingEntries: 2, WaitingMirror: 2}, {Name: "other", WaitingWrites: 1}}, bases)
}

// A pause is for the whole base; a longer one stays, with its reason (W3).
func TestLongerPauseStays(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	for _, p := range []struct {
		wait       time.Duration
		reason     string
		want       time.Duration
		wantReason string
	}{{30 * time.Second, "429", 30 * time.Second, "429"}, {10 * time.Second, "short", 30 * time.Second, "429"}, {time.Minute, "long", time.Minute, "long"}} {
		require.NoError(t, b.store.PauseBase(t.Context(), orders, p.wait, p.reason))
		got, err := b.store.FindBase(t.Context(), orders)
		require.NoError(t, err)
		require.Equal(t, []any{morning.Add(p.want), p.wantReason}, []any{got.PausedUntil, got.Reason})
	}
}

// Identical failures in a row are counted by base and by run; another failure or a success starts over,
// and presses do not count (W7).
func TestFailuresInARow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.fileIDs(t, "a", "b")
	run, single := b.claim(t, runOf(store.Filter{IDs: ids[:1]})).RunID, b.claim(t, press(ids[1])).RunID
	byBase := func(signature string) int {
		n, err := b.store.CountFailure(t.Context(), orders, signature)
		require.NoError(t, err)
		return n
	}
	byRun := func(run, signature string) int {
		n, err := b.store.CountRunFailure(t.Context(), run, signature)
		require.NoError(t, err)
		return n
	}
	for _, count := range []func(string) int{byBase, func(s string) int { return byRun(run, s) }} {
		require.Equal(t, []int{1, 2, 1, 2, 3}, []int{count("x"), count("x"), count("y"), count("y"), count("y")})
	}
	require.Equal(t, []int{0, 0}, []int{byRun(single, "x"), byRun("", "x")})
	require.NoError(t, b.store.ResetFailures(t.Context(), orders, []string{run, "", single, run}))
	require.Equal(t, []int{1, 1}, []int{byBase("y"), byRun(run, "y")})
	require.NoError(t, b.store.StopRun(t.Context(), run, deadletter.ReasonRunStopped, ""))
	require.Zero(t, byRun(run, "y"), "it has ended")
	_, err := b.store.HaltBase(t.Context(), orders, "x", "service")
	require.NoError(t, err)
	require.NoError(t, b.store.ResumeBase(t.Context(), orders))
	require.Equal(t, 1, byBase("y"), "a resume forgets them")
}
