package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// Two hundred presses of one entry at once: one claims it (P2).
func TestManyPressesClaimOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.wide(t, 20)
	id := b.file(t, "a").ID
	const presses = 200
	claims, errs := make([]store.Claimed, presses), make([]error, presses)
	var wg sync.WaitGroup
	for i := range presses {
		wg.Go(func() { claims[i], errs[i] = s.ClaimEntries(t.Context(), press(id)) })
	}
	wg.Wait()
	var won []store.Claimed
	for i := range presses {
		require.NoError(t, errs[i])
		if claims[i].Count > 0 {
			won = append(won, claims[i])
			continue
		}
		require.Zero(t, claims[i], "who claimed nothing made no run")
	}
	require.Len(t, won, 1)
	require.Equal(t, store.Claimed{RunID: won[0].RunID, Count: 1, Bases: []string{orders}}, won[0])
	require.Equal(t, "1 1 1", b.value(t, `SELECT concat_ws(' ', (SELECT count(*) FROM run), (SELECT count(*) FROM run_entry), (SELECT claim FROM entry))`))
	require.Len(t, b.history(t, id), 2)
}

// Overlapping selections at once share no entry and leave none (P1).
func TestOverlappingSelectionsShareNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.wide(t, 10)
	ids := map[string]bool{}
	for i := range 60 {
		f := filing(orders, fmt.Sprint(i), fmt.Sprint(i%20))
		f.AssignedOwner = []string{"ada", "bob", "cleo"}[i%3]
		ids[b.fileAs(t, f).ID] = true
	}
	selections := []store.Claim{
		runOf(store.Filter{Source: sourceOf(orders)}), runOf(store.Filter{Owner: "ada"}), runOf(store.Filter{Reason: deadletter.ReasonOther}),
		runOf(store.Filter{Target: targetOf(orders)}), runOf(store.Filter{Owner: "bob"}), runOf(store.Filter{Owner: "cleo"}),
	}
	selections[1].WithSiblings, selections[2].Limit, selections[4].Limit = true, 30, 3
	claims, errs := make([]store.Claimed, len(selections)), make([]error, len(selections))
	var wg sync.WaitGroup
	for i, c := range selections {
		wg.Go(func() { claims[i], errs[i] = s.ClaimEntries(t.Context(), c) })
	}
	wg.Wait()
	for i, c := range claims {
		require.NoError(t, errs[i])
		for _, id := range b.claimedIDs(t, c) {
			require.True(t, ids[id], "claimed once")
			delete(ids, id)
			require.Equal(t, c.RunID, b.show(t, id).Replay.RunID)
		}
		if c.RunID != "" {
			require.Equal(t, c.Count, b.run(t, c.RunID).Counts.Claimed)
		}
	}
	require.Empty(t, ids, "left behind")
}

// A claim begins a clean account: whatever the replay before came to stays in the history alone.
func TestClaimBeginsAnew(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	id := b.file(t, "a").ID
	l, it := b.work(t, id)
	s := outcome(it.Members[0], deadletter.NeedsReview, deadletter.ReasonSharedFieldChanged)
	s.StatusCode, s.ErrorDetail, s.RecordID, s.ReviewGroup, s.Tries = 422, "no", "rec1", "0197c0de-0000-7000-8000-000000000001", 3
	s.Verdict.Fields, s.Verdict.Skipped = map[string]any{"A": "b"}, []deadletter.Skip{{Field: "C", Reason: deadletter.ReasonSharedFieldChanged}}
	s.ValuesBefore = map[string]any{"A": nil}
	require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{s}))
	require.NoError(t, b.store.RefusePress(t.Context(), id, "ann", "not now"))
	require.Equal(t, "not now", b.show(t, id).Refusal)
	require.Equal(t, []string{id}, group(t, b, id))

	b.advance(t, time.Hour)
	c := press(id)
	c.Run.Mode, c.Chosen, c.Expect, c.PressReason = deadletter.ChosenFields, []string{"A"}, map[string]map[string]any{id: {"A": "<b>"}}, "looks right"
	claimed := b.claim(t, c)
	e := b.show(t, id)
	require.Empty(t, cmp.Diff(&deadletter.Replay{
		RunID: claimed.RunID, Mode: deadletter.ChosenFields, RequestedBy: "ann", RequestedAt: morning.Add(time.Hour), RecordID: "rec1",
	}, e.Replay))
	require.Equal(t, int64(2), e.Claim)
	require.Empty(t, e.Refusal)
	require.Empty(t, group(t, b, id))
	m := b.take(t, b.lease(t, orders)).Items[0].Members[0] // the first lease has run out
	require.Equal(t, []any{[]string{"A"}, map[string]any{"A": "<b>"}, deadletter.ChosenFields, 0}, []any{m.Chosen, m.Expect, m.Mode, m.Tries})
	require.Equal(t, deadletter.HistoryLine{
		At: morning.Add(time.Hour), Event: "claimed", FromStatus: deadletter.PendingReview, ToStatus: deadletter.Replaying, Actor: "ann", RunID: claimed.RunID,
		Claim: 2, Detail: map[string]any{},
	}, b.lastLine(t, id))
}

func group(t testing.TB, b *bundle, id string) []string {
	t.Helper()
	ids, err := b.store.ReviewGroup(t.Context(), id)
	require.NoError(t, err)
	return ids
}

// Siblings come along, beyond a limit too, so that no record is torn apart (P4).
func TestClaimWithSiblings(t *testing.T) {
	t.Parallel()
	b := setup(t, "other")
	file := func(name, record, owner string, failures int) string {
		f := filing(orders, name, record)
		f.AssignedOwner = owner
		id := b.fileAs(t, f).ID
		b.exec(t, `UPDATE entry SET own_failures = $2 WHERE id = $1`, id, failures)
		return id
	}
	a1, a2, a3 := file("a1", "A", "ada", 0), file("a2", "A", "", 0), file("a3", "A", "", 5)
	b1, b2 := file("b1", "B", "ada", 0), file("b2", "B", "", 0)
	nowhere := []string{file("n1", "", "ada", 0), file("n2", "", "", 0)}
	elsewhere := b.fileAs(t, filing("other", "x", "A")).ID

	siblings, err := b.store.OpenSiblings(t.Context(), a1)
	require.NoError(t, err)
	require.Equal(t, []string{a2, a3}, siblings)
	siblings, err = b.store.OpenSiblings(t.Context(), nowhere[0])
	require.NoError(t, err)
	require.Empty(t, siblings, "two that nobody can place are no siblings")

	c := runOf(store.Filter{Owner: "ada"})
	c.WithSiblings, c.Limit, c.AttemptCap = true, 1, 5
	got := b.taken(t, c)
	require.ElementsMatch(t, []string{a1, a2}, got, "one selected, its sibling, but not the one past the cap")
	c.AttemptCap, c.Limit = 0, 0
	got = b.taken(t, c)
	require.ElementsMatch(t, []string{b1, b2, nowhere[0]}, got)
	for _, id := range []string{a3, nowhere[1], elsewhere} {
		require.Equal(t, deadletter.PendingReview, b.show(t, id).Status)
	}
}

func TestClaimLimitTakesTheOldest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var ids []string
	for i := range 5 {
		f := filing(orders, fmt.Sprint(i), fmt.Sprint(i))
		f.FirstAttemptAt = failed.Add(-time.Duration(i) * time.Hour)
		ids = append(ids, b.fileAs(t, f).ID)
	}
	c := runOf(store.Filter{Source: sourceOf(orders)})
	c.Limit = 2
	require.ElementsMatch(t, ids[3:], b.taken(t, c))
}

// Entries past the attempt cap stay; zero is no cap (O3).
func TestClaimLeavesWhatIsPastTheCap(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.fileIDs(t, "a", "b")
	b.exec(t, `UPDATE entry SET own_failures = 5 WHERE id = $1`, ids[1])
	c := runOf(store.Filter{IDs: ids})
	c.AttemptCap = 5
	require.Equal(t, ids[:1], b.taken(t, c))
	require.Empty(t, b.taken(t, c))
	c.AttemptCap = 0
	require.Equal(t, ids[1:], b.taken(t, c))
}

// A claim of nothing leaves nothing behind, and a selection of everything is not made by accident.
func TestClaimOfNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.file(t, "a")
	before := b.state(t)
	require.Zero(t, b.claim(t, press("0197c0de-0000-7000-8000-000000000000")))
	_, err := b.store.ClaimEntries(t.Context(), runOf(store.Filter{}))
	require.Equal(t, "empty-selection", problem(t, err).Problem)
	_, err = b.store.ClaimEntries(t.Context(), press())
	require.Equal(t, "empty-selection", problem(t, err).Problem)
	require.Empty(t, cmp.Diff(before, b.state(t)))
}

// Nothing is claimed on a halted base, by nobody, not even beside other bases (W7).
func TestClaimOnHaltedBase(t *testing.T) {
	t.Parallel()
	b := setup(t, "other")
	ids := []string{b.file(t, "a").ID, b.fileAs(t, filing("other", "x", "x")).ID}
	_, err := b.store.HaltBase(t.Context(), "other", "the token is gone", "service")
	require.NoError(t, err)
	before := b.state(t)
	c := runOf(store.Filter{IDs: ids}, "other")
	_, err = b.store.ClaimEntries(t.Context(), c)
	d := problem(t, err)
	require.Equal(t, []any{deadletter.CodeConflict, "base-halted"}, []any{d.Code, d.Problem})
	require.Contains(t, d.Message, "the token is gone")
	require.Empty(t, cmp.Diff(before, b.state(t)))
	require.Equal(t, ids[:1], b.taken(t, press(ids[0])))
	require.NoError(t, b.store.ResumeBase(t.Context(), "other"))
	require.Equal(t, ids[1:], b.taken(t, runOf(store.Filter{IDs: ids}, "other")))
}

// An entry goes where its source goes today; one whose source is not configured goes nowhere, and its
// pass says so.
func TestClaimRoutesByTodaysConfiguration(t *testing.T) {
	t.Parallel()
	b := setup(t, "other")
	f := filing("", "a", "a")
	f.SourceSystem, f.TargetTable = "new-system", ""
	id := b.fileAs(t, f).ID
	require.Equal(t, []string{""}, b.claim(t, press(id)).Bases)
	require.NoError(t, b.store.ResetEntry(t.Context(), id, "admin", ""))
	c := press(id)
	c.Routes = []store.Route{{Source: "new-system", Target: "Accounts", Base: "other", Rank: 3}}
	require.Equal(t, []string{"other"}, b.claim(t, c).Bases)
	e := b.show(t, id)
	require.Equal(t, []string{"other", "Accounts"}, []string{e.Base, e.TargetTable})
	require.Equal(t, "3 0", b.value(t, `SELECT concat_ws(' ', rank, priority) FROM entry`))
}

// Ten thousand entries are claimed in one statement, each with its history and its place in the run,
// and the totals of the run add up while it goes and when it is done (B5).
func TestClaimOfTenThousand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.fill(t, 10_000)
	claimed := b.claim(t, runOf(store.Filter{Reason: deadletter.ReasonOther}))
	require.Equal(t, 10_000, claimed.Count)
	require.Equal(t, "10000 10000 10000 10000", b.value(t, `SELECT concat_ws(' ', (SELECT count(*) FROM entry WHERE status = 'replaying' AND claim = 1 AND run_id = $1),
		(SELECT count(*) FROM run_entry WHERE run_id = $1), (SELECT count(DISTINCT entry_id) FROM entry_history WHERE event = 'claimed' AND run_id = $1), (SELECT claimed FROM run))`, claimed.RunID))
	r := b.run(t, claimed.RunID)
	require.Equal(t, deadletter.RunQueued, r.Status)
	require.False(t, r.Reconciliation.Balanced, "nothing is settled yet")
	require.NoError(t, b.store.StopRun(t.Context(), claimed.RunID, deadletter.ReasonRunStopped, "enough"))
	r = b.run(t, claimed.RunID)
	require.Equal(t, deadletter.Counts{Claimed: 10_000, Released: 10_000}, r.Counts)
	require.True(t, r.Reconciliation.Balanced)
}

// fill files many entries, each about a record of its own, by one statement.
func (b *bundle) fill(t testing.TB, n int) {
	t.Helper()
	b.exec(t, `INSERT INTO entry (id, filing_key, source_system, base, target_table, target_id, operation, raw_payload, reason_code, version, version_sort, first_attempt_at)
		SELECT gen_random_uuid(), sha256(i::text::bytea), $2, $3, $4, 'O-' || i, 'update', convert_to('{"id": ' || i || '}', 'UTF8'),
			CASE WHEN i % 2 = 0 OR $1 <= 10000 THEN 'other' ELSE 'no_match' END, 'number:' || i, i, timestamptz '2026-10-01 09:00+00' + i * interval '1 second'
		FROM generate_series(1, $1::int) i`, n, sourceOf(orders), orders, targetOf(orders))
	b.exec(t, `INSERT INTO entry_payload (entry_id, revision, raw_payload) SELECT id, 0, raw_payload FROM entry`)
	b.exec(t, `ANALYZE`)
}

// A press that comes late finds the key of an entry as the pass that works on it knows it.
func TestReidentifyLeavesWhatIsWorkedOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := b.file(t, "a")
	require.NoError(t, b.reidentify(t.Context(), e.ID, "b", "7", version(7)))
	e = b.show(t, e.ID)
	require.Equal(t, []string{"b", "7"}, []string{e.TargetID, e.SourceVersion})
	require.NoError(t, b.reidentify(t.Context(), e.ID, "", "8", deadletter.Version{}))
	require.Equal(t, "b 8 null", b.value(t, `SELECT concat_ws(' ', target_id, source_version, coalesce(version_sort::text, 'null')) FROM entry`))
	b.claim(t, press(e.ID))
	require.NoError(t, b.reidentify(t.Context(), e.ID, "c", "9", version(9)))
	require.Equal(t, "b", b.show(t, e.ID).TargetID)
}

// reidentify corrects an entry under its lock, as a press does.
func (b *bundle) reidentify(ctx context.Context, id, key, raw string, v deadletter.Version) error {
	return b.store.InTx(ctx, func(ctx context.Context) error {
		locked, err := b.store.LockEntry(ctx, id, nil)
		if err != nil {
			return err
		}
		return b.store.Reidentify(ctx, locked, key, raw, v)
	})
}

// A refusal is seen at the entry and in its history, and asks for the untick (T3, R10).
func TestRefusedPressLeavesANote(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	id := b.file(t, "a").ID
	require.NoError(t, b.store.RefusePress(t.Context(), id, "ann", "the base is halted"))
	require.Equal(t, "the base is halted", b.show(t, id).Refusal)
	require.Empty(t, cmp.Diff(deadletter.HistoryLine{
		At: morning, Event: "refused", FromStatus: deadletter.PendingReview, ToStatus: deadletter.PendingReview, Actor: "ann", Note: "the base is halted", Detail: map[string]any{},
	}, b.lastLine(t, id)))
	require.Equal(t, "true", b.value(t, `SELECT clear_press::text FROM mirror_row WHERE entry_id = $1`, id))
	require.Equal(t, "2", b.value(t, `SELECT revision::text FROM mirror_row WHERE entry_id = $1`, id))
}
