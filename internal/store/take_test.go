package store_test

import (
	"fmt"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// keysOf names the records of a chunk by the sender's IDs.
func keysOf(c store.Chunk) []string {
	var keys []string
	for _, it := range c.Items {
		keys = append(keys, it.TargetID)
	}
	return keys
}

func membersOf(c store.Chunk) []store.Member {
	var ms []store.Member
	for _, it := range c.Items {
		ms = append(ms, it.Members...)
	}
	return ms
}

// settled closes everything of a chunk.
func (b *bundle) settled(t testing.TB, l store.Lease, c store.Chunk) {
	t.Helper()
	var settle []store.Settlement
	for _, m := range membersOf(c) {
		settle = append(settle, outcome(m, deadletter.Superseded, deadletter.ReasonNewerFromSender))
	}
	require.NoError(t, b.store.Settle(t.Context(), l, settle))
}

// What was accepted and filed comes up as it was, with what the pass needs to know of it.
func TestTakeTellsAll(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	f := filing(orders, "a", "O-1")
	f.Operation, f.RawPayload, f.Version = deadletter.Upsert, []byte("{\x00\xff"), version(7)
	e := b.fileAs(t, f)
	sibling := b.fileAs(t, filing(orders, "b", "O-1")).ID
	write := b.accept(t, orders, "O-2", "{\x00}")
	claimed := b.claim(t, press(e.ID))
	c := b.take(t, b.lease(t, orders))
	seq := func(id string) (n int64) {
		require.NoError(t, b.db.Pool.QueryRow(t.Context(), `SELECT seq FROM entry WHERE id = $1 UNION SELECT seq FROM write WHERE id = $1`, id).Scan(&n))
		return n
	}
	require.Empty(t, cmp.Diff(store.Chunk{
		Target: targetOf(orders), Now: morning, SinceResume: 24 * time.Hour,
		Items: []store.Item{{
			Ref: store.RecordRef{Target: targetOf(orders), Key: "k:O-2"}, TargetID: "O-2",
			Members: []store.Member{{
				MemberRef: store.MemberRef{Kind: deadletter.MemberWrite, ID: write}, Source: sourceOf(orders), Operation: deadletter.Upsert,
				RawPayload: []byte("{\x00}"), FirstAttemptAt: morning, Order: seq(write), Mode: deadletter.Checked,
			}},
		}, {
			Ref: store.RecordRef{Target: targetOf(orders), Key: "k:O-1"}, TargetID: "O-1", Siblings: []string{sibling},
			Members: []store.Member{{
				MemberRef: store.MemberRef{Kind: deadletter.MemberEntry, ID: e.ID, Claim: 1}, Source: sourceOf(orders), Operation: deadletter.Upsert,
				RawPayload: []byte("{\x00\xff"), FirstAttemptAt: failed, Order: seq(e.ID), Mode: deadletter.Checked, Chosen: []string{}, Flags: []string{},
				Filed: version(7), RunID: claimed.RunID, By: "ann",
			}},
		}},
	}, c, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) }), cmp.Comparer(func(a, b deadletter.Version) bool { return a == b })))
	run := b.run(t, claimed.RunID)
	require.Equal(t, []any{deadletter.RunRunning, morning}, []any{run.Status, run.StartedAt}, "a run runs once its first entry is taken")
}

// A chunk holds up to ten records of one target.
func TestChunkHoldsTenRecordsOfOneTarget(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := store.Incoming{SourceSystem: "s", Base: orders, TargetTable: "First", Operation: deadletter.Upsert, RawPayload: []byte("{}")}
	second := first
	second.TargetTable = "Second"
	var in []store.Incoming
	for i := range 15 {
		first.TargetID, second.TargetID = fmt.Sprint("f", i), fmt.Sprint("s", i)
		in = append(in, first, first, second)
	}
	_, err := b.store.AcceptWrites(t.Context(), in)
	require.NoError(t, err)
	l := b.lease(t, orders)
	for _, want := range []struct {
		target  string
		records int
	}{{"First", 10}, {"Second", 10}, {"First", 5}, {"Second", 5}} {
		c := b.take(t, l)
		require.Equal(t, want.target, c.Target)
		require.Len(t, c.Items, want.records)
		for _, it := range c.Items {
			require.Equal(t, want.target, it.Ref.Target)
			require.Len(t, it.Members, map[string]int{"First": 2, "Second": 1}[want.target], "all that waits for a record comes with it")
		}
		b.settled(t, l, c)
	}
	require.Empty(t, b.take(t, l).Items)
}

// Live writes go before entries, but of five turns one begins with entries, and one with writes before
// that: neither starves (mission L1, B1).
func TestTurnsOfWritesAndEntries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var in []store.Incoming
	for i := range 100 {
		in = append(in, incoming(orders, fmt.Sprint("w", i), "{}"))
	}
	_, err := b.store.AcceptWrites(t.Context(), in)
	require.NoError(t, err)
	b.claim(t, press(b.fileMany(t, 100)...))
	l := b.lease(t, orders)
	turns := ""
	for range 10 {
		c := b.take(t, l)
		require.Len(t, c.Items, 10)
		kinds := map[deadletter.MemberKind]int{}
		for _, m := range membersOf(c) {
			kinds[m.Kind]++
		}
		require.Len(t, kinds, 1)
		turns += string(membersOf(c)[0].Kind)[:1]
		b.settled(t, l, c)
	}
	require.Equal(t, "wwwwewwwwe", turns)
}

// Entries come in the order of presses before runs, dependency rank, target, version, filing.
func TestOrderOfEntries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	file := func(source, name string, v int64) string {
		f := filing(orders, name, name)
		f.SourceSystem, f.TargetTable = source, source+" table"
		if v != 0 {
			f.Version = version(v)
		}
		return b.fileAs(t, f).ID
	}
	lines := []string{file("lines", "l2", 2), file("lines", "l1", 1), file("lines", "l0", 0), file("lines", "l-1", -1), file("lines", "l1b", 1)}
	accounts := file("accounts", "a1", 9)
	others := file("items", "i1", 1)
	pressed := file("lines", "p", 99)
	c := runOf(store.Filter{IDs: append([]string{accounts, others}, lines...)})
	c.Routes = []store.Route{
		{Source: "lines", Target: "lines table", Base: orders, Rank: 1}, {Source: "items", Target: "items table", Base: orders, Rank: 1},
		{Source: "accounts", Target: "accounts table", Base: orders},
	}
	b.claim(t, c)
	c.Run.Kind, c.Filter = deadletter.RunPress, store.Filter{IDs: []string{pressed}}
	b.claim(t, c)
	b.exec(t, `UPDATE entry SET alone = true`) // so that they come one by one
	l := b.lease(t, orders)
	var got []string
	for range 8 {
		chunk := b.take(t, l)
		got = append(got, keysOf(chunk)...)
		b.settled(t, l, chunk)
	}
	require.Equal(t, []string{"p", "a1", "i1", "l-1", "l1", "l1b", "l2", "l0"}, got)
}

// The members of one record come oldest version first, those without a version before them all.
func TestOrderWithinARecord(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var ids []string
	for _, v := range []int64{3, 0, 1, 2, 1} {
		f := filing(orders, fmt.Sprint(v, len(ids)), "O-1")
		if v != 0 {
			f.Version = version(v)
		}
		ids = append(ids, b.fileAs(t, f).ID)
	}
	b.claim(t, press(ids...))
	var got []string
	for _, m := range b.take(t, b.lease(t, orders)).Items[0].Members {
		got = append(got, m.ID)
	}
	require.Equal(t, []string{ids[1], ids[2], ids[4], ids[3], ids[0]}, got)
}

// Of one record a chunk takes live writes or entries, never both.
func TestOneRecordOneKind(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 5 {
		b.accept(t, orders, fmt.Sprint("entry ", i), "{}")
	}
	b.claim(t, press(b.fileMany(t, 5)...))
	l := b.lease(t, orders)
	c := b.take(t, l)
	require.Len(t, membersOf(c), 5)
	for _, m := range membersOf(c) {
		require.Equal(t, deadletter.MemberWrite, m.Kind)
	}
	b.exec(t, `UPDATE base SET turn = 4 WHERE name = $1`, orders)
	c = b.take(t, l)
	require.Len(t, membersOf(c), 5)
	for _, m := range membersOf(c) {
		require.Equal(t, deadletter.MemberEntry, m.Kind, "on the turn of entries")
	}
}

// What must be alone comes alone, with all that waits for its record, and holds up nobody.
func TestAloneComesAlone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := b.fileIDs(t, "a", "b", "c", "d")
	again := b.fileAs(t, filing(orders, "b again", "b")).ID
	b.claim(t, press(append(ids, again)...))
	b.exec(t, `UPDATE entry SET alone = true WHERE id = $1`, ids[1])
	b.exec(t, `INSERT INTO record_mark (target_table, record_key, deaths) VALUES ($1, 'k:c', 2)`, targetOf(orders))
	l := b.lease(t, orders)
	c := b.take(t, l)
	require.Equal(t, []string{"a", "d"}, keysOf(c))
	b.settled(t, l, c)
	c = b.take(t, l)
	require.Equal(t, []string{"b"}, keysOf(c))
	require.Len(t, c.Items[0].Members, 2)
	b.settled(t, l, c)
	require.Equal(t, []string{"c"}, keysOf(b.take(t, l)))
}

// A record that rests is passed over, whatever waits for it, unless the same write may be sent again by
// the pass that sent it; an intent to be looked at comes all the same (R4b).
func TestRestingRecordsArePassedOver(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	ids := b.fileIDs(t, "a", "b", "c")
	b.claim(t, press(ids...))
	b.accept(t, orders, "a", "{}")
	later := b.fileAs(t, filing(orders, "b again", "b")).ID
	b.claim(t, press(later))
	l := b.lease(t, orders)
	items := map[string]store.Item{}
	b.exec(t, `UPDATE base SET turn = 4 WHERE name = $1`, orders)
	for _, it := range b.take(t, l).Items {
		items[it.TargetID] = it
	}
	for _, key := range []string{"a", "b"} {
		it := items[key]
		it.Members = it.Members[:1]
		in := b.intend(t, l, writeOf(it))
		require.NoError(t, b.store.GiveUp(t.Context(), l, []store.GivenUp{{IntentID: in.ID, Ref: it.Ref, Fate: deadletter.FateOpen}}, nil, nil))
		if key == "a" {
			b.exec(t, `UPDATE intent SET retry = false WHERE id = $1`, in.ID) // as of a pass that died
		}
	}
	c := b.take(t, l)
	require.ElementsMatch(t, []string{"b", "c"}, keysOf(c))
	for _, it := range c.Items {
		if it.TargetID == "b" {
			require.Len(t, it.Members, 1, "its own write again, and nothing else")
			require.True(t, it.Mark.Resting)
			require.Equal(t, morning.Add(unanswered), it.Mark.RestUntil)
		}
	}
	b.settled(t, l, c)
	require.Empty(t, b.take(t, l).Items)
	require.NoError(t, b.store.StoreFact(t.Context(), c.Items[0].Intents[0].ID, store.Fact{RecordID: "rec1"}))
	require.Len(t, b.take(t, l).Items, 1, "a fact is looked at at once")
	b.advance(t, unanswered)
	l = b.lease(t, orders)
	require.ElementsMatch(t, []string{"a", "b"}, keysOf(b.take(t, l)), "the rest is over")
}

// An intent whose time to be looked at has come brings its record up first, with nothing else waiting.
func TestIntentsComeFirst(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	l, it := b.work(t, b.file(t, "a").ID)
	in := b.intend(t, l, writeOf(it))
	require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{outcome(it.Members[0], deadletter.Superseded, deadletter.ReasonNewerFromSender)}))
	b.accept(t, orders, "w", "{}")
	require.Equal(t, []string{"w"}, keysOf(b.take(t, l)))
	b.advance(t, 35*time.Second)
	c := b.take(t, b.lease(t, orders))
	require.Equal(t, []string{"a", "w"}, keysOf(c))
	got := c.Items[0].Intents[0]
	require.True(t, got.DueAt)
	require.Equal(t, in.ID, got.ID)
	require.False(t, got.Members[0].Held)
	require.Empty(t, c.Items[0].Members)
}
