package store_test

import (
	"testing"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/stretchr/testify/require"
)

// A run says why entries were not written, anew while it goes on, and from memory once it has ended.
func TestRunTellsWhyEntriesWereNotWritten(t *testing.T) {
	t.Parallel()
	b := unmirrored(t)
	ids := b.fileIDs(t, "a", "b", "c")
	run := b.claim(t, runOf(store.Filter{IDs: ids})).RunID
	why := func() []deadletter.Why {
		t.Helper()
		found, err := b.store.CountWhy(b.ctx, b.run(t, run))
		require.NoError(t, err)
		return found
	}
	require.Empty(t, why())
	l := b.lease(t, orders)
	chunk := b.take(t, l)
	require.Len(t, chunk.Items, 3)
	settle := func(at int, o deadletter.Outcome, reason deadletter.Reason) {
		t.Helper()
		require.NoError(t, b.store.Settle(b.ctx, l, []store.Settlement{outcome(chunk.Items[at].Members[0], o, reason)}))
	}
	settle(0, deadletter.ReplayFailed, deadletter.ReasonNoMatch)
	require.Equal(t, []deadletter.Why{{Outcome: deadletter.ReplayFailed, Reason: deadletter.ReasonNoMatch, Entries: 1}}, why())
	settle(1, deadletter.ReplayFailed, deadletter.ReasonNoMatch)
	require.Equal(t, []deadletter.Why{{Outcome: deadletter.ReplayFailed, Reason: deadletter.ReasonNoMatch, Entries: 2}}, why())
	require.NoError(t, b.store.CancelRun(b.ctx, run, "ann", ""))
	want := []deadletter.Why{
		{Outcome: deadletter.ReplayFailed, Reason: deadletter.ReasonNoMatch, Entries: 2}, {Reason: deadletter.ReasonCancelled, Entries: 1},
	}
	require.Equal(t, want, why())
	b.exec(t, `UPDATE run_entry SET reason = 'other'`)
	require.Equal(t, want, why(), "what a run that has ended came to is not counted again")

	reasons, err := b.store.ReasonsOnFile(b.ctx)
	require.NoError(t, err)
	require.Equal(t, []deadletter.Reason{filing(orders, "a", "a").ReasonCode}, reasons, "of the filing, not of the replay")
}

func TestSubjectsAreOfRunsOverOneEntry(t *testing.T) {
	t.Parallel()
	b := unmirrored(t)
	ids := b.fileIDs(t, "a", "b", "c")
	one := b.claim(t, runOf(store.Filter{IDs: ids[:1]})).RunID
	two := b.claim(t, runOf(store.Filter{IDs: ids[1:]})).RunID
	found, err := b.store.SubjectsOf(b.ctx, []deadletter.Run{b.run(t, one), b.run(t, two)})
	require.NoError(t, err)
	e := b.show(t, ids[0])
	require.Equal(t, map[string]*store.Subject{one: {EntryID: e.ID, Target: e.TargetTable, TargetID: e.TargetID}}, found)
	none, err := b.store.SubjectsOf(b.ctx, nil)
	require.NoError(t, err)
	require.Empty(t, none)
}
