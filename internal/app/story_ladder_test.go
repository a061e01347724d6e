package app_test

import (
	"net/http"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// One request and its retries (W1 to W3).

// A passing failure costs attempts and nothing else, wherever it meets the pass.
func TestStoryFailureThatPasses(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	for name, fault := range map[string]sandbox.Fault{
		"503 to the write":          {Method: http.MethodPatch, Table: "Orders", Times: 2, Status: 503},
		"503 to the read":           {Method: http.MethodGet, Table: "Orders", Times: 2, Status: 503},
		"no answer to the write":    {Method: http.MethodPatch, Table: "Orders", Times: 2, Drop: true},
		"no answer to the read":     {Method: http.MethodGet, Table: "Orders", Times: 2, Drop: true},
		"502 with a page":           {Method: http.MethodPatch, Table: "Orders", Times: 2, Status: 502, Body: []byte(`"<html>bad gateway</html>"`)},
		"an answer that is no JSON": {Method: http.MethodGet, Table: "Orders", Times: 2, Status: 200, Body: []byte(`"<html>hello</html>"`)},
	} {
		t.Run(name, func(t *testing.T) {
			place(t, w, name)
			w.Fault(t, fault)
			e := pressed(t, w, name, second, shipped)
			apptest.RequireOutcome(t, e, "replayed", "")
			require.Equal(t, "3", number(apptest.Outcome(e)["attempts"]))
			requireWrittenOnce(t, w, e)
		})
	}
}

func TestStoryNoSchemaAtFirst(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	w.Fault(t, sandbox.Fault{Contains: "/meta/", Times: 2, Status: 503})
	e := pressed(t, w, "O-3", second, shipped)
	apptest.RequireOutcome(t, e, "replayed", "")
	requireWrittenOnce(t, w, e)
}

// requireWrittenOnce holds a placed order to one change of each cell, and its entry to the values from before it.
func requireWrittenOnce(t *testing.T, w *apptest.World, e apptest.Doc) {
	t.Helper()
	require.Equal(t, apptest.Doc{"Status": "Pending", "Delivery Date": "2026-10-01"}, apptest.Outcome(e)["values_before"])
	require.Equal(t, "Shipped", w.OrderCells(t, e["target_id"].(string))["Status"])
	for _, field := range []string{"Status", "Delivery Date", "Source Updated At"} {
		require.Len(t, w.CellChanges(apptest.Outcome(e)["record_id"].(string), field), 1, field)
	}
}

// A write that landed and was not answered is recognised, not repeated.
func TestStoryLandedUnanswered(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	for name, fault := range map[string]sandbox.Fault{
		"503":         {Method: http.MethodPatch, Status: 503, AfterApply: true},
		"cut":         {Method: http.MethodPatch, Drop: true, AfterApply: true},
		"late answer": {Method: http.MethodPatch, AnswerDelay: sandbox.Duration(3 * time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			place(t, w, name)
			w.Sandbox.ClearRequests()
			w.Fault(t, fault)
			e := pressed(t, w, name, second, shipped)
			apptest.RequireOutcome(t, e, "replayed", "")
			require.Equal(t, 1, w.Writes())
			require.Contains(t, apptest.Outcome(e)["notes"], "found on the record")
			requireWrittenOnce(t, w, e)
		})
	}
}

// Case B98 beside it: the marks of the first failure are history, and the replay has five attempts of
// its own.
func TestB98ReplayHasItsOwnAttempts(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{SimulatedClock: true})
	for name, c := range map[string]struct {
		fault  sandbox.Fault
		reason string
		status string
	}{
		"503 to the read":        {sandbox.Fault{Method: http.MethodGet, Table: "Orders", Times: 5, Status: 503}, "transient_exhausted", "503"},
		"503 to the write":       {sandbox.Fault{Method: http.MethodPatch, Times: 5, Status: 503}, "transient_exhausted", "503"},
		"no answer to the read":  {sandbox.Fault{Method: http.MethodGet, Table: "Orders", Times: 5, Drop: true}, "no_response_exhausted", "<nil>"},
		"no answer to the write": {sandbox.Fault{Method: http.MethodPatch, Times: 5, Drop: true}, "no_response_exhausted", "<nil>"},
		"429 to the read":        {sandbox.Fault{Method: http.MethodGet, Table: "Orders", Times: 5, Status: 429}, "rate_limit_exhausted", "429"},
		"429 to the write":       {sandbox.Fault{Method: http.MethodPatch, Times: 5, Status: 429}, "rate_limit_exhausted", "429"},
	} {
		t.Run(name, func(t *testing.T) {
			record := place(t, w, name)
			id := w.File(t, apptest.Order(name, second, shipped), apptest.Doc{"attempts": 5, "status_code": 504, "error_detail": "gateway timeout"})
			w.Fault(t, c.fault)
			w.Press(t, id, nil)
			e := w.SettledInTime(t, id, 500*time.Millisecond)
			apptest.RequireOutcome(t, e, "replay_failed", c.reason)
			require.Equal(t, "pending_review", e["status"])
			require.Equal(t, "5", number(apptest.Outcome(e)["attempts"]))
			require.Equal(t, c.status, number(apptest.Outcome(e)["status_code"]))
			require.Empty(t, e["flags"], "the record shows that nothing landed")
			require.Empty(t, w.CellChanges(record, "Status"))
			requireFiling(t, e)

			w.Press(t, id, nil)
			e = w.SettledInTime(t, id, 500*time.Millisecond)
			apptest.RequireOutcome(t, e, "replayed", "")
			require.Equal(t, "1", number(apptest.Outcome(e)["attempts"]))
			requireWrittenOnce(t, w, e)
			requireFiling(t, e)
		})
	}
}

// requireFiling holds an entry to what it was filed with.
func requireFiling(t *testing.T, e apptest.Doc) {
	t.Helper()
	require.Equal(t, "transient_exhausted", e["reason_code"])
	require.Equal(t, "504", number(e["status_code"]))
	require.Equal(t, "5", number(e["attempts"]))
	require.Equal(t, "gateway timeout", e["error_detail"])
	require.Equal(t, apptest.Failed.Format(time.RFC3339), e["first_attempt_at"])
}

// A 429 pauses the whole base and is told by the row of the base, not by jobs put to sleep one by one.
func TestB117PauseIsOnTheRowOfTheBase(t *testing.T) {
	t.Parallel()
	config := apptest.Change(t, apptest.DefaultConfig, "rate_limit_wait: 1s", "rate_limit_wait: 10m")
	w := apptest.New(t, apptest.Options{Config: config, SimulatedClock: true, Replicas: 2})
	first := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", shipped), nil)
	second := w.File(t, apptest.Order("O-1", "2026-10-02T08:00:00Z", shipped), nil)
	w.Fault(t, sandbox.Fault{Method: http.MethodGet, Table: "Orders", Status: 429})
	w.Press(t, first, nil)
	apptest.Eventually(t, func() bool { return state(t, w)["state"] == "paused" }, "the base is paused")
	require.NotEmpty(t, state(t, w)["paused_until"])
	requests := len(w.Sandbox.Requests())

	w.Press(t, second, nil)
	status, answer := w.Call(t, 1, "GET", "/v1/entries/"+second+"/preview", nil)
	require.Equal(t, http.StatusServiceUnavailable, status, "%v", answer)
	w.Advance(t, 5*time.Minute)
	for _, id := range []string{first, second} {
		require.Equal(t, "replaying", w.Entry(t, id)["status"])
	}
	require.Equal(t, "paused", state(t, w)["state"])
	require.Len(t, w.Sandbox.Requests(), requests, "nothing is sent to the base meanwhile")

	w.Advance(t, 6*time.Minute)
	apptest.RequireOutcome(t, w.Settled(t, first), "replayed", "")
	apptest.RequireOutcome(t, w.Settled(t, second), "replayed", "")
	require.Equal(t, "2", number(apptest.Outcome(w.Entry(t, first))["attempts"]), "a 429 is one of the five attempts")
	require.Equal(t, "running", state(t, w)["state"])
}
