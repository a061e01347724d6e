package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

var sameVersion = cmp.Comparer(func(a, b deadletter.Version) bool { return a == b })

// at makes an attempt of unknown fate that was stored at an instant.
func at(t time.Time) store.Attempt {
	return store.Attempt{At: t, Fate: deadletter.FateOpen, MayLandUntil: t.Add(unanswered)}
}

// requireAttempts compares attempts by the instant.
func requireAttempts(t *testing.T, want, got []store.Attempt) {
	t.Helper()
	require.Empty(t, cmp.Diff(want, got, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })))
}

// A write is stored with all that is needed to recognise it, to account for it and to undo it (P5, R2).
func TestIntentIsStoredWhole(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	entry := b.file(t, "a").ID
	l, it := b.work(t, entry)
	in := writeOf(it)
	in.Plan.Action, in.Plan.RecordID = deadletter.ActionCreate, ""
	in.Plan.Fields = map[string]any{"Big": json.Number("90071992547409931234567890.10"), "Text": "<&\u2028\x00>", "List": []any{"a"}, "Gone": nil}
	in.Members[0].Verdict = deadletter.Verdict{
		Member: entry, Outcome: deadletter.PartiallyReplayed, Reason: deadletter.ReasonSharedFieldChanged, Note: "n", Fields: map[string]any{"Big": json.Number("1")},
		Skipped: []deadletter.Skip{{Field: "F", Reason: deadletter.ReasonSharedFieldChanged, ChangedAt: failed, Current: "x", Incoming: json.Number("2")}}, Merged: true,
	}
	in.Dates = []string{"2026-10-04", "2026-10-09"}
	got := b.intend(t, l, in)
	require.Empty(t, cmp.Diff(store.OpenIntent{
		Intent: deadletter.Intent{
			ID: got.ID, Creates: true, Fields: in.Plan.Fields, Before: in.Plan.Before, Version: version(5), VersionBefore: version(4), MayLandUntil: got.MayLandUntil,
		},
		Target: targetOf(orders), Clock: "Source Updated At", Attempts: got.Attempts, Dates: in.Dates,
		Members: []store.IntentMember{{MemberRef: it.Members[0].MemberRef, Verdict: in.Members[0].Verdict, Held: true}},
	}, got, sameVersion))
	require.True(t, got.MayLandUntil.Equal(morning.Add(unanswered)))
	requireAttempts(t, []store.Attempt{at(morning)}, got.Attempts)
	require.Equal(t, "[]", b.value(t, `SELECT taking::text FROM base WHERE name = $1`, orders))
}

// Of a chunk, a record of which a member was taken away meanwhile is not written, and nothing that was
// decided about it is recorded; the others are (R2, R4).
func TestIntentsAreGuardedByTheClaim(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	ids := b.fileIDs(t, "kept", "reset", "reclaimed", "swept write")
	older := b.fileAs(t, filing(orders, "older", "reset")).ID
	b.claim(t, press(append(ids, older)...))
	write := b.accept(t, orders, "w", "{}")
	l := b.lease(t, orders)
	items := map[string]store.Item{}
	for _, it := range b.take(t, l).Items {
		items[it.TargetID] = it
	}
	require.NoError(t, b.store.ResetEntry(t.Context(), ids[1], "admin", ""))
	require.NoError(t, b.store.ResetEntry(t.Context(), ids[2], "admin", ""))
	b.claim(t, press(ids[2]))
	b.exec(t, `UPDATE write SET status = 'stale' WHERE id = $1`, write)

	var writes []store.Intend
	for _, key := range []string{"kept", "reset", "reclaimed", "w"} {
		in := writeOf(items[key])
		if key == "reset" { // one member is in the write, the other is overridden by it
			in.Members = in.Members[:1]
			in.Members[0].MemberRef = memberOf(items[key], ids[1])
		}
		writes = append(writes, in)
	}
	overridden := outcome(store.Member{MemberRef: memberOf(items["reset"], older)}, deadletter.Superseded, deadletter.ReasonNewerEntryInBatch)
	elsewhere := outcome(items["swept write"].Members[0], deadletter.Superseded, deadletter.ReasonNewerFromSender)
	got, err := b.store.StoreIntents(t.Context(), l, writes, []store.Settlement{overridden, elsewhere}, bounds)
	require.NoError(t, err)
	require.NotEmpty(t, got[0])
	require.Equal(t, []string{"", "", ""}, got[1:])
	require.Equal(t, "1", b.value(t, `SELECT count(*)::text FROM intent`))
	require.Equal(t, deadletter.Replaying, b.show(t, older).Status, "not closed for an entry that is not written")
	require.Equal(t, deadletter.Resolved, b.show(t, ids[3]).Status)
}

func memberOf(it store.Item, id string) store.MemberRef {
	for _, m := range it.Members {
		if m.ID == id {
			return m.MemberRef
		}
	}
	panic("no such member")
}

// The same write again is a new attempt of the same intent, and moves the bound (R3, R4b); not once it
// is closed or its answer has turned up.
func TestSendAgainIsAnAttempt(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	l, it := b.work(t, b.file(t, "a").ID)
	in := b.intend(t, l, writeOf(it))
	require.NoError(t, b.store.GiveUp(t.Context(), l, []store.GivenUp{{IntentID: in.ID, Ref: it.Ref, Status: 503, Fate: deadletter.FateOpen}}, nil, nil))
	b.advance(t, 3*time.Second)
	again := writeOf(it)
	again.IntentID = in.ID
	got := b.intend(t, l, again)
	require.Equal(t, in.ID, got.ID)
	first := at(morning)
	first.Status = 503
	requireAttempts(t, []store.Attempt{first, at(morning.Add(3 * time.Second))}, got.Attempts)
	require.True(t, got.MayLandUntil.Equal(morning.Add(3*time.Second+unanswered)))
	require.False(t, got.Retry, "it is on its way")

	require.NoError(t, b.store.GiveUp(t.Context(), l, []store.GivenUp{{IntentID: in.ID, Ref: it.Ref, Fate: deadletter.FateOpen}}, nil, nil))
	require.NoError(t, b.store.StoreFact(t.Context(), in.ID, store.Fact{RecordID: "rec1"}))
	ids, err := b.store.StoreIntents(t.Context(), l, []store.Intend{again}, nil, bounds)
	require.NoError(t, err)
	require.Equal(t, []string{""}, ids)
	require.Len(t, b.intent(t, in.ID).Attempts, 2)
}

// Certain: landed, and no attempt is unaccounted for. A landing that was seen on the record, not told by
// the newest answer, is that of one of the attempts.
func TestCertain(t *testing.T) {
	t.Parallel()
	open, refused := at(morning), store.Attempt{At: morning, Status: 422, Fate: deadletter.FateNotLanded}
	for name, c := range map[string]struct {
		attempts       []store.Attempt
		answered, want bool
	}{
		"the first attempt is answered":                {nil, true, true},
		"the second, the first was refused":            {[]store.Attempt{refused}, true, true},
		"the second, the first is unknown":             {[]store.Attempt{open}, true, false},
		"seen, of one attempt":                         {[]store.Attempt{open}, false, true},
		"seen, of two":                                 {[]store.Attempt{open, open}, false, false},
		"seen, of two of which one was refused":        {[]store.Attempt{open, refused}, false, true},
		"the third, the first unknown, second refused": {[]store.Attempt{open, refused}, true, false},
	} {
		require.Equal(t, c.want, store.OpenIntent{Attempts: c.attempts}.Certain(c.answered), name)
	}
}

// An answer is a fact: whoever has it may store it, and it is looked at next, whoever holds the lease
// by then (R4).
func TestFactByAnybody(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	l, it := b.work(t, b.file(t, "a").ID)
	in := b.intend(t, l, writeOf(it))
	b.advance(t, 35*time.Second-1)
	b.advance(t, time.Microsecond)
	require.ErrorIs(t, b.store.SettleLandings(t.Context(), l, []store.Landing{landed(in, it.Ref)}, nil), store.ErrStale)
	fact := store.Fact{RecordID: "rec1", Created: true, Fields: map[string]any{"N": json.Number("9007199254740993")}}
	require.NoError(t, b.store.StoreFact(t.Context(), in.ID, fact))
	require.NoError(t, b.store.StoreFact(t.Context(), in.ID, store.Fact{RecordID: "rec2"}), "the first one holds")
	next := b.lease(t, orders)
	got := b.take(t, next).Items[0].Intents[0]
	require.Equal(t, &fact, got.Fact)
	require.True(t, got.DueAt)
	require.NoError(t, b.store.SettleLandings(t.Context(), next, []store.Landing{landed(got, it.Ref)}, nil))
	require.Equal(t, deadletter.Replayed, b.show(t, it.Members[0].ID).Replay.Outcome)
	require.NoError(t, b.store.StoreFact(t.Context(), in.ID, fact), "too late, and no harm")
	require.NoError(t, b.store.StoreFact(t.Context(), "0197c0de-0000-7000-8000-000000000000", fact))
}

// An answer that turns up after the write was given up as unknown is told to its entries.
func TestFactAfterDoubt(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	id := b.file(t, "a").ID
	l, it := b.work(t, id)
	in := b.intend(t, l, writeOf(it))
	require.NoError(t, b.store.SettleMisses(t.Context(), l, []store.Miss{{Intent: in, Ref: it.Ref, Fate: deadletter.FateUnknown}}))
	require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{outcome(it.Members[0], deadletter.NeedsReview, deadletter.ReasonMayHaveBeenWritten)}))
	require.Equal(t, []deadletter.Flag{deadletter.MayHaveBeenWritten}, b.show(t, id).Flags)
	require.NoError(t, b.store.StoreFact(t.Context(), in.ID, store.Fact{RecordID: "rec1"}))
	require.Equal(t, []deadletter.Flag{deadletter.Landed}, b.show(t, id).Flags)
	b.claim(t, press(id))
	require.Equal(t, in.ID, b.take(t, l).Items[0].Members[0].LandedIntent)
}
