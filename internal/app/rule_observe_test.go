package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/pass"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// An entry whose write is under way cannot be reset under a living lease. Once nobody lives it can;
// the write that had landed meanwhile is told by a flag, and the next press records it, with the
// values from before it, and writes nothing (R2, R4).
func TestLandedWriteOfAResetEntry(t *testing.T) {
	t.Parallel()
	probe, died, bury := dieAt(pass.StepAnswered)
	defer bury()
	w := apptest.New(t, apptest.Options{Probe: probe, SimulatedClock: true})
	id := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil)
	w.Press(t, id, nil)
	<-died
	status, answer := w.Call(t, 0, http.MethodPost, "/v1/entries/"+id+"/reset", apptest.Doc{"reason": "too slow"})
	require.Equal(t, http.StatusConflict, status, "%v", answer)
	require.Equal(t, "/problems/entry-being-written", answer["type"])

	// Nobody may take the dead pass's place until the admin has spoken.
	require.NoError(t, w.Apps[0].Store.PauseBase(t.Context(), "orders", 10*time.Minute, "test"))
	w.Advance(t, time.Minute)
	status, answer = w.Call(t, 0, http.MethodPost, "/v1/entries/"+id+"/reset", apptest.Doc{"reason": "too slow"})
	require.Equal(t, http.StatusOK, status, "%v", answer)
	require.Equal(t, "pending_review", answer["status"])
	require.Equal(t, []any{"may_have_been_written"}, answer["flags"])

	w.Advance(t, 10*time.Minute)
	apptest.Eventually(t, func() bool {
		flags := w.Entry(t, id)["flags"].([]any)
		return len(flags) == 1 && flags[0] == "landed"
	}, "the landing is recognised")
	require.Equal(t, "pending_review", w.Entry(t, id)["status"])
	e := w.Replay(t, id, nil)
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Equal(t, apptest.Doc{"Status": "Pending"}, apptest.Outcome(e)["values_before"])
	require.Equal(t, 1, w.Writes())
}

// A decision is good for one send: what a person changed while the base was paused stays (R3).
func TestDecisionDoesNotSurviveAPause(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{false, true} {
		name := map[bool]string{false: "an entry", true: "a live write"}[live]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := apptest.New(t, apptest.Options{
				SimulatedClock: true, Config: strings.ReplaceAll(apptest.DefaultConfig, "rate_limit_wait: 1s", "rate_limit_wait: 90s"),
			})
			_, err := w.Sandbox.AddFault(sandbox.Fault{Method: http.MethodPatch, Table: "Orders", Times: 1, Status: http.StatusTooManyRequests})
			require.NoError(t, err)
			payload := apptest.Order("O-3", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped", "delivery_date": "2026-10-05"})
			outcome := send(t, w, payload, live)
			apptest.Eventually(t, func() bool { return state(t, w)["state"] == "paused" }, "the base is paused")
			w.Hand(t, "Orders", "recOrd00000000003", time.Time{}, apptest.Doc{"Delivery Date": "2026-12-24"})
			w.Advance(t, 2*time.Minute)
			e := outcome()
			require.Equal(t, "2026-12-24", w.OrderCells(t, "O-3")["Delivery Date"])
			require.Equal(t, "Pending", w.OrderCells(t, "O-3")["Status"])
			require.Equal(t, "pending_review", e["status"])
			if live {
				require.Equal(t, "shared_field_changed", e["reason_code"])
				return
			}
			apptest.RequireOutcome(t, e, "needs_review", "shared_field_changed")
		})
	}
}

// send sends a payload as an entry that is pressed, or live; the function waits for what became of it:
// the entry.
func send(t *testing.T, w *apptest.World, payload string, live bool) func() apptest.Doc {
	t.Helper()
	if !live {
		id := w.File(t, payload, nil)
		w.Press(t, id, nil)
		return func() apptest.Doc { return w.Settled(t, id) }
	}
	id := w.Accept(t, "order-system", payload)
	return func() apptest.Doc {
		decided := w.Decided(t, id)
		require.Equal(t, "dead_lettered", decided["status"], "%v", decided)
		return w.Entry(t, decided["entry_id"].(string))
	}
}
