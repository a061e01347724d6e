package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// What goes over the wire, and what its answers mean, as the sandbox's log of requests tells it.

// pressed files an order's entry and replays it.
func pressed(t *testing.T, w *apptest.World, id, updatedAt string, fields apptest.Doc) apptest.Doc {
	t.Helper()
	return w.Replay(t, w.File(t, apptest.Order(id, updatedAt, fields), nil), nil)
}

func TestB50HTMLPageOf503(t *testing.T) {
	t.Parallel()
	const page = `"<html><body>Service Temporarily Unavailable</body></html>"`
	w := apptest.New(t, apptest.Options{})
	fault := sandbox.Fault{Method: http.MethodPatch, Times: 2, Status: 503, Body: json.RawMessage(page), Headers: map[string]string{"Content-Type": "text/html"}}
	w.Fault(t, fault)
	e := pressed(t, w, "O-3", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"})
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Equal(t, "3", number(apptest.Outcome(e)["attempts"]))
	require.Len(t, w.WriteRequests(), 3)
	require.Contains(t, apptest.Outcome(e)["notes"], "Service Temporarily Unavailable", "what the attempts before met")
	require.Contains(t, apptest.Outcome(e)["notes"], "503")

	fault.Times, fault.Method = 5, http.MethodGet
	w.Fault(t, fault)
	e = pressed(t, w, "O-2", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"})
	apptest.RequireOutcome(t, e, "replay_failed", "transient_exhausted")
	require.Equal(t, "503", number(apptest.Outcome(e)["status_code"]))
	require.Contains(t, apptest.Outcome(e)["error_detail"], "Service Temporarily Unavailable")
}

func TestB52ErrorBodiesOfEveryShape(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	for i, c := range []struct {
		status int
		body   string
		says   []string
	}{
		{404, `{"error":"NOT_FOUND"}`, []string{"NOT_FOUND", "404"}},
		{422, `{"error":{"type":"X","message":"Y"}}`, []string{"X: Y", "422"}},
		{422, `{}`, []string{"no details given", "422"}},
		{422, `""`, []string{"no details given", "422"}},
	} {
		w.Fault(t, apptest.Answer(c.status, c.body))
		id := fmt.Sprintf("N-%d", i)
		w.Make(t, "Orders", apptest.Doc{"Order ID": id, "Status": "Pending", "Source Updated At": "2026-09-30T08:00:00Z"})
		e := pressed(t, w, id, "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"})
		apptest.RequireOutcome(t, e, "replay_failed", "write_failed")
		require.Equal(t, number(c.status), number(apptest.Outcome(e)["status_code"]))
		for _, text := range c.says {
			require.Contains(t, apptest.Outcome(e)["notes"], text)
		}
	}
}

func TestB57SecondAttemptSendsTheSameBody(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Status: 503})
	apptest.RequireOutcome(t, pressed(t, w, "O-3", "2026-10-02T08:00:00Z", shipped), "replayed", "")
	writes := w.WriteRequests()
	require.Len(t, writes, 2)
	require.NotEmpty(t, writes[0].Body)
	require.Equal(t, writes[0].Body, writes[1].Body)
	for _, r := range writes {
		require.Empty(t, r.IdempotencyKey, "Airtable knows none, and Go's transport would resend by itself")
	}
}

func TestB58NothingAfterSuccess(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{SimulatedClock: true})
	id := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", shipped), nil)
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
	requests := len(w.Requests("Orders"))
	w.Quiet(t, time.Minute)
	require.Len(t, w.Requests("Orders"), requests)
	require.Equal(t, 1, w.Writes())
	require.Equal(t, 1, settled(t, w, id))
}

// settled counts the outcomes in an entry's history.
func settled(t *testing.T, w *apptest.World, id string) int {
	t.Helper()
	n := 0
	for _, line := range w.History(t, id) {
		if line["event"] == "settled" {
			n++
		}
	}
	return n
}

func TestB64RecordDeletedBeforeTheReplay(t *testing.T) {
	t.Parallel()
	t.Run("between read and write", func(t *testing.T) {
		t.Parallel()
		var w *apptest.World
		w = apptest.New(t, apptest.Options{Probe: onceAtRead(func() {
			require.NoError(t, w.Sandbox.Delete(apptest.BaseID, "Orders", "recOrd00000000002"))
		})})
		var ids []string
		for _, key := range []string{"O-1", "O-2", "O-3"} {
			ids = append(ids, w.File(t, apptest.Order(key, "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil))
		}
		w.Finished(t, w.RunIDs(t, nil, ids...))
		apptest.RequireOutcome(t, w.Entry(t, ids[0]), "replayed", "")
		requireDeleted(t, w, w.Entry(t, ids[1]))
		apptest.RequireOutcome(t, w.Entry(t, ids[2]), "replayed", "")
		require.Equal(t, 422, w.WriteRequests()[0].Status, "the batch was refused whole")
	})
	for route, answer := range map[string]sandbox.Fault{
		"of a batch":        apptest.Answer(422, `{"error":{"type":"ROW_DOES_NOT_EXIST","message":"Record ID recOrd00000000002 does not exist in this table"}}`),
		"of a single route": apptest.Answer(404, `{"error":{"type":"MODEL_ID_NOT_FOUND","message":"Record not found"}}`),
	} {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			w := apptest.New(t, apptest.Options{})
			w.Fault(t, answer)
			e := pressed(t, w, "O-2", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"})
			requireDeleted(t, w, e)
			require.Contains(t, apptest.Outcome(e)["notes"], "deleted")
			require.Len(t, w.WriteRequests(), 1)
			require.NotContains(t, w.WriteRequests()[0].Body, "performUpsert", "a PATCH by ID never turns into an insert")
		})
	}
}

func requireDeleted(t *testing.T, w *apptest.World, e apptest.Doc) {
	t.Helper()
	apptest.RequireOutcome(t, e, "replay_failed", "no_match")
	require.Equal(t, "pending_review", e["status"])
	for _, c := range w.Sandbox.Changes() {
		require.False(t, c.Kind == "create" && c.Table == "Orders", "made anew: %v", c)
	}
}

func TestB68ElevenRecords(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	for _, n := range []int{11, 10, 20} {
		requireRunInTens(t, w, n, "")
	}
	requests := len(w.Sandbox.Requests())
	status, answer := w.Call(t, 0, "POST", "/v1/runs", apptest.Doc{"selector": apptest.Doc{"reason": "other"}})
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Equal(t, "/problems/empty-selection", answer["type"])
	require.Len(t, w.Sandbox.Requests(), requests, "nothing is sent for nothing")
}

// requireRunInTens replays n records, whose keys end in a tag, in one run: ten in each request, and
// nothing lost. It returns the entries.
func requireRunInTens(t *testing.T, w *apptest.World, n int, tag string) []apptest.Doc {
	t.Helper()
	w.Sandbox.ClearRequests()
	var ids []string
	for i := range n {
		key := fmt.Sprintf("%d of %d%s", i, n, tag)
		w.Make(t, "Orders", apptest.Doc{"Order ID": key, "Status": "Pending", "Source Updated At": "2026-09-30T08:00:00Z"})
		ids = append(ids, w.File(t, apptest.Order(key, "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil))
	}
	run := w.Finished(t, w.RunIDs(t, nil, ids...))
	requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"claimed": n, "replayed": n})
	var sizes []int
	for _, r := range w.WriteRequests() {
		sizes = append(sizes, r.Records)
	}
	want := []int{}
	for left := n; left > 0; left -= 10 {
		want = append(want, min(left, 10))
	}
	require.Equal(t, want, sizes)
	var entries []apptest.Doc
	for _, id := range ids {
		entries = append(entries, w.Entry(t, id))
	}
	return entries
}

// The last chunk has one record: its entry says the same, in the same form, as those of a full one.
func TestB69LastChunkOfOne(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	for _, n := range []int{11, 21, 1} {
		entries := requireRunInTens(t, w, n, "")
		want := shape(entries[0])
		for _, e := range entries {
			apptest.RequireOutcome(t, e, "replayed", "")
			require.Equal(t, want, shape(e))
		}
	}
}

// shape is an account of a replay without what differs from entry to entry by nature.
func shape(e apptest.Doc) apptest.Doc {
	out := apptest.Doc{}
	for name, value := range apptest.Outcome(e) {
		switch name {
		case "requested_at", "replayed_at", "record_id", "run_id":
			value = fmt.Sprintf("%T", value)
		}
		out[name] = value
	}
	return out
}

func TestB72CreatedOrUpdated(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	keys := []string{"O-2", "N-b", "O-1", "N-a"}
	ids := fileAll(t, w, keys, "2026-10-02T08:00:00Z")
	run := w.Finished(t, w.RunIDs(t, nil, ids...))
	requireCounts(t, run["reconciliation"].(apptest.Doc), map[string]int{"created": 2, "updated": 2})
	require.Equal(t, 1, w.Writes(), "updates and creations share one request")
	byKey := map[string]string{}
	for _, r := range records(t, w, "Orders") {
		byKey[fmt.Sprint(r.Fields["Order ID"])] = r.ID
	}
	for i, id := range ids {
		require.Equal(t, byKey[keys[i]], apptest.Outcome(w.Entry(t, id))["record_id"], keys[i])
		want := map[byte]string{'O': "updated", 'N': "created"}[keys[i][0]]
		history := w.History(t, id)
		require.Equal(t, want, history[len(history)-1]["detail"].(apptest.Doc)["effect"], keys[i])
	}
}
