package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// A record with more than a chunk may hold is taken in parts, the oldest first, and the payloads beyond
// the bound are left where they are.
func TestChunkIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	insert := func(record string, n, size int) {
		b.exec(t, `INSERT INTO write (id, source_system, base, target_table, target_id, operation, raw_payload)
			SELECT gen_random_uuid(), 's', $1, 'T', $2, 'upsert', convert_to(repeat('x', $3), 'UTF8') FROM generate_series(1, $4::int)`, orders, record, size, n)
	}
	insert("hot", 1005, 1)
	insert("cold", 1, 1)
	l := b.lease(t, orders)
	c := b.take(t, l)
	require.Equal(t, []string{"hot"}, keysOf(c), "a record for which there is no room waits for the next chunk")
	require.Len(t, membersOf(c), 1000)
	last := int64(0)
	for _, m := range membersOf(c) {
		require.Greater(t, m.Order, last)
		last = m.Order
	}
	b.settled(t, l, c)
	c = b.take(t, l)
	require.Len(t, membersOf(c), 6)
	b.settled(t, l, c)

	insert("big", 20, 1<<20)
	insert("also big", 3, 1<<20)
	c = b.take(t, l)
	got := map[string]int{}
	for _, it := range c.Items {
		got[it.TargetID] = len(it.Members)
	}
	require.Equal(t, map[string]int{"big": 16, "also big": 1}, got, "16 MiB, and of each record one at least")
}

// Entries share the bounds of a chunk with the live writes in it.
func TestWritesAndEntriesShareTheBounds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	big := strings.Repeat("x", 6<<20)
	for _, name := range []string{"w1", "w2"} {
		b.accept(t, orders, name, big)
	}
	var ids []string
	for i := range 3 {
		f := filing(orders, fmt.Sprint(i), "e")
		f.RawPayload = []byte(big[:3<<20])
		ids = append(ids, b.fileAs(t, f).ID)
	}
	b.claim(t, press(ids...))
	c := b.take(t, b.lease(t, orders))
	require.Equal(t, []string{"w1", "w2", "e"}, keysOf(c))
	require.Len(t, c.Items[2].Members, 1)
}

func TestClosedBaseGivesNoChunk(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	b.accept(t, orders, "a", "{}")
	l := b.lease(t, orders)
	require.NoError(t, b.store.PauseBase(t.Context(), orders, time.Minute, "429"))
	require.Equal(t, store.Chunk{Closed: true}, b.take(t, l))
	_, err := b.store.HaltBase(t.Context(), orders, "x", "service")
	require.NoError(t, err)
	require.True(t, b.take(t, l).Closed)
}

// Members whose payloads do not tell their record stand each for itself, until their key is found.
func TestMembersOfNoKnownRecord(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := []string{b.fileAs(t, filing(orders, "a", "")).ID, b.fileAs(t, filing(orders, "b", "")).ID}
	write := b.accept(t, orders, "", "{}")
	b.claim(t, press(ids...))
	l := b.lease(t, orders)
	c := b.take(t, l)
	require.Equal(t, []string{"", "", ""}, keysOf(c))
	refs := map[string]store.MemberRef{}
	for _, m := range membersOf(c) {
		refs[m.ID] = m.MemberRef
		require.NoError(t, b.store.SetTargetID(t.Context(), l, m.MemberRef, "O-1"))
	}
	require.NoError(t, b.store.SetTargetID(t.Context(), l, refs[write], "O-2"), "said once")
	c = b.take(t, l)
	require.Equal(t, []string{"O-1"}, keysOf(c))
	require.Equal(t, write, membersOf(c)[0].ID)
	b.settled(t, l, c)
	require.Len(t, membersOf(b.take(t, l)), 2)

	require.NoError(t, b.store.ResetEntry(t.Context(), ids[0], "admin", ""))
	b.exec(t, `UPDATE entry SET target_id = NULL WHERE id = $1`, ids[0])
	require.NoError(t, b.store.SetTargetID(t.Context(), l, refs[ids[0]], "O-3"))
	require.Empty(t, b.show(t, ids[0]).TargetID, "who no longer holds it names nothing")
}

func TestOpenWorkOfARecord(t *testing.T) {
	t.Parallel()
	b := setup(t)
	open := func() bool {
		t.Helper()
		open, err := b.store.OpenWork(t.Context(), targetOf(orders), "a")
		require.NoError(t, err)
		return open
	}
	id := b.file(t, "a").ID
	require.False(t, open(), "pending is not under way")
	b.claim(t, press(id))
	require.True(t, open())
	require.NoError(t, b.store.ResetEntry(t.Context(), id, "admin", ""))
	require.False(t, open())
	b.accept(t, orders, "a", "{}")
	require.True(t, open())
}

// A preview sees an entry as a chunk would hold it, and changes nothing (O2).
func TestItemOfAnEntry(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	e := b.file(t, "a")
	sibling := b.fileAs(t, filing(orders, "b", "a")).ID
	l, it := b.work(t, e.ID)
	in := b.intend(t, l, writeOf(it))
	before := b.state(t)
	e = b.show(t, e.ID)
	got, err := b.store.ItemOf(t.Context(), e)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(before, b.state(t)))
	require.Equal(t, []string{sibling}, got.Siblings)
	require.Equal(t, it.Ref, got.Ref)
	require.Equal(t, "a", got.TargetID)
	require.Equal(t, in.ID, got.Intents[0].ID)
	require.Equal(t, it.Members[0].MemberRef, got.Members[0].MemberRef)
	require.Equal(t, it.Members[0].Order, got.Members[0].Order)
}
