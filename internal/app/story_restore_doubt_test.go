package app_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/pass"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// A restore that is not answered rests like every other write, and is recognised or sent again (R4b).
func TestStoryUnansweredRestore(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sandbox.Fault{
		"landed":      {AfterApply: true},
		"not landed":  {},
		"lands later": {ApplyLater: sandbox.Duration(1500 * time.Millisecond)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, id := replayed(t, apptest.Options{SimulatedClock: true})
			fault.Method, fault.Table, fault.Times, fault.Drop = http.MethodPatch, "Orders", 1, true
			w.Fault(t, fault)
			run := restore(t, w, id)
			requireRestored(t, finishedInTime(t, w, run), 2, 0)
			w.Advance(t, time.Minute)
			cells := w.OrderCells(t, "O-2")
			require.Equal(t, "Pending", cells["Status"])
			require.Equal(t, "2026-10-01", cells["Delivery Date"])
			require.Equal(t, "/problems/already-restored", refusedRestore(t, w, id)["type"])
		})
	}
}

// A halted base takes no restores, and ends those that wait.
func TestStoryRestoreAndHalt(t *testing.T) {
	t.Parallel()
	w, id := replayed(t, apptest.Options{})
	w.Fault(t, sandbox.Fault{Method: http.MethodGet, Table: "Orders", Times: 1, Status: 401})
	run := w.Finished(t, restore(t, w, id))
	require.Equal(t, "stopped", run["status"])
	require.Equal(t, "base_halted", run["reason"])
	c := run["counts"].(apptest.Doc)
	require.Equal(t, "2", number(c["released"]))
	require.Equal(t, "restore_released", lastLine(t, w, id)["event"])
	require.Equal(t, "/problems/base-halted", refusedRestore(t, w, id)["type"])
	status, _ := w.Call(t, 0, http.MethodGet, "/v1/entries/"+id+"/restore", nil)
	require.Equal(t, http.StatusConflict, status)

	status, _ = w.Call(t, 0, http.MethodPost, "/v1/bases/orders/resume", nil)
	require.Equal(t, http.StatusOK, status)
	requireRestored(t, w.Finished(t, restore(t, w, id)), 2, 0)
}

// A restore can be cancelled until it is written, even while a pass has it in hand.
func TestStoryRestoreCancelled(t *testing.T) {
	t.Parallel()
	armed, taken, cancelled := make(chan struct{}), make(chan struct{}, 1), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(cancelled) })
	defer goOn()
	w, id := replayed(t, apptest.Options{Probe: func(_ context.Context, step pass.Step, _ []string) {
		select {
		case <-armed:
		default:
			return
		}
		if step == pass.StepTaken {
			taken <- struct{}{}
			<-cancelled
		}
	}})
	writes := w.Writes()
	close(armed)
	run := restore(t, w, id)
	<-taken
	status, answer := w.Call(t, 0, http.MethodPost, "/v1/runs/"+run+"/cancel", nil)
	require.Equal(t, http.StatusOK, status, "%v", answer)
	goOn()
	got := w.Finished(t, run)
	require.Equal(t, "cancelled", got["status"])
	require.Equal(t, "2", number(got["counts"].(apptest.Doc)["released"]))
	apptest.Eventually(t, func() bool { return w.Idle(t) }, "the pass is over")
	require.Equal(t, writes, w.Writes())
	require.Equal(t, "Shipped", w.OrderCells(t, "O-2")["Status"])
}

// A refusal by Airtable itself ends a restore with its reason.
func TestStoryRestoreRefusedByAirtable(t *testing.T) {
	t.Parallel()
	w, id := replayed(t, apptest.Options{})
	w.Fault(t, apptest.Answer(422, `{"error": {"type": "INVALID_MULTIPLE_CHOICE_OPTIONS", "message": "Insufficient permissions to create new select option \"Pending\""}}`))
	requireRestored(t, w.Finished(t, restore(t, w, id)), 0, 2)
	require.Equal(t, "invalid_option", lastLine(t, w, id)["reason"])
	require.Equal(t, "Shipped", w.OrderCells(t, "O-2")["Status"])
}

// Wherever a pass dies over a restore, the values go back once (R2, R5).
func TestDeathBetweenAnyTwoHopsOfARestore(t *testing.T) {
	t.Parallel()
	for _, step := range []pass.Step{pass.StepTaken, pass.StepRead, pass.StepIntended, pass.StepAnswered, pass.StepSettled} {
		t.Run(string(step), func(t *testing.T) {
			t.Parallel()
			die, died, bury := dieAt(step)
			defer bury()
			armed := make(chan struct{})
			w, id := replayed(t, apptest.Options{Replicas: 2, SimulatedClock: true, Probe: func(ctx context.Context, at pass.Step, keys []string) {
				select {
				case <-armed:
					die(ctx, at, keys)
				default:
				}
			}})
			apptest.Eventually(t, func() bool { return w.Idle(t) }, "nobody works")
			close(armed)
			run := restore(t, w, id)
			<-died
			w.Advance(t, 30*time.Second)
			w.Advance(t, 30*time.Second)
			requireRestored(t, finishedInTime(t, w, run), 2, 0)
			require.Equal(t, "Pending", w.OrderCells(t, "O-2")["Status"])
			require.Len(t, w.CellChanges(restored2, "Status"), 2, "there and back")
			require.Equal(t, apptest.Doc{"Status": "Shipped", "Delivery Date": "2026-10-05"}, lastLine(t, w, id)["detail"].(apptest.Doc)["values_before"])
		})
	}
}

// finishedInTime waits for the end of a run on a simulated clock.
func finishedInTime(t *testing.T, w *apptest.World, run string) apptest.Doc {
	t.Helper()
	apptest.Eventually(t, func() bool {
		over := w.Read(t, "/v1/runs/"+run)["finished_at"] != nil
		if !over && w.Idle(t) {
			w.Advance(t, 250*time.Millisecond)
		}
		return over
	}, "run "+run+" is over")
	return w.Finished(t, run)
}

// A merged write is taken back by each of its entries for its own fields.
func TestStoryRestoreOfAMergedWrite(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	older := w.File(t, apptest.Order("O-2", second, apptest.Doc{"status": "Shipped", "note": "from the older", "quantity": 2}), nil)
	newer := w.File(t, apptest.Order("O-2", third, apptest.Doc{"status": "Delivered", "quantity": 3}), nil)
	w.Finished(t, w.RunIDs(t, nil, older, newer))
	require.Equal(t, apptest.Doc{"Note": nil}, apptest.Outcome(w.Entry(t, older))["values_before"], "the newer one carries the rest")

	requireRestored(t, w.Finished(t, restore(t, w, older)), 1, 0)
	cells := w.OrderCells(t, "O-2")
	require.Nil(t, cells["Note"])
	require.Equal(t, "Delivered", cells["Status"])
	requireRestored(t, w.Finished(t, restore(t, w, newer)), 2, 0)
	cells = w.OrderCells(t, "O-2")
	require.Equal(t, "Pending", cells["Status"])
	require.Nil(t, cells["Quantity"])
}

// A base that was halted while a restore had no answer ends the run; that the values went back is found
// out all the same, and nothing is written back twice.
func TestStoryHaltUnderAnUnansweredRestore(t *testing.T) {
	t.Parallel()
	again := newSecondAttempt()
	defer again.goOn()
	w, id := replayed(t, apptest.Options{Replicas: 2, Probe: again.probe})
	again.armed.Store(true)
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Table: "Orders", Times: 1, Drop: true, AfterApply: true})
	run := restore(t, w, id)
	<-again.due
	call(t, w, http.MethodPost, "/v1/bases/orders/halt", apptest.Doc{"reason": "a migration"})
	got := w.Finished(t, run)
	require.Equal(t, []any{"stopped", "base_halted"}, []any{got["status"], got["reason"]})
	require.Equal(t, "restore_released", lastLine(t, w, id)["event"])
	require.Contains(t, lastLine(t, w, id)["note"], "A write was under way")
	again.goOn()
	apptest.Eventually(t, func() bool { return lastLine(t, w, id)["event"] == "restored" }, "the landing is told")
	call(t, w, http.MethodPost, "/v1/bases/orders/resume", nil)
	require.Equal(t, "/problems/already-restored", refusedRestore(t, w, id)["type"])
	require.Len(t, w.CellChanges(restored2, "Status"), 2)
	older := w.File(t, apptest.Order("O-2", "2026-10-01T08:00:00Z", apptest.Doc{"status": "Delivered"}), nil)
	apptest.RequireOutcome(t, w.Replay(t, older, nil), "needs_review", "restored")
}

// secondAttempt holds a pass up, once armed, that comes back to a write which was sent and not answered:
// just before its read will tell what became of it.
type secondAttempt struct {
	armed, sent, held atomic.Bool
	due               chan struct{} // closed when the pass is held up
	goOn              func()
	released          chan struct{}
}

func newSecondAttempt() *secondAttempt {
	a := &secondAttempt{due: make(chan struct{}), released: make(chan struct{})}
	a.goOn = sync.OnceFunc(func() { close(a.released) })
	return a
}

func (a *secondAttempt) probe(_ context.Context, step pass.Step, _ []string) {
	switch {
	case !a.armed.Load():
	case step == pass.StepAnswered:
		a.sent.Store(true)
	case step == pass.StepTaken && a.sent.Load() && a.held.CompareAndSwap(false, true):
		close(a.due)
		<-a.released
	}
}
