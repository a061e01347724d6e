package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The last two entries of a run are settled at once, by the passes of two bases: one of them closes it.
func TestRunOverTwoBasesEnds(t *testing.T) {
	t.Parallel()
	b := setup(t, "other")
	s := store.New(b.pool(t, 4), "")
	ids := []string{b.file(t, "a").ID, b.fileAs(t, filing("other", "x", "x")).ID}
	run := b.claim(t, runOf(store.Filter{IDs: ids}, "other")).RunID
	settle := func(ctx context.Context, base string) error {
		l, _, err := s.AcquireLease(ctx, base, "x", time.Hour)
		if err != nil {
			return err
		}
		c, err := s.TakeChunk(ctx, l)
		if err != nil {
			return err
		}
		return s.Settle(ctx, l, []store.Settlement{outcome(c.Items[0].Members[0], deadletter.Superseded, deadletter.ReasonNewerFromSender)})
	}
	settled, commit, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	errs := make([]error, 2)
	var wg sync.WaitGroup
	wg.Go(func() {
		errs[0] = s.InTx(t.Context(), func(ctx context.Context) error {
			err := settle(ctx, orders)
			close(settled)
			<-commit
			return err
		})
	})
	<-settled
	wg.Go(func() {
		defer close(done)
		errs[1] = settle(t.Context(), "other")
	})
	b.blocked(t, done)
	close(commit)
	wg.Wait()
	require.Equal(t, []error{nil, nil}, errs)
	require.Equal(t, deadletter.RunCompleted, b.run(t, run).Status)
}

// Whatever becomes of the entries of a run, its totals say so, and balance once all are settled (B5).
func TestTotalsAddUp(t *testing.T) {
	t.Parallel()
	b := unmirrored(t)
	effects := []deadletter.Effect{deadletter.EffectCreated, deadletter.EffectUpdated, deadletter.EffectUnchanged, deadletter.EffectMerged}
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 10).Draw(rt, "entries")
		var ids []string
		for range n {
			ids = append(ids, b.file(t, fmt.Sprint(b.next())).ID)
		}
		run := b.claim(t, runOf(store.Filter{IDs: ids})).RunID
		l := b.lease(t, orders)
		var want deadletter.Counts
		var wrote deadletter.Reconciliation
		want.Claimed = n
		wrote.SkippedByReason = map[deadletter.Reason]int{}
		for _, m := range membersOf(b.take(t, l)) {
			if rapid.IntRange(0, 5).Draw(rt, "released") == 0 {
				want.Released++
				require.NoError(t, b.store.ResetEntry(t.Context(), m.ID, "admin", ""))
				continue
			}
			s := outcome(m, rapid.SampledFrom(deadletter.Outcomes()).Draw(rt, "outcome"), deadletter.ReasonOther)
			s.Effect = deadletter.EffectNone
			if s.Verdict.InWrite() {
				s.Effect = rapid.SampledFrom(effects).Draw(rt, "effect")
			}
			for range rapid.IntRange(0, 2).Draw(rt, "skipped") {
				s.Verdict.Skipped = append(s.Verdict.Skipped, deadletter.Skip{Field: "F", Reason: deadletter.ReasonNotChosen})
				wrote.SkippedByReason[deadletter.ReasonNotChosen]++
			}
			tally(&want, &wrote, s)
			require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{s}))
			r := b.run(t, run)
			require.Equal(rt, r.Counts.Settled() == n, r.Status == deadletter.RunCompleted)
			require.Equal(rt, r.Status == deadletter.RunCompleted, r.Reconciliation.Balanced)
		}
		wrote.Balanced = true
		r := b.run(t, run)
		require.Equal(rt, want, r.Counts)
		require.Equal(rt, wrote, r.Reconciliation)
		require.Equal(rt, deadletter.RunCompleted, r.Status)
		require.NoError(t, b.store.ReleaseLease(t.Context(), l, noWake))
	})
}

// tally counts a settlement as people would.
func tally(c *deadletter.Counts, r *deadletter.Reconciliation, s store.Settlement) {
	for o, n := range map[deadletter.Outcome]*int{
		deadletter.Replayed: &c.Replayed, deadletter.PartiallyReplayed: &c.PartiallyReplayed, deadletter.Superseded: &c.Superseded,
		deadletter.NeedsReview: &c.NeedsReview, deadletter.ReplayFailed: &c.ReplayFailed,
	} {
		if s.Verdict.Outcome == o {
			*n++
		}
	}
	for e, n := range map[deadletter.Effect]*int{
		deadletter.EffectCreated: &r.Created, deadletter.EffectUpdated: &r.Updated, deadletter.EffectUnchanged: &r.Unchanged, deadletter.EffectMerged: &r.Merged,
	} {
		if s.Effect == e {
			*n++
		}
	}
}

// A run whose numbers do not add up says so (B5).
func TestRunThatDoesNotAddUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	l, it := b.work(t, b.file(t, "a").ID)
	s := outcome(it.Members[0], deadletter.Replayed, "")
	s.Effect = deadletter.EffectNone // replayed, but nothing was created, updated, unchanged or merged
	require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{s}))
	r := b.run(t, b.show(t, it.Members[0].ID).Replay.RunID)
	require.Equal(t, deadletter.RunCompleted, r.Status)
	require.False(t, r.Reconciliation.Balanced)
}

// A later run leaves what an earlier one did to an entry alone (B5).
func TestRunsKeepTheirOwnAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.file(t, "a").ID
	var runs []string
	for range 3 {
		l, it := b.work(t, id)
		runs = append(runs, b.show(t, id).Replay.RunID)
		require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{outcome(it.Members[0], deadletter.NeedsReview, deadletter.ReasonSharedFieldChanged)}))
		b.release(t, l)
	}
	for _, run := range runs {
		require.Equal(t, deadletter.Counts{Claimed: 1, NeedsReview: 1}, b.run(t, run).Counts)
		es, _, err := b.store.ListEntries(t.Context(), store.Filter{Run: run}, store.Page{Limit: 10})
		require.NoError(t, err)
		require.Len(t, es, 1)
	}
}

// The entries that one decision sent to review are found from each of them, until they are claimed.
func TestReviewGroup(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := []string{b.fileAs(t, filing(orders, "1", "A")).ID, b.fileAs(t, filing(orders, "2", "A")).ID, b.fileAs(t, filing(orders, "3", "B")).ID}
	b.claim(t, press(ids...))
	l := b.lease(t, orders)
	for i, it := range b.take(t, l).Items {
		var settle []store.Settlement
		for _, m := range it.Members {
			s := outcome(m, deadletter.NeedsReview, deadletter.ReasonSharedFieldChanged)
			s.ReviewGroup = []string{"0197c0de-0000-7000-8000-00000000000a", "0197c0de-0000-7000-8000-00000000000b"}[i]
			settle = append(settle, s)
		}
		require.NoError(t, b.store.Settle(t.Context(), l, settle))
	}
	require.Equal(t, ids[:2], group(t, b, ids[0]))
	require.Equal(t, ids[:2], group(t, b, ids[1]))
	require.Equal(t, ids[2:], group(t, b, ids[2]))
	b.claim(t, press(ids[0]))
	require.Equal(t, ids[1:2], group(t, b, ids[1]))
}
