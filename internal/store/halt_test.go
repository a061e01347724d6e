package store_test

import (
	"context"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/stretchr/testify/require"
)

// tryLease tells whether the lease of the base of orders can be had.
func (b *bundle) tryLease(t testing.TB) (store.Lease, bool) {
	t.Helper()
	l, ok, err := b.store.AcquireLease(t.Context(), orders, "x", time.Minute)
	require.NoError(t, err)
	return l, ok
}

// woken lists the bases for which a tick asks for a pass.
func (b *bundle) woken(t testing.TB) (bases []string) {
	t.Helper()
	require.NoError(t, b.store.WakeDueBases(t.Context(), 0, func(_ context.Context, base string) error {
		bases = append(bases, base)
		return nil
	}))
	return bases
}

// dueRows lists the entries whose rows may be sent now.
func (b *bundle) dueRows(t testing.TB) []string {
	t.Helper()
	rows, err := b.store.DueMirrorRows(t.Context(), orders, 10)
	require.NoError(t, err)
	due, _, err := b.store.MirrorState(t.Context(), orders)
	require.NoError(t, err)
	require.Equal(t, len(rows) > 0, due)
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.Entry.ID)
	}
	return ids
}

// A base that is halted for its data, or on an admin's word, is worked on for the rows of its mirror and
// for nothing else (R9).
func TestHaltForDataLeavesTheMirror(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	id := b.file(t, "a").ID
	b.claim(t, press(id))
	write := b.accept(t, orders, "b", "{}")
	_, err := b.store.HaltBase(t.Context(), orders, "x", "ann")
	require.NoError(t, err)
	require.Equal(t, deadletter.PendingReview, b.show(t, id).Status)
	require.Equal(t, []string{orders}, b.woken(t))
	l, ok := b.tryLease(t)
	require.True(t, ok)
	require.Equal(t, store.Chunk{Halted: true}, b.take(t, l))
	require.Equal(t, []string{id}, b.dueRows(t))
	require.NoError(t, b.store.BeginMirror(t.Context(), l, []string{id}))
	rows, err := b.store.DueMirrorRows(t.Context(), orders, 1)
	require.NoError(t, err)
	require.NoError(t, b.store.SettleMirror(t.Context(), l, []store.Mirrored{{EntryID: id, DLQRecordID: "recA", Revision: rows[0].Revision}}, time.Minute))
	require.Empty(t, b.dueRows(t))
	require.False(t, b.release(t, l), "the write is no work while the base is halted")
	require.Empty(t, b.woken(t))
	_, ok = b.tryLease(t)
	require.False(t, ok)

	require.NoError(t, b.store.ResumeBase(t.Context(), orders))
	require.Equal(t, []string{orders}, b.woken(t))
	c := b.take(t, b.lease(t, orders))
	require.False(t, c.Halted)
	require.Equal(t, write, membersOf(c)[0].ID)
}

// A halt for the token or the quota stops everything, also when it comes on top of another.
func TestHaltForAccessStopsTheMirror(t *testing.T) {
	t.Parallel()
	for name, halts := range map[string][]store.HaltKind{
		"at once":           {store.HaltAccess},
		"on top":            {store.HaltData, store.HaltAccess},
		"and none eases it": {store.HaltAccess, store.HaltData},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := frozen(t)
			id := b.file(t, "a").ID
			l := b.lease(t, orders)
			for i, kind := range halts {
				first, err := b.store.Halt(t.Context(), orders, kind, string(kind), "service")
				require.NoError(t, err)
				require.Equal(t, i == 0, first, "one alert for each halt")
			}
			require.Equal(t, store.Chunk{Closed: true, Halted: true}, b.take(t, l))
			require.Empty(t, b.dueRows(t))
			require.False(t, b.release(t, l))
			require.Empty(t, b.woken(t))
			_, ok := b.tryLease(t)
			require.False(t, ok)
			state, err := b.store.FindBase(t.Context(), orders)
			require.NoError(t, err)
			require.Contains(t, state.Reason, "access")

			require.NoError(t, b.store.ResumeBase(t.Context(), orders))
			require.Equal(t, []string{id}, b.dueRows(t))
			_, err = b.store.HaltBase(t.Context(), orders, "again", "ann")
			require.NoError(t, err)
			require.Equal(t, []string{id}, b.dueRows(t), "the resume forgot what the halt was about")
		})
	}
}

// A dry run that is left over on a halted base is not judged there.
func TestHaltedBaseJudgesNoDryRun(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	c := press(b.file(t, "a").ID)
	c.Run.Kind = deadletter.RunMany
	_, err := b.store.PlanRun(t.Context(), c)
	require.NoError(t, err)
	l := b.lease(t, orders)
	b.exec(t, `UPDATE base SET halted_at = replay_now() WHERE name = $1`, orders)
	run, chunk, err := b.store.TakeForecast(t.Context(), l)
	require.NoError(t, err)
	require.Empty(t, run)
	require.Empty(t, chunk.Items)
	b.exec(t, `UPDATE base SET halted_at = NULL WHERE name = $1`, orders)
	_, chunk, err = b.store.TakeForecast(t.Context(), l)
	require.NoError(t, err)
	require.Len(t, chunk.Items, 1)
}

// A resume that comes while a pass mirrors is not missed: either that pass sees the work in its next
// chunk, or its release asks for another.
func TestResumeWhileAPassMirrors(t *testing.T) {
	t.Parallel()
	b := unmirrored(t)
	write := b.accept(t, orders, "b", "{}")
	l := b.lease(t, orders)
	_, err := b.store.HaltBase(t.Context(), orders, "x", "ann")
	require.NoError(t, err)
	require.True(t, b.take(t, l).Halted)
	require.NoError(t, b.store.ResumeBase(t.Context(), orders))
	require.Equal(t, write, membersOf(b.take(t, l))[0].ID)

	_, err = b.store.HaltBase(t.Context(), orders, "x", "ann")
	require.NoError(t, err)
	require.True(t, b.take(t, l).Halted)
	s := store.New(b.pool(t, 4), "")
	done, asked := make(chan struct{}), false
	var released error
	require.NoError(t, s.InTx(t.Context(), func(ctx context.Context) error {
		if err := s.ResumeBase(ctx, orders); err != nil {
			return err
		}
		go func() { // waits for the row of the base, which the resume has locked
			defer close(done)
			released = s.ReleaseLease(t.Context(), l, func(context.Context) error {
				asked = true
				return nil
			})
		}()
		b.blocked(t, done)
		return nil
	}))
	<-done
	require.NoError(t, released)
	require.True(t, asked)
}

// One row of the base holds all rows of its mirror, also those that are yet to come; a shorter wait does
// not end a longer one.
func TestHoldMirror(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	ids := b.fileIDs(t, "a", "b")
	l := b.lease(t, orders)
	before := b.value(t, `SELECT string_agg(xmin::text || due_at, ' ' ORDER BY entry_id) FROM mirror_row`)
	require.NoError(t, b.store.HoldMirror(t.Context(), l, time.Minute, "the table is gone"))
	require.NoError(t, b.store.HoldMirror(t.Context(), l, time.Second, "and still"))
	require.Equal(t, before, b.value(t, `SELECT string_agg(xmin::text || due_at, ' ' ORDER BY entry_id) FROM mirror_row`), "no row is touched")
	state, err := b.store.FindBase(t.Context(), orders)
	require.NoError(t, err)
	require.Equal(t, []any{morning.Add(time.Minute), "and still"}, []any{state.MirrorHeldUntil.UTC(), state.MirrorProblem})
	ids = append(ids, b.file(t, "c").ID)
	b.accept(t, orders, "w", "{}")
	require.Empty(t, b.dueRows(t))
	require.Len(t, b.take(t, l).Items, 1, "data goes on")
	b.advance(t, 59*time.Second)
	require.Empty(t, b.dueRows(t))
	b.exec(t, `DELETE FROM write`)
	require.False(t, b.release(t, l))
	require.Empty(t, b.woken(t))
	b.advance(t, time.Second)
	require.ElementsMatch(t, ids, b.dueRows(t))
	state, err = b.store.FindBase(t.Context(), orders)
	require.NoError(t, err)
	require.Equal(t, []any{time.Time{}, ""}, []any{state.MirrorHeldUntil, state.MirrorProblem})
	require.Equal(t, []string{orders}, b.woken(t))
}
