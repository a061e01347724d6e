package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/pass"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// Rows with names and IDs beyond all measure are refused where they stand, and keep no other press back (T2,
// T3).
func TestStoryHostileRows(t *testing.T) {
	t.Parallel()
	w, _ := hooked(t, apptest.Options{})
	good := w.File(t, apptest.Order("O-1", second, shipped), nil)
	row := rowOf(t, w, good)
	long := strings.Repeat("0123456789 abcdefghij/", 420)
	for column, value := range map[string]any{"Source System": long, "Target ID": long, "Assigned Owner": long, "First Attempt At": nil} {
		cells := apptest.Doc{"Source System": "order-system", "Raw Payload": `{"updated_at":"2026-10-02T08:00:00Z","order":{"status":"Shipped"}}`}
		cells[column] = value
		hostile := w.Make(t, "Dead Letter Queue", cells)
		status, answer := w.Call(t, 0, "POST", "/v1/entries/"+hostile+"/replay", apptest.Doc{})
		require.Less(t, status, 500, "%s: %v", column, answer)
		tick(t, w, hostile)
	}
	tick(t, w, row)
	apptest.Eventually(t, func() bool { return apptest.Outcome(w.Entry(t, good))["outcome"] == "replayed" }, "the good row is pressed")
}

// A refusal that could not be told in its row is told again: the box never stays ticked without a note (R10).
func TestStoryRefusalIsToldAgain(t *testing.T) {
	t.Parallel()
	w, _ := hooked(t, apptest.Options{})
	row := w.Make(t, "Dead Letter Queue", apptest.Doc{"Raw Payload": apptest.Order("O-2", second, shipped)})
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Table: "Dead Letter Queue", Status: 503})
	tick(t, w, row)
	apptest.Eventually(t, func() bool { return rowCells(t, w, row)["Replay Requested"] == nil }, "the box is unticked")
	require.Contains(t, rowCells(t, w, row)["Replay Notes"], "Source System")
}

// A box that is ticked during a halt over data is unticked with the reason, not kept for later.
func TestStoryTickDuringAHalt(t *testing.T) {
	t.Parallel()
	w, _ := hooked(t, apptest.Options{})
	row := rowOf(t, w, w.File(t, apptest.Order("O-1", second, shipped), nil))
	status, _ := w.Call(t, 0, "POST", "/v1/bases/orders/halt", apptest.Doc{"reason": "moving"})
	require.Equal(t, http.StatusOK, status)
	tick(t, w, row)
	apptest.Eventually(t, func() bool {
		cells := rowCells(t, w, row)
		return cells["Replay Requested"] == nil && strings.Contains(fmt.Sprint(cells["Replay Notes"]), "halted")
	}, "the press is refused in its row")
	require.Empty(t, w.CellChanges("recOrd00000000001", "Status"))
}

// Times that no RFC 3339 time can name are refused, wherever they come in.
func TestStoryYearsOutOfRange(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	for _, at := range []string{"0000-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"} {
		filing := apptest.Doc{"source_system": "order-system", "reason_code": "other", "raw_payload": apptest.Order("O-1", second, shipped), "first_attempt_at": at}
		status, answer := w.Call(t, 0, "POST", "/v1/entries", filing)
		require.Equal(t, http.StatusUnprocessableEntity, status, "%v", answer)
		require.Equal(t, "range", answer["errors"].([]any)[0].(apptest.Doc)["rule"])
		status, _ = w.Call(t, 0, "POST", "/v1/runs", apptest.Doc{"selector": apptest.Doc{"first_attempt_to": at}})
		require.Equal(t, http.StatusUnprocessableEntity, status)
	}
	id := w.File(t, apptest.Order("O-1", "0000-01-01T00:00:00+23:59", shipped), nil)
	require.Nil(t, w.Entry(t, id)["source_updated_at"], "a sender may send what it likes")
	require.Len(t, w.Read(t, "/v1/entries")["entries"], 1)
}

// A press takes no sibling along that only an admin may replay (O3).
func TestStoryCapHoldsForSiblings(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{Config: apptest.ConfigWith(t, apptest.Rules{Replay: "{attempt_cap: 2, recovery_tick: 100ms}"})})
	operator := w.NewToken(t, "replay", "read")
	hopeless := w.File(t, apptest.Order("O-1", second, apptest.Doc{"status": "Lost"}), nil)
	for range 2 {
		w.Replay(t, hopeless, nil)
	}
	lines := len(w.History(t, hopeless))
	good := w.File(t, apptest.Order("O-1", third, shipped), nil)
	status, answer := w.Call(t, 0, "POST", "/v1/entries/"+good+"/replay", apptest.Doc{"with_siblings": true}, "Authorization", operator)
	require.Equal(t, http.StatusAccepted, status, "%v", answer)
	apptest.RequireOutcome(t, w.Settled(t, good), "replay_failed", "open_siblings")
	require.Len(t, w.History(t, hopeless), lines, "it was left alone")
}

// An order over newer values is about the payload that was shown (R11).
func TestStoryOverwriteOfAnEditedPayload(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	rec := place(t, w, "H-1")
	w.Hand(t, "Orders", rec, apptest.Failed.AddDate(0, 0, 1), apptest.Doc{"Delivery Date": "2026-12-24"})
	id := w.File(t, apptest.Order("H-1", second, shipped), nil)
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "needs_review", "shared_field_changed")
	status, answer := w.Call(t, 0, "PUT", "/v1/entries/"+id+"/payload", apptest.Doc{"raw_payload": apptest.Order("H-1", second, apptest.Doc{"status": "Delivered", "delivery_date": "2031-01-01"}), "reason": "x"})
	require.Equal(t, http.StatusOK, status, "%v", answer)
	order := apptest.Doc{"mode": "overwrite", "reason": "seen", "expect": apptest.Doc{"Status": "Pending", "Delivery Date": "2026-12-24"}}
	for _, revision := range []any{nil, 0} {
		order["expect_revision"] = revision
		status, answer = w.Call(t, 0, "POST", "/v1/entries/"+id+"/replay", order)
		require.Equal(t, []any{http.StatusConflict, "/problems/payload-changed"}, []any{status, answer["type"]})
	}
	require.Equal(t, "2026-12-24", w.OrderCells(t, "H-1")["Delivery Date"])
	order["expect_revision"] = 1
	apptest.RequireOutcome(t, w.Replay(t, id, order), "replayed", "")
}

// A press and edits at once: the press is about one payload or the other, never about half of each.
func TestStoryPressRacesEdits(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{Replicas: 2})
	for n := range 6 {
		from, to := fmt.Sprint("R-", n, "a"), fmt.Sprint("R-", n, "b")
		place(t, w, from)
		place(t, w, to)
		id := w.File(t, apptest.Order(from, second, shipped), nil)
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				if i%2 == 0 {
					w.Call(t, 0, "PUT", "/v1/entries/"+id+"/payload", apptest.Doc{"raw_payload": apptest.Order(to, third, shipped), "reason": "x"})
					return
				}
				w.Call(t, 1, "POST", "/v1/entries/"+id+"/replay", apptest.Doc{})
			})
		}
		all.Wait()
		apptest.RequireOutcome(t, w.Settled(t, id), "replayed", "")
	}
}

// The evidence of a run does not change with what becomes of its entries afterwards (A1, B5).
func TestStoryEvidenceStays(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	id := w.File(t, apptest.Order("O-3", second, shipped), nil)
	run := w.RunIDs(t, nil, id)
	w.Finished(t, run)
	before := w.Read(t, "/v1/runs/"+run+"/evidence")["entries"]
	status, _ := w.Call(t, 0, "POST", "/v1/entries/"+id+"/reopen", apptest.Doc{"reason": "x"})
	require.Equal(t, http.StatusOK, status)
	status, _ = w.Call(t, 0, "PUT", "/v1/entries/"+id+"/payload", apptest.Doc{"raw_payload": apptest.Order("O-1", third, shipped), "reason": "x"})
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, before, w.Read(t, "/v1/runs/"+run+"/evidence")["entries"])
}

// What a pass that died was writing when its base was halted goes back as well, once it is known that nobody
// writes it any more (W7).
func TestStoryHaltAfterADeath(t *testing.T) {
	t.Parallel()
	probe, died, bury := dieAt(pass.StepIntended)
	defer bury()
	w := apptest.New(t, apptest.Options{Replicas: 2, Probe: probe, SimulatedClock: true})
	id := w.File(t, apptest.Order("O-3", second, shipped), nil)
	run := w.RunIDs(t, nil, id)
	<-died
	status, _ := w.Call(t, 1, "POST", "/v1/bases/orders/halt", apptest.Doc{"reason": "moving"})
	require.Equal(t, http.StatusOK, status)
	w.Advance(t, time.Minute)
	require.NoError(t, w.Apps[1].Replay.SweepStuck(t.Context()))
	done := w.Finished(t, run)
	require.Equal(t, []any{"stopped", "base_halted"}, []any{done["status"], done["reason"]})
	apptest.RequireOutcome(t, w.Entry(t, id), "", "base_halted")
	require.Contains(t, w.Entry(t, id)["flags"], "may_have_been_written")
}

// A restore that was cancelled while its write was refused is not tried again (B1, R12).
func TestStoryCancelledRestoreIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	var once sync.Once
	intended, goOn := make(chan struct{}), make(chan struct{})
	armed := make(chan struct{})
	w := apptest.New(t, apptest.Options{Probe: holdAt(armed, &once, intended, goOn)})
	id := w.File(t, apptest.Order("O-3", second, shipped), nil)
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Table: "Orders", Status: 429})
	close(armed)
	status, run := w.Call(t, 0, "POST", "/v1/entries/"+id+"/restore", apptest.Doc{"requested_by": "ann", "reason": "wrong"})
	require.Equal(t, http.StatusAccepted, status, "%v", run)
	<-intended
	status, answer := w.Call(t, 0, "POST", "/v1/runs/"+run["id"].(string)+"/cancel", nil)
	require.Equal(t, http.StatusOK, status, "%v", answer)
	close(goOn)
	require.Equal(t, "cancelled", w.Finished(t, run["id"].(string))["status"])
	require.Equal(t, "Shipped", w.OrderCells(t, "O-3")["Status"])
}

// holdAt stops the first pass that has stored an intent once it is armed.
func holdAt(armed <-chan struct{}, once *sync.Once, intended chan<- struct{}, goOn <-chan struct{}) func(context.Context, pass.Step, []string) {
	return func(_ context.Context, step pass.Step, _ []string) {
		select {
		case <-armed:
		default:
			return
		}
		if step == pass.StepIntended {
			once.Do(func() { close(intended); <-goOn })
		}
	}
}
