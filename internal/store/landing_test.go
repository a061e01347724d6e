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

// A landing is recorded whole: outcome, values before, history, mark, mirror, and the end of the rest
// (P5, A1).
func TestLandingIsRecordedWhole(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	id := b.file(t, "a").ID
	l, it := b.work(t, id)
	in := b.intend(t, l, writeOf(it))
	b.advance(t, time.Second)
	d := landed(in, it.Ref)
	s := &d.Settlements[0]
	s.Verdict = deadletter.Verdict{
		Member: id, Outcome: deadletter.PartiallyReplayed, Note: "half of it", Fields: map[string]any{"N": json.Number("90071992547409931.10")},
		Skipped: []deadletter.Skip{{Field: "S", Reason: deadletter.ReasonSharedFieldChanged, ChangedAt: failed, Current: "x", Incoming: json.Number("2")}},
	}
	s.ValuesBefore, s.Flags, s.ErrorDetail = map[string]any{"N": nil}, []deadletter.Flag{deadletter.LateLanding}, "503 before"
	require.NoError(t, b.store.SettleLandings(t.Context(), l, []store.Landing{d}, nil))
	e := b.show(t, id)
	require.Equal(t, deadletter.Resolved, e.Status)
	require.Equal(t, []deadletter.Flag{deadletter.LateLanding}, e.Flags)
	require.Empty(t, cmp.Diff(&deadletter.Replay{
		RunID: e.Replay.RunID, Mode: deadletter.Checked, RequestedBy: "ann", RequestedAt: morning, Outcome: deadletter.PartiallyReplayed, ReplayedBy: "ann",
		ReplayedAt: morning.Add(time.Second), FieldsReplayed: s.Verdict.Fields, FieldsSkipped: s.Verdict.Skipped, ValuesBefore: map[string]any{"N": nil},
		RecordID: "reca", Effect: deadletter.EffectUpdated, StatusCode: 200, ErrorDetail: "503 before", Notes: "half of it", Attempts: 1,
	}, e.Replay))
	line := b.lastLine(t, id)
	require.Equal(t, map[string]any{
		"fields_replayed": map[string]any{"N": json.Number("90071992547409931.10")}, "values_before": map[string]any{"N": nil}, "record_id": "reca",
		"fields_skipped": []any{map[string]any{
			"field": "S", "reason": "shared_field_changed", "changed_at": "2026-10-01T09:00:00Z", "current": "x", "incoming": json.Number("2"),
		}},
		"effect": "updated", "status_code": json.Number("200"), "error_detail": "503 before", "attempts": json.Number("1"),
	}, line.Detail)
	line.Detail = nil
	require.Equal(t, deadletter.HistoryLine{
		At: morning.Add(time.Second), Event: "settled", FromStatus: deadletter.Replaying, ToStatus: deadletter.Resolved, Actor: "ann", RunID: e.Replay.RunID, Claim: 1,
		Outcome: deadletter.PartiallyReplayed, Note: "half of it",
	}, line)
	mark, err := b.store.FindMark(t.Context(), it.Ref)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(store.Mark{
		RecordID: "reca", Clocks: map[string]store.ClockMark{"Source Updated At": {Highest: version(5), Stored: version(5)}}, Guards: map[string]deadletter.GuardMark{},
	}, mark, sameVersion))
	require.Equal(t, "landed", b.value(t, `SELECT state FROM intent WHERE closed_at = replay_now()`))
	require.Equal(t, "true", b.value(t, `SELECT clear_press::text FROM mirror_row WHERE entry_id = $1`, id))
	r := b.run(t, e.Replay.RunID)
	require.Equal(t, deadletter.Counts{Claimed: 1, PartiallyReplayed: 1}, r.Counts)
	require.Equal(t, deadletter.Reconciliation{Updated: 1, Balanced: true, SkippedByReason: map[deadletter.Reason]int{deadletter.ReasonSharedFieldChanged: 1}}, r.Reconciliation)
	require.Equal(t, []any{deadletter.RunCompleted, morning, morning.Add(time.Second)}, []any{r.Status, r.StartedAt, r.FinishedAt})
}

// Members that are no longer held keep their status, show that their write has landed, and say so at
// the next press; also when they were taken away between the answer and its recording (R2).
func TestLandingOfWhatWasTakenAway(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	var ids []string
	for _, name := range []string{"held", "reset", "ignored", "claimed again"} {
		ids = append(ids, b.fileAs(t, filing(orders, name, "O-1")).ID)
	}
	write := b.accept(t, orders, "O-2", "{}")
	b.claim(t, press(ids...))
	l := b.lease(t, orders)
	items := b.take(t, l).Items
	in := b.intend(t, l, writeOf(items[1]))
	live := b.intend(t, l, writeOf(items[0]))
	b.exec(t, `UPDATE intent SET retry = true`) // given up on, so that they can be reset
	for _, id := range ids[1:] {
		require.NoError(t, b.store.ResetEntry(t.Context(), id, "admin", ""))
		require.Equal(t, []deadletter.Flag{deadletter.MayHaveBeenWritten}, b.show(t, id).Flags)
		require.Contains(t, b.show(t, id).Replay.Notes, "A write was under way")
	}
	require.NoError(t, b.store.IgnoreEntry(t.Context(), ids[2], "ann", ""))
	b.claim(t, press(ids[3]))

	// The pass believes that it holds them all.
	landing := landed(in, items[1].Ref)
	require.NoError(t, b.store.SettleLandings(t.Context(), l, []store.Landing{landing, landed(live, items[0].Ref)}, nil))
	require.Equal(t, deadletter.Replayed, b.show(t, ids[0]).Replay.Outcome)
	require.Empty(t, b.show(t, ids[0]).Flags)
	for i, status := range map[int]deadletter.Status{1: deadletter.PendingReview, 2: deadletter.Ignored, 3: deadletter.Replaying} {
		e := b.show(t, ids[i])
		require.Equal(t, status, e.Status)
		require.Equal(t, []deadletter.Flag{deadletter.Landed}, e.Flags)
		last := b.lastLine(t, ids[i])
		require.Equal(t, []any{"landed", status, status}, []any{last.Event, last.FromStatus, last.ToStatus})
	}
	w, err := b.store.ShowWrite(t.Context(), write)
	require.NoError(t, err)
	require.Equal(t, "written", w.Status)

	b.claim(t, press(ids[1]))
	for _, it := range b.take(t, l).Items {
		for _, m := range it.Members {
			require.Equal(t, in.ID, m.LandedIntent)
			require.Equal(t, version(5), m.Wrote, "its own version is not newer than it")
			s := outcome(m, deadletter.Replayed, "")
			require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{s}))
			e := b.show(t, m.ID)
			require.Equal(t, deadletter.Resolved, e.Status)
			require.Empty(t, e.Flags, "it is recorded now")
			require.Equal(t, "null", b.value(t, `SELECT landed_intent::text FROM entry WHERE id = $1`, m.ID))
		}
	}
}

// A landing with an attempt that is unaccounted for leaves the record resting until that can no longer
// land, whether or not it was noted as resting before; a certain one ends the rest (R4b).
func TestUncertainLandingLeavesARest(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	for name, certain := range map[string]bool{"certain": true, "uncertain": false} {
		l, it := b.work(t, b.file(t, name).ID)
		in := b.intend(t, l, writeOf(it))
		require.NoError(t, b.store.GiveUp(t.Context(), l, []store.GivenUp{{IntentID: in.ID, Ref: it.Ref, Fate: deadletter.FateOpen}}, nil, nil))
		b.advance(t, 2*time.Second)
		again := writeOf(it)
		again.IntentID = in.ID
		in = b.intend(t, l, again) // and the pass dies: this attempt's rest is noted nowhere
		d := landed(in, it.Ref)
		d.Certain = certain
		require.NoError(t, b.store.SettleLandings(t.Context(), l, []store.Landing{d}, nil))
		mark, err := b.store.FindMark(t.Context(), it.Ref)
		require.NoError(t, err)
		require.Equal(t, !certain, mark.Resting)
		if !certain {
			require.True(t, mark.RestUntil.Equal(in.MayLandUntil), "until the later of both can no longer land")
		}
		b.advance(t, 35*time.Second)
		b.exec(t, `DELETE FROM mirror_row`)
	}
}

// What is known of an unanswered write in the end: not landed takes the doubt away, unknown leaves it
// for good, and one doubt is not taken away by another's end (R2).
func TestMisses(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	id := b.file(t, "a").ID
	flags := func() []deadletter.Flag { return b.show(t, id).Flags }
	var l store.Lease
	intents := map[string]store.OpenIntent{}
	var ref store.RecordRef
	for _, name := range []string{"first", "second", "third"} {
		var it store.Item
		l, it = b.work(t, id)
		ref = it.Ref
		intents[name] = b.intend(t, l, writeOf(it))
		b.exec(t, `UPDATE intent SET retry = true`)
		require.NoError(t, b.store.ResetEntry(t.Context(), id, "admin", ""))
		b.advance(t, 35*time.Second)
	}
	b.claim(t, press(id))
	l = b.lease(t, orders)
	miss := func(name string, fate deadletter.Fate) {
		t.Helper()
		require.NoError(t, b.store.SettleMisses(t.Context(), l, []store.Miss{{Intent: intents[name], Ref: ref, Fate: fate}}))
		require.Equal(t, string(fate), b.value(t, `SELECT state FROM intent WHERE id = $1`, intents[name].ID))
	}
	require.Equal(t, []deadletter.Flag{deadletter.MayHaveBeenWritten}, flags())
	miss("first", deadletter.FateNotLanded)
	require.Equal(t, []deadletter.Flag{deadletter.MayHaveBeenWritten}, flags(), "two more are open")
	miss("second", deadletter.FateNotLanded)
	miss("third", deadletter.FateNotLanded)
	require.Empty(t, flags())

	b.exec(t, `UPDATE intent SET state = 'open', closed_at = NULL`)
	miss("first", deadletter.FateUnknown)
	miss("second", deadletter.FateNotLanded)
	miss("third", deadletter.FateNotLanded)
	require.Equal(t, []deadletter.Flag{deadletter.MayHaveBeenWritten}, flags())
}

// Marks are kept by version field and shared field, digits and all.
func TestMarksKeepWhatLanded(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	l, it := b.work(t, b.file(t, "a").ID)
	mark := store.Mark{
		RecordID: "rec1", Clocks: map[string]store.ClockMark{"A": {Highest: version(9007199254740993), Stored: version(1)}, "B": {Highest: version(2)}},
		Guards: map[string]deadletter.GuardMark{"S": {Stamp: "2026-10-05T08:00:00.000Z", Value: json.Number("1.10")}, "T": {Stamp: "x"}},
	}
	d := landed(b.intend(t, l, writeOf(it)), it.Ref)
	d.Mark = mark
	require.NoError(t, b.store.SettleLandings(t.Context(), l, []store.Landing{d}, nil))
	got, err := b.store.FindMark(t.Context(), it.Ref)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(mark, got, sameVersion))
	require.Equal(t, deadletter.Mark{RecordID: "rec1", Highest: version(2), Guards: mark.Guards}, got.Of("B"))
	require.Equal(t, deadletter.Mark{RecordID: "rec1", Guards: mark.Guards}, got.Of("C"))
	none, err := b.store.FindMark(t.Context(), store.RecordRef{Target: "x", Key: "k:y"})
	require.NoError(t, err)
	require.Zero(t, none)
}
