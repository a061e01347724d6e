package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/stretchr/testify/require"
)

// worker makes passes as jobs do: each ends at once when the lease lives, and when its own ends with
// work due, another is asked for.
type worker struct {
	store *store.Store
	jobs  sync.WaitGroup
	mu    sync.Mutex
	errs  []error
}

func (w *worker) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.errs = append(w.errs, err)
}

func (w *worker) start(ctx context.Context) {
	w.jobs.Go(func() {
		l, ok, err := w.store.AcquireLease(ctx, orders, "worker", time.Minute)
		if w.note(err); !ok {
			return
		}
		w.note(w.work(ctx, l))
		again := false
		w.note(w.store.ReleaseLease(ctx, l, func(context.Context) error {
			again = true
			return nil
		}))
		if again {
			w.start(ctx)
		}
	})
}

// work settles what is due until nothing is.
func (w *worker) work(ctx context.Context, l store.Lease) error {
	for {
		c, err := w.store.TakeChunk(ctx, l)
		if err != nil || len(c.Items) == 0 {
			return err
		}
		var settle []store.Settlement
		for _, it := range c.Items {
			for _, m := range it.Members {
				settle = append(settle, outcome(m, deadletter.Superseded, deadletter.ReasonNewerFromSender))
			}
		}
		if err := w.store.Settle(ctx, l, settle); err != nil {
			return err
		}
	}
}

// Presses and live writes race with the ends of passes, and no wake-up is lost: once all jobs have
// ended, nothing is left that nobody was asked to do (R1).
func TestNoWakeUpIsLost(t *testing.T) {
	t.Parallel()
	b := unmirrored(t)
	w := &worker{store: store.New(b.pool(t, 20), "")}
	const people, presses = 8, 25
	ids := b.fileMany(t, people*presses)
	var wg sync.WaitGroup
	for i := range people {
		wg.Go(func() {
			for j := range presses {
				if j%4 == 0 {
					_, err := w.store.AcceptWrites(t.Context(), []store.Incoming{incoming(orders, fmt.Sprint(i, j), "{}")})
					w.note(err)
				} else {
					_, err := w.store.ClaimEntries(t.Context(), press(ids[i*presses+j]))
					w.note(err)
				}
				w.start(t.Context())
			}
		})
	}
	wg.Wait()
	w.jobs.Wait()
	require.NoError(t, errors.Join(w.errs...))
	require.Equal(t, "0 0", b.value(t, `SELECT concat_ws(' ', (SELECT count(*) FROM entry WHERE status = 'replaying'), (SELECT count(*) FROM write WHERE status = 'queued'))`))
	require.Equal(t, "144 56", b.value(t, `SELECT concat_ws(' ', (SELECT count(*) FROM run WHERE status = 'completed'), (SELECT count(*) FROM write WHERE status = 'stale'))`))
}

// blocked waits until a transaction of this database waits for another, or done is closed.
func (b *bundle) blocked(t *testing.T, done <-chan struct{}) {
	t.Helper()
	const waiting = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
	require.Eventually(t, func() bool {
		select {
		case <-done:
			return true
		default:
			return b.value(t, `SELECT (`+waiting+`)::text`) != "0"
		}
	}, time.Minute, time.Millisecond)
}

// during runs other while a press has claimed and not yet committed, and returns when both are done.
func (b *bundle) during(t *testing.T, claim store.Claim, other func(s *store.Store) error) (pressed, met error) {
	t.Helper()
	s := store.New(b.pool(t, 4), "")
	claimed, commit, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		pressed = s.InTx(t.Context(), func(ctx context.Context) error {
			_, err := s.ClaimEntries(ctx, claim)
			close(claimed)
			<-commit
			return err
		})
	})
	<-claimed
	wg.Go(func() {
		defer close(done)
		met = other(s)
	})
	b.blocked(t, done)
	close(commit)
	wg.Wait()
	return pressed, met
}

// A pass that ends while a press is about to commit sees what was pressed (R1).
func TestReleaseWaitsForAPress(t *testing.T) {
	t.Parallel()
	b := unmirrored(t)
	ids := b.fileIDs(t, "a", "b")
	l, it := b.work(t, ids[0])
	require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{outcome(it.Members[0], deadletter.Superseded, deadletter.ReasonNewerFromSender)}))
	woken := false
	pressed, released := b.during(t, press(ids[1]), func(s *store.Store) error {
		return s.ReleaseLease(t.Context(), l, func(context.Context) error {
			woken = true
			return nil
		})
	})
	require.NoError(t, pressed)
	require.NoError(t, released)
	require.True(t, woken)
}

// A halt that comes while a press is about to commit gives back what was claimed (W7).
func TestHaltWaitsForAPress(t *testing.T) {
	t.Parallel()
	b := unmirrored(t)
	id := b.file(t, "a").ID
	pressed, halted := b.during(t, press(id), func(s *store.Store) error {
		_, err := s.HaltBase(t.Context(), orders, "the token is gone", "service")
		return err
	})
	require.NoError(t, pressed)
	require.NoError(t, halted)
	e := b.show(t, id)
	require.Equal(t, []any{deadletter.PendingReview, deadletter.ReasonBaseHalted}, []any{e.Status, e.Replay.Reason})
	require.Equal(t, deadletter.RunStopped, b.run(t, e.Replay.RunID).Status)
}
