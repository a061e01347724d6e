package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// A write that was never answered, on a record that was edited since: nobody will ever know whether it
// had landed, and nothing says that it had not (R2).
func TestStoryMayHaveBeenWritten(t *testing.T) {
	t.Parallel()
	for _, way := range []apptest.Way{apptest.Live, apptest.Pressed} {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			var w *apptest.World
			w = apptest.New(t, apptest.Options{SimulatedClock: true, Probe: onceAtAnswer(func() {
				w.Hand(t, "Orders", "recOrd00000000003", w.Sandbox.Now(), apptest.Doc{"Status": "Delivered"})
			})})
			w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Times: 5, Drop: true})
			payload := apptest.Order("O-3", second, apptest.Doc{"status": "Shipped"})
			e := exhausted(t, w, way, payload)
			require.Equal(t, "pending_review", e["status"])
			require.Equal(t, []any{"may_have_been_written"}, e["flags"])
			text := strings.ToLower(e["error_detail"].(string) + " " + notes(e))
			require.Contains(t, text, "may have been written")
			require.NotContains(t, text, "nothing was written")
			require.Equal(t, "Delivered", w.OrderCells(t, "O-3")["Status"])
			requireBeforeInHistory(t, w, e["id"].(string))

			// The reviewer looks at the record and replays.
			w.Press(t, e["id"].(string), nil)
			e = w.SettledInTime(t, e["id"].(string), time.Second)
			apptest.RequireOutcome(t, e, "replayed", "")
			require.Equal(t, "Shipped", w.OrderCells(t, "O-3")["Status"])
		})
	}
}

// The same where the edit is of a shared field: it goes to review, and even so nothing says that nothing
// was written.
func TestStoryDoubtfulWriteGoesToReview(t *testing.T) {
	t.Parallel()
	var w *apptest.World
	w = apptest.New(t, apptest.Options{SimulatedClock: true, Probe: onceAtAnswer(func() {
		w.Hand(t, "Orders", "recOrd00000000003", w.Sandbox.Now(), apptest.Doc{"Delivery Date": "2026-10-20"})
	})})
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Drop: true})
	id := w.File(t, apptest.Order("O-3", second, shipped), nil)
	w.Press(t, id, nil)
	e := w.SettledInTime(t, id, 500*time.Millisecond)
	apptest.RequireOutcome(t, e, "needs_review", "shared_field_changed")
	require.Equal(t, []any{"may_have_been_written"}, e["flags"])
	require.Contains(t, notes(e), "may have been written")
	require.NotContains(t, notes(e), "Nothing was written")
	require.Equal(t, 1, w.Writes(), "another decision is no reason to write before the rest is over")
	requireBeforeInHistory(t, w, id)
}

// exhausted sends a payload that meets no answer until it has no attempt left, and returns its entry.
func exhausted(t *testing.T, w *apptest.World, way apptest.Way, payload string) apptest.Doc {
	t.Helper()
	if way == apptest.Pressed {
		id := w.File(t, payload, nil)
		w.Press(t, id, nil)
		e := w.SettledInTime(t, id, 500*time.Millisecond)
		apptest.RequireOutcome(t, e, "replay_failed", "no_response_exhausted")
		return e
	}
	id := w.Accept(t, "order-system", payload)
	write := w.DecidedInTime(t, id, 500*time.Millisecond)
	require.Equal(t, "dead_lettered", write["status"])
	require.Equal(t, "no_response_exhausted", write["reason"])
	return w.Entry(t, write["entry_id"].(string))
}

func notes(e apptest.Doc) string {
	text, _ := apptest.Outcome(e)["notes"].(string)
	return text
}

// requireBeforeInHistory wants the values from before the doubtful write somewhere in the history.
func requireBeforeInHistory(t *testing.T, w *apptest.World, id string) {
	t.Helper()
	for _, line := range w.History(t, id) {
		detail, _ := line["detail"].(apptest.Doc)
		if before, ok := detail["values_before"].(apptest.Doc); ok && before["Status"] == "Pending" {
			return
		}
	}
	require.Fail(t, "no line of the history has the values before", "%v", w.History(t, id))
}

// What landed is recognised before anything else is asked: an entry of the same record that was filed
// meanwhile does not turn it into a failure (R2).
func TestStoryLandedBeforeItsSiblingCame(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sandbox.Fault{
		"503": {Method: http.MethodPatch, Status: 503, AfterApply: true},
		"cut": {Method: http.MethodPatch, Drop: true, AfterApply: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *apptest.World
			var sibling string
			w = apptest.New(t, apptest.Options{Probe: onceAtAnswer(func() {
				sibling = w.File(t, apptest.Order("O-3", third, apptest.Doc{"status": "Delivered"}), nil)
			})})
			w.Fault(t, fault)
			e := pressed(t, w, "O-3", second, shipped)
			apptest.RequireOutcome(t, e, "replayed", "")
			requireWrittenOnce(t, w, e)
			apptest.RequireOutcome(t, w.Replay(t, sibling, nil), "replayed", "")
			require.Equal(t, "Delivered", w.OrderCells(t, "O-3")["Status"])
		})
	}
}

// Two entries in one unanswered write: each gets its own fields and values before (B3, P5).
func TestStoryMergedWriteLandedUnanswered(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	older := w.File(t, apptest.Order("O-3", second, apptest.Doc{"status": "Shipped", "delivery_date": "2026-10-05"}), nil)
	newer := w.File(t, apptest.Order("O-3", third, apptest.Doc{"status": "Delivered", "quantity": 5}), nil)
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Status: 503, AfterApply: true})
	run := w.Finished(t, w.RunIDs(t, nil, older, newer))
	requireCounts(t, run["reconciliation"].(apptest.Doc), map[string]int{"updated": 1, "merged": 1})
	require.Equal(t, 1, w.Writes())
	o, n := w.Entry(t, older), w.Entry(t, newer)
	require.Equal(t, apptest.Doc{"Delivery Date": "2026-10-01"}, apptest.Outcome(o)["values_before"])
	require.Equal(t, map[string]any{"Status": "newer_entry_in_batch"}, skippedBy(o))
	require.Equal(t, apptest.Doc{"Status": "Pending", "Quantity": nil}, apptest.Outcome(n)["values_before"])
}

// A target that was taken out of the configuration while a write of it was unanswered keeps nobody else
// of its base waiting.
func TestStoryTargetTakenOutOfTheConfiguration(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{SimulatedClock: true})
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Times: -1, Drop: true})
	w.Press(t, w.File(t, apptest.Order("O-3", second, shipped), nil), nil)
	apptest.Eventually(t, func() bool { return w.Writes() > 0 }, "the write was sent")
	w.Stop(t, 0)
	w.Advance(t, time.Minute) // the write has to be looked for now
	w.Sandbox.ClearFaults()

	before, rest, _ := strings.Cut(apptest.DefaultConfig, "  Orders:\n")
	_, sources, _ := strings.Cut(rest, "sources:\n")
	accounts, _, _ := strings.Cut(sources, "  order-system:\n")
	w.Reconfigure(t, before+"sources:\n"+accounts+"replay: {recovery_tick: 100ms}\n")
	w.AddReplica(t, apptest.Options{})
	w.URLs = w.URLs[1:] // the verbs speak with the first
	got := w.Send(t, apptest.Live, "account-system", apptest.Account("A-1", second, "Acme & Sons"))
	require.True(t, got.Written, got.Note)
}
