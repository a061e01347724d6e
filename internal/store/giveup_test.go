package store_test

import (
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// gaveUp is an attempt that was given up on.
func gaveUp(in store.OpenIntent, ref store.RecordRef, status int, fate deadletter.Fate) []store.GivenUp {
	return []store.GivenUp{{IntentID: in.ID, Ref: ref, Status: status, Fate: fate}}
}

// An attempt without an answer leaves its intent open, to be tried again as the same write, and its
// record resting until it can no longer land (R4b).
func TestUnansweredAttemptRests(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	l, it := b.work(t, b.file(t, "a").ID)
	in := b.intend(t, l, writeOf(it))
	b.advance(t, 20*time.Second)
	require.NoError(t, b.store.GiveUp(t.Context(), l, gaveUp(in, it.Ref, 0, deadletter.FateOpen), nil, nil))
	got := b.intent(t, in.ID)
	require.Equal(t, "open", b.value(t, `SELECT state FROM intent`))
	require.True(t, got.Retry)
	require.False(t, got.DueAt)
	requireAttempts(t, []store.Attempt{at(morning)}, got.Attempts)
	mark, err := b.store.FindMark(t.Context(), it.Ref)
	require.NoError(t, err)
	require.True(t, mark.RestUntil.Equal(morning.Add(unanswered)))

	b.exec(t, `UPDATE record_mark SET rest_until = rest_until + interval '1 hour'`)
	require.NoError(t, b.store.GiveUp(t.Context(), l, gaveUp(in, it.Ref, 503, deadletter.FateOpen), nil, nil))
	mark, err = b.store.FindMark(t.Context(), it.Ref)
	require.NoError(t, err)
	require.True(t, mark.RestUntil.Equal(morning.Add(unanswered+time.Hour)), "a longer rest stays")
	require.Equal(t, 503, b.intent(t, in.ID).Attempts[0].Status)
}

// A refused attempt ends its intent, unless an earlier one is unaccounted for: then the bound is that
// one's again (R3).
func TestRefusedAttempt(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	id := b.file(t, "a").ID
	l, it := b.work(t, id)
	in := b.intend(t, l, writeOf(it))
	require.NoError(t, b.store.GiveUp(t.Context(), l, gaveUp(in, it.Ref, 429, deadletter.FateNotLanded), nil, nil))
	require.Equal(t, "not_landed", b.value(t, `SELECT state FROM intent WHERE closed_at = replay_now()`))
	mark, err := b.store.FindMark(t.Context(), it.Ref)
	require.NoError(t, err)
	require.False(t, mark.Resting)

	in = b.intend(t, l, writeOf(it))
	require.NoError(t, b.store.GiveUp(t.Context(), l, gaveUp(in, it.Ref, 0, deadletter.FateOpen), nil, nil))
	b.advance(t, 3*time.Second)
	again := writeOf(it)
	again.IntentID = in.ID
	in = b.intend(t, l, again)
	require.NoError(t, b.store.GiveUp(t.Context(), l, gaveUp(in, it.Ref, 422, deadletter.FateNotLanded), nil, nil))
	got := b.intent(t, in.ID)
	require.Equal(t, "open", b.value(t, `SELECT state FROM intent WHERE id = $1`, in.ID))
	second := at(morning.Add(3 * time.Second))
	second.Status, second.Fate = 422, deadletter.FateNotLanded
	requireAttempts(t, []store.Attempt{at(morning), second}, got.Attempts)
	require.True(t, got.MayLandUntil.Equal(morning.Add(unanswered)))
	require.True(t, got.Certain(false))

	require.NoError(t, b.store.SettleMisses(t.Context(), l, []store.Miss{{Intent: got, Ref: it.Ref, Fate: deadletter.FateUnknown}}))
	require.NoError(t, b.store.GiveUp(t.Context(), l, gaveUp(in, it.Ref, 422, deadletter.FateNotLanded), nil, nil))
	require.NoError(t, b.store.GiveUp(t.Context(), l, gaveUp(in, it.Ref, 0, deadletter.FateOpen), nil, nil))
	require.Equal(t, "unknown", b.value(t, `SELECT state FROM intent WHERE id = $1`, in.ID), "closed is closed")
}

// What waits stays claimed, comes up again when it is due and not before, and counts its attempts (W2).
func TestPostponedMembersComeUpWhenDue(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	ids := b.fileIDs(t, "counted", "uncounted", "until", "alone")
	write := b.accept(t, orders, "live", "{}")
	b.claim(t, press(ids...))
	l := b.lease(t, orders)
	refs := map[string]store.MemberRef{}
	for _, m := range membersOf(b.take(t, l)) {
		refs[m.ID] = m.MemberRef
	}
	wait := func(id string, p store.Postpone) store.Postpone {
		p.Members = []store.MemberRef{refs[id]}
		return p
	}
	require.NoError(t, b.store.GiveUp(t.Context(), l, nil, []store.Postpone{
		wait(ids[0], store.Postpone{Wait: 2 * time.Second, Counted: true, Status: 503, Error: "busy"}),
		wait(ids[1], store.Postpone{Wait: 3 * time.Second, Status: 500, Error: "not said"}),
		wait(ids[2], store.Postpone{Wait: time.Hour, Until: morning.Add(4 * time.Second)}),
		wait(ids[3], store.Postpone{Wait: 5 * time.Second, Alone: true}),
		wait(write, store.Postpone{Wait: 6 * time.Second, Counted: true, Error: "no answer"}),
		{Members: []store.MemberRef{{Kind: deadletter.MemberEntry, ID: ids[0], Claim: 7}}, Wait: time.Hour, Counted: true},
	}, nil))
	require.Empty(t, b.take(t, l).Items)
	seen := map[string]store.Member{}
	b.advance(t, time.Second)
	for _, id := range []string{ids[0], ids[1], ids[2], ids[3], write} {
		b.advance(t, time.Second-time.Microsecond)
		require.NotContains(t, idsOf(b.take(t, l)), id, "not yet")
		b.advance(t, time.Microsecond)
		c := b.take(t, l)
		require.Contains(t, idsOf(c), id)
		for _, m := range membersOf(c) {
			seen[m.ID] = m
		}
		b.settled(t, l, c)
	}
	require.Equal(t, []any{1, 503, "busy"}, []any{seen[ids[0]].Tries, seen[ids[0]].LastStatus, seen[ids[0]].LastError})
	require.Equal(t, []any{0, 0, ""}, []any{seen[ids[1]].Tries, seen[ids[1]].LastStatus, seen[ids[1]].LastError}, "uncounted")
	require.Equal(t, []any{1, 0, "no answer"}, []any{seen[write].Tries, seen[write].LastStatus, seen[write].LastError})
	require.True(t, seen[ids[3]].Alone)
	require.Equal(t, "true", b.value(t, `SELECT (first_attempt_at = $2)::text FROM write WHERE id = $1`, write, morning))
}

func idsOf(c store.Chunk) []string {
	var ids []string
	for _, m := range membersOf(c) {
		ids = append(ids, m.ID)
	}
	return ids
}

// A write that still may land is looked for again, at the latest when it no longer can, and its record
// rests until then (R4b).
func TestLookLater(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	l, it := b.work(t, b.file(t, "a").ID)
	in := b.intend(t, l, writeOf(it))
	b.advance(t, 30*time.Second)
	look := func() string {
		return b.value(t, `SELECT extract(epoch FROM look_at - replay_now())::int::text FROM intent`)
	}
	require.NoError(t, b.store.LookLater(t.Context(), l, []store.OpenIntent{in}, 10*time.Second))
	require.Equal(t, "10", look())
	mark, err := b.store.FindMark(t.Context(), it.Ref)
	require.NoError(t, err)
	require.True(t, mark.RestUntil.Equal(morning.Add(unanswered)))
	require.NoError(t, b.store.LookLater(t.Context(), l, []store.OpenIntent{in}, time.Hour))
	require.Equal(t, "55", look())
	require.NoError(t, b.store.LookLater(t.Context(), l, []store.OpenIntent{in}, 10*time.Second))
	for range 2 {
		b.advance(t, 30*time.Second)
		require.NoError(t, b.store.LookLater(t.Context(), l, nil, time.Second))
	}
	require.NoError(t, b.store.LookLater(t.Context(), l, []store.OpenIntent{in}, 10*time.Second))
	require.Equal(t, "10", look(), "past the bound")
}

// A live write ends as written, stale, or as an entry that holds its payload (L1, L2).
func TestLiveWritesEnd(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	l := store.Lease{}
	for outcomeOf, want := range map[deadletter.Outcome]string{
		deadletter.Replayed: "written", deadletter.PartiallyReplayed: "written", deadletter.Superseded: "stale",
		deadletter.NeedsReview: "dead_lettered", deadletter.ReplayFailed: "dead_lettered",
	} {
		id := b.accept(t, orders, string(outcomeOf), "{\x00\xff")
		if l.Token == 0 {
			l = b.lease(t, orders)
		}
		m := b.take(t, l).Items[0].Members[0]
		s := outcome(m, outcomeOf, deadletter.ReasonOutOfOrder)
		s.RecordID, s.Tries, s.StatusCode, s.ErrorDetail = "rec1", 3, 422, "no"
		s.Filing.RawPayload, s.Filing.Attempts = m.RawPayload, 3
		require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{s}))
		require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{s}), "again, and no harm")
		w, err := b.store.ShowWrite(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, []any{want, deadletter.ReasonOutOfOrder, "because", "rec1", morning}, []any{w.Status, w.Reason, w.Note, w.RecordID, w.SettledAt})
		if want != "dead_lettered" {
			require.Empty(t, w.EntryID)
			continue
		}
		e := b.show(t, w.EntryID)
		require.Equal(t, []any{"{\x00\xff", deadletter.PendingReview, 3}, []any{string(e.RawPayload), e.Status, e.Attempts})
	}
	require.Equal(t, "2", b.value(t, `SELECT count(*)::text FROM entry`))

	id := b.accept(t, orders, "odd", "{}")
	m := b.take(t, l).Items[0].Members[0]
	require.Error(t, b.store.Settle(t.Context(), l, []store.Settlement{outcome(m, "", "")}), "no outcome is no outcome")
	s := outcome(m, deadletter.ReplayFailed, deadletter.ReasonNoMatch)
	s.Filing = nil
	require.Error(t, b.store.Settle(t.Context(), l, []store.Settlement{s}), "a dead letter without an entry is lost")
	w, err := b.store.ShowWrite(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "queued", w.Status)
	_, err = b.store.ShowWrite(t.Context(), "x")
	require.Equal(t, "write-not-found", problem(t, err).Problem)
	_, err = b.store.ShowWrite(t.Context(), "0197c0de-0000-7000-8000-000000000000")
	require.Equal(t, "write-not-found", problem(t, err).Problem)
}

// Writes are accepted all or none, in order, and come back as they were sent.
func TestWritesAreAcceptedAllOrNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	bad := incoming("no such base", "b", "{}")
	_, err := b.store.AcceptWrites(t.Context(), []store.Incoming{incoming(orders, "a", "{}"), bad})
	require.Error(t, err)
	require.Equal(t, "0", b.value(t, `SELECT count(*)::text FROM write`))
	var in []store.Incoming
	for range 1000 {
		in = append(in, incoming(orders, "a", strings.Repeat("x", 10)))
	}
	ids, err := b.store.AcceptWrites(t.Context(), in)
	require.NoError(t, err)
	rows, err := b.db.Pool.Query(t.Context(), `SELECT id::text FROM write ORDER BY seq`)
	require.NoError(t, err)
	stored, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, ids, stored)
}

// A failure by the entry's own fault counts towards the cap, others do not, and a success starts over
// (O3).
func TestOwnFailuresAreCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.file(t, "a").ID
	for _, c := range []struct {
		outcome deadletter.Outcome
		reason  deadletter.Reason
		want    int
	}{
		{deadletter.ReplayFailed, deadletter.ReasonNoMatch, 1}, {deadletter.ReplayFailed, deadletter.ReasonOpenSiblings, 1},
		{deadletter.ReplayFailed, deadletter.ReasonInvalidValue, 2}, {deadletter.NeedsReview, deadletter.ReasonSharedFieldChanged, 2},
		{deadletter.ReplayFailed, deadletter.ReasonDependencyMissing, 2}, {deadletter.Replayed, "", 0},
	} {
		l, it := b.work(t, id)
		require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{outcome(it.Members[0], c.outcome, c.reason)}))
		require.Equal(t, c.want, b.show(t, id).OwnFailures, c.reason)
		b.release(t, l)
	}
}
