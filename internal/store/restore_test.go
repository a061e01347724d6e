package store_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/stretchr/testify/require"
)

// replayed is an entry whose write of Status has landed; nobody holds the base.
func replayed(t *testing.T, b *bundle, name string) (id string, ref store.RecordRef) {
	t.Helper()
	id = b.file(t, name).ID
	l, it := b.work(t, id)
	require.NoError(t, b.store.SettleLandings(t.Context(), l, []store.Landing{landed(b.intend(t, l, writeOf(it)), it.Ref)}, nil))
	b.release(t, l)
	return id, it.Ref
}

// restore asks for a restore of an entry and returns its run.
func restore(t *testing.T, b *bundle, id string) (run string) {
	t.Helper()
	require.NoError(t, b.store.InTx(t.Context(), func(ctx context.Context) error {
		w, err := b.store.HoldWritten(ctx, id)
		require.NoError(t, err)
		run, err = b.store.StartRestore(ctx, w, "rita", "a wrong feed")
		return err
	}))
	return run
}

// back is the write of a restore's item.
func back(it store.Item) store.Intend {
	in := writeOf(it)
	in.Plan.Fields, in.Plan.Before, in.Plan.Version, in.VersionBefore = it.Members[0].Restoring.Before, it.Members[0].Restoring.Wrote, deadletter.Version{}, version(5)
	in.Members[0].Verdict.Fields = in.Plan.Fields
	return in
}

// restoring takes a restore under a lease.
func restoring(t *testing.T, b *bundle) (store.Lease, store.Item) {
	t.Helper()
	l := b.lease(t, orders)
	items := b.take(t, l).Items
	require.Len(t, items, 1)
	require.Len(t, items[0].Members, 1)
	require.Equal(t, deadletter.MemberRestore, items[0].Members[0].Kind)
	return l, items[0]
}

func written(t *testing.T, b *bundle, id string) store.Written {
	t.Helper()
	w, err := b.store.FindWritten(t.Context(), b.show(t, id))
	require.NoError(t, err)
	return w
}

// A restore is taken with what it takes back, and recorded whole (A1, A2).
func TestRestoreIsRecordedWhole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, ref := replayed(t, b, "a")
	run := restore(t, b, id)
	require.Equal(t, run, written(t, b, id).UnderWay)
	l, it := restoring(t, b)
	r := it.Members[0].Restoring
	require.Equal(t, []any{"reca", map[string]any{"Status": "Done"}, map[string]any{"Status": "Pending"}, "Source Updated At"}, []any{r.RecordID, r.Wrote, r.Before, r.Clock})
	require.True(t, r.Version.Equal(version(5)) && r.VersionBefore.Equal(version(4)))
	require.Empty(t, r.Rewritten)
	require.Equal(t, deadletter.RunRunning, b.run(t, run).Status)

	d := landed(b.intend(t, l, back(it)), ref)
	d.Settlements[0].Verdict.Note = "Restored: Status."
	require.NoError(t, b.store.SettleLandings(t.Context(), l, []store.Landing{d}, nil))
	got := b.run(t, run)
	require.Equal(t, deadletter.RunCompleted, got.Status)
	require.Equal(t, deadletter.Counts{Claimed: 1, Restored: 1}, got.Counts)
	require.True(t, got.Reconciliation.Balanced)
	e := b.show(t, id)
	require.Equal(t, deadletter.Resolved, e.Status)
	require.Equal(t, deadletter.Replayed, e.Replay.Outcome)
	require.Contains(t, e.Replay.Notes, "for rita: Restored: Status.")
	line := b.lastLine(t, id)
	require.Equal(t, []any{"restored", "rita", run, deadletter.Resolved}, []any{line.Event, line.Actor, line.RunID, line.ToStatus})
	require.Equal(t, map[string]any{"Status": "Done"}, line.Detail["values_before"])
	w := written(t, b, id)
	require.Equal(t, []string{"", run}, []string{w.UnderWay, w.Restored})
	mark, err := b.store.FindMark(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, []string{"Source Updated At"}, mark.Restored)
	require.True(t, mark.Of("another clock").Restored, "the record was restored, whoever sends next")

	// Once settled it is settled: a late second outcome changes nothing.
	before := b.state(t)
	require.NoError(t, b.store.SettleLandings(t.Context(), l, nil, []store.Settlement{outcome(it.Members[0], deadletter.Superseded, deadletter.ReasonNewerFromSender)}))
	delete(before, "base") // the lease was renewed
	after := b.state(t)
	delete(after, "base")
	require.Equal(t, before, after)
}

// A refusal counts every field, whether it was named singly or refused as a whole.
func TestRefusedRestoreCountsItsFields(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := replayed(t, b, "a")
	run := restore(t, b, id)
	l, it := restoring(t, b)
	require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{outcome(it.Members[0], deadletter.ReplayFailed, deadletter.ReasonNoMatch)}))
	got := b.run(t, run)
	require.Equal(t, deadletter.Counts{Claimed: 1, Refused: 1}, got.Counts)
	require.Equal(t, map[deadletter.Reason]int{deadletter.ReasonNoMatch: 1}, got.Reconciliation.SkippedByReason)
	require.True(t, got.Reconciliation.Balanced)
	require.Equal(t, "restore_refused", b.lastLine(t, id).Event)
	require.Empty(t, written(t, b, id).Restored, "it may be tried again")
	b.release(t, l)
	restore(t, b, id)
}

// Live writes, a restore and entries of one record never share a chunk.
func TestRestoreIsTakenAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, ref := replayed(t, b, "a")
	restore(t, b, id)
	other := b.fileAs(t, filing(orders, "later", "a")).ID
	b.claim(t, press(other))
	b.accept(t, orders, "a", "{}")
	l := b.lease(t, orders)
	var kinds []deadletter.MemberKind
	for range 3 {
		c := b.take(t, l)
		require.Len(t, c.Items, 1)
		require.Equal(t, ref, c.Items[0].Ref)
		for _, m := range c.Items[0].Members {
			kinds = append(kinds, m.Kind)
			reason := deadletter.ReasonNewerFromSender
			require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{outcome(m, deadletter.Superseded, reason)}))
		}
	}
	require.ElementsMatch(t, []deadletter.MemberKind{deadletter.MemberWrite, deadletter.MemberRestore, deadletter.MemberEntry}, kinds)
	require.Empty(t, b.take(t, l).Items)
}

// A restore that was cancelled or halted is neither written nor recorded by a pass that still has it.
func TestReleasedRestoreIsNotWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end    func(t *testing.T, b *bundle, run string)
		status deadletter.RunStatus
		reason deadletter.Reason
	}{
		"cancelled": {func(t *testing.T, b *bundle, run string) {
			t.Helper()
			require.NoError(t, b.store.CancelRun(t.Context(), run, "admin", "no"))
		}, deadletter.RunCancelled, deadletter.ReasonCancelled},
		"halted": {func(t *testing.T, b *bundle, _ string) {
			t.Helper()
			_, err := b.store.HaltBase(t.Context(), orders, "token", "admin")
			require.NoError(t, err)
		}, deadletter.RunStopped, deadletter.ReasonBaseHalted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			id, _ := replayed(t, b, "a")
			run := restore(t, b, id)
			l, it := restoring(t, b)
			c.end(t, b, run)
			got := b.run(t, run)
			require.Equal(t, []any{c.status, c.reason, deadletter.Counts{Claimed: 1, Released: 1}}, []any{got.Status, got.Reason, got.Counts})
			require.True(t, got.Reconciliation.Balanced)
			line := b.lastLine(t, id)
			require.Equal(t, []any{"restore_released", c.reason, deadletter.Resolved}, []any{line.Event, line.Reason, line.ToStatus})
			ids, err := b.store.StoreIntents(t.Context(), l, []store.Intend{back(it)}, nil, bounds)
			require.NoError(t, err)
			require.Equal(t, []string{""}, ids)
			require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{outcome(it.Members[0], deadletter.Superseded, deadletter.ReasonNewerFromSender)}))
			require.Equal(t, got.Counts, b.run(t, run).Counts)
		})
	}
}

// While a living pass writes a restore, a cancel waits for its outcome.
func TestRestoreBeingWrittenIsNotReleased(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, ref := replayed(t, b, "a")
	run := restore(t, b, id)
	l, it := restoring(t, b)
	in := b.intend(t, l, back(it))
	require.NoError(t, b.store.CancelRun(t.Context(), run, "admin", ""))
	require.True(t, b.run(t, run).FinishedAt.IsZero())
	require.NoError(t, b.store.SettleLandings(t.Context(), l, []store.Landing{landed(in, ref)}, nil))
	got := b.run(t, run)
	require.Equal(t, []any{deadletter.RunCancelled, deadletter.Counts{Claimed: 1, Restored: 1}}, []any{got.Status, got.Counts})
	require.False(t, got.FinishedAt.IsZero())
}

// An attempt that was given up on after the cancel is the last one.
func TestRestoreOfACancelledRunHasNoOtherAttempt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, ref := replayed(t, b, "a")
	run := restore(t, b, id)
	l, it := restoring(t, b)
	in := b.intend(t, l, back(it))
	require.NoError(t, b.store.CancelRun(t.Context(), run, "admin", ""))
	given := []store.GivenUp{{IntentID: in.ID, Ref: ref, Status: 503, Fate: deadletter.FateOpen}}
	require.NoError(t, b.store.GiveUp(t.Context(), l, given, []store.Postpone{{Members: []store.MemberRef{it.Members[0].MemberRef}, Counted: true}}, nil))
	require.Equal(t, deadletter.Counts{Claimed: 1, Released: 1}, b.run(t, run).Counts)
	require.Contains(t, b.lastLine(t, id).Note, "A write was under way")
}

// A restore that was released while its write was under way, and whose write then turns up on the
// record, is a fact: the entry is told, it is not restored twice, and later entries go to review.
func TestReleasedRestoreThatHasLanded(t *testing.T) {
	t.Parallel()
	for name, tell := range map[string]func(t *testing.T, b *bundle, in store.OpenIntent, ref store.RecordRef){
		"seen by the next pass": func(t *testing.T, b *bundle, in store.OpenIntent, ref store.RecordRef) {
			t.Helper()
			d := landed(b.intent(t, in.ID), ref)
			require.False(t, d.Intent.Members[0].Held)
			d.Settlements = nil
			require.NoError(t, b.store.SettleLandings(t.Context(), b.lease(t, orders), []store.Landing{d}, nil))
		},
		"told by the late answer": func(t *testing.T, b *bundle, in store.OpenIntent, ref store.RecordRef) {
			t.Helper()
			require.NoError(t, b.store.SettleMisses(t.Context(), b.lease(t, orders), []store.Miss{{Intent: in, Ref: ref, Fate: deadletter.FateUnknown}}))
			require.NoError(t, b.store.StoreFact(t.Context(), in.ID, store.Fact{RecordID: "reca"}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := frozen(t)
			id, ref := replayed(t, b, "a")
			run := restore(t, b, id)
			l, it := restoring(t, b)
			in := b.intend(t, l, back(it))
			require.NoError(t, b.store.GiveUp(t.Context(), l, []store.GivenUp{{IntentID: in.ID, Ref: ref, Fate: deadletter.FateOpen}}, nil, nil))
			require.NoError(t, b.store.CancelRun(t.Context(), run, "admin", ""))
			require.Equal(t, deadletter.Counts{Claimed: 1, Released: 1}, b.run(t, run).Counts)
			b.release(t, l)
			b.advance(t, time.Hour)
			tell(t, b, in, ref)
			require.Equal(t, "restored", b.lastLine(t, id).Event)
			require.Equal(t, run, written(t, b, id).Restored)
			require.Equal(t, deadletter.Counts{Claimed: 1, Released: 1}, b.run(t, run).Counts, "a finished run's totals stay")
			mark, err := b.store.FindMark(t.Context(), ref)
			require.NoError(t, err)
			require.NotEmpty(t, mark.Restored)
		})
	}
}

// What later writes of the record wrote again is known; a restore's own attempts are no such writes.
func TestRestoreKnowsLaterWrites(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, ref := replayed(t, b, "a")
	restore(t, b, id)
	l, it := restoring(t, b)
	in := b.intend(t, l, back(it))
	require.NoError(t, b.store.SettleMisses(t.Context(), l, []store.Miss{{Intent: in, Ref: ref, Fate: deadletter.FateUnknown}}))
	require.Empty(t, written(t, b, id).Rewritten)
	require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{outcome(it.Members[0], deadletter.Superseded, deadletter.ReasonNewerFromSender)}))
	b.release(t, l)

	replayed(t, b, "a another")
	require.Empty(t, written(t, b, id).Rewritten, "another record")
	other := b.fileAs(t, filing(orders, "later", "a")).ID
	l, it = b.work(t, other)
	in = b.intend(t, l, writeOf(it))
	require.Empty(t, written(t, b, id).Rewritten, "not landed")
	require.NoError(t, b.store.SettleLandings(t.Context(), l, []store.Landing{landed(in, it.Ref)}, nil))
	require.Equal(t, []string{"Status"}, written(t, b, id).Rewritten)
	require.Empty(t, written(t, b, other).Rewritten)
}

// A restore on which nobody works any more is ended, as an entry is returned (S1).
func TestStuckRestoreIsSwept(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	id, _ := replayed(t, b, "a")
	run := restore(t, b, id)
	sweep := func() {
		_, err := b.store.SweepStuck(t.Context(), 5*time.Minute)
		require.NoError(t, err)
	}
	b.advance(t, 4*time.Minute)
	sweep()
	require.Equal(t, deadletter.RunQueued, b.run(t, run).Status)
	b.advance(t, 2*time.Minute)
	sweep()
	require.Equal(t, deadletter.Counts{Claimed: 1, Released: 1}, b.run(t, run).Counts)
	require.Equal(t, deadletter.ReasonSwept, b.lastLine(t, id).Reason)
	restore(t, b, id)
}

// A base that is halted takes no restores, and nothing is left of the attempt.
func TestHaltedBaseTakesNoRestore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := replayed(t, b, "a")
	_, err := b.store.HaltBase(t.Context(), orders, "token", "admin")
	require.NoError(t, err)
	_, err = b.store.HoldWritten(t.Context(), id)
	require.Equal(t, "base-halted", problem(t, err).Problem)
}

// Of many who ask at once one restores; the others are told that it is under way.
func TestOneRestoreAtATime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, _ := replayed(t, b, "a")
	s := b.wide(t, 8)
	started := make([]bool, 8)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			errs[i] = s.InTx(t.Context(), func(ctx context.Context) error {
				w, err := s.HoldWritten(ctx, id)
				if err != nil || w.UnderWay != "" {
					return err
				}
				_, err = s.StartRestore(ctx, w, "rita", "")
				started[i] = err == nil
				return err
			})
		})
	}
	wg.Wait()
	require.Equal(t, make([]error, 8), errs)
	n := 0
	for _, did := range started {
		if did {
			n++
		}
	}
	require.Equal(t, 1, n)
	require.Equal(t, "1", b.value(t, `SELECT count(*)::text FROM run WHERE kind = 'restore'`))
}

// A write that raises the version ends the review of later entries.
func TestMarkKeepsWhatWasRestored(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, ref := replayed(t, b, "a")
	restore(t, b, id)
	l, it := restoring(t, b)
	require.NoError(t, b.store.SettleLandings(t.Context(), l, []store.Landing{landed(b.intend(t, l, back(it)), ref)}, nil))
	b.release(t, l)
	other := b.fileAs(t, filing(orders, "later", "a")).ID
	l, it = b.work(t, other)
	require.True(t, it.Mark.Of("Source Updated At").Restored)
	d := landed(b.intend(t, l, writeOf(it)), ref)
	d.Mark.Restored = nil // as the pass says of a write that raised it
	require.NoError(t, b.store.SettleLandings(t.Context(), l, []store.Landing{d}, nil))
	mark, err := b.store.FindMark(t.Context(), ref)
	require.NoError(t, err)
	require.Empty(t, mark.Restored)
}
