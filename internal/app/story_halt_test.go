package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// owner is the endpoint of a base's owner; it keeps what it was told.
type owner struct {
	mu    sync.Mutex
	alert []string
}

// ServeHTTP implements http.Handler.
func (o *owner) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body := make([]byte, r.ContentLength)
	_, _ = r.Body.Read(body)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.alert = append(o.alert, string(body))
}

func (o *owner) told() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]string{}, o.alert...)
}

func worldWithOwner(t *testing.T, replicas int) (*apptest.World, *owner) {
	t.Helper()
	o := &owner{}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	text := strings.Replace(apptest.DefaultConfig, "token_owner: integrations", "token_owner: integrations\n    alert: [ops]", 1) + `
notify:
  ops: {url: "` + server.URL + `", secret: "${AIRTABLE_TOKEN}", on: [base.halted]}
`
	return apptest.New(t, apptest.Options{Config: text, Replicas: replicas, SimulatedClock: true}), o
}

func (o *owner) toldOnce(t *testing.T, words string) {
	t.Helper()
	apptest.Eventually(t, func() bool { return len(o.told()) > 0 }, "the owner is told")
	require.Len(t, o.told(), 1)
	require.Contains(t, o.told()[0], words)
}

func state(t *testing.T, w *apptest.World) apptest.Doc {
	t.Helper()
	return w.Read(t, "/v1/bases")["bases"].([]any)[0].(apptest.Doc)
}

func halted(t *testing.T, w *apptest.World) {
	t.Helper()
	apptest.Eventually(t, func() bool { return state(t, w)["state"] == "halted" }, "the base is halted")
}

// Retry case 6: a token that no longer works stops the base at once: one alert, no entries, live writes queued,
// presses refused; after the resume everything goes on (W7).
func TestRetryCase6RefusedTokenHaltsAtOnce(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"revoked", "forbidden"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			w, o := worldWithOwner(t, 2)
			require.NoError(t, w.Sandbox.SetToken("patSandbox.full", state))
			var ids []string
			for i := range 12 {
				ids = append(ids, w.Accept(t, "order-system", apptest.Order(fmt.Sprint("N-", i), "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"})))
			}
			halted(t, w)
			o.toldOnce(t, "token")
			require.Empty(t, w.Read(t, "/v1/entries")["entries"])
			requests := len(w.Sandbox.Requests())
			w.Advance(t, time.Hour)
			entry := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil)
			status, answer := w.Call(t, 0, http.MethodPost, "/v1/entries/"+entry+"/replay", apptest.Doc{"requested_by": "ann"})
			require.Equal(t, http.StatusConflict, status)
			require.Equal(t, "/problems/base-halted", answer["type"])
			require.Equal(t, "pending_review", w.Entry(t, entry)["status"])

			require.Len(t, w.Sandbox.Requests(), requests, "nothing is sent while it is halted")
			require.NoError(t, w.Sandbox.SetToken("patSandbox.full", "valid"))
			status, answer = w.Call(t, 1, http.MethodPost, "/v1/bases/orders/resume", nil)
			require.Equal(t, http.StatusOK, status, "%v", answer)
			for i, id := range ids {
				require.Equal(t, "written", w.Decided(t, id)["status"])
				require.Equal(t, "Shipped", w.OrderCells(t, fmt.Sprint("N-", i))["Status"])
			}
			apptest.RequireOutcome(t, w.Replay(t, entry, nil), "replayed", "")
			require.Len(t, o.told(), 1)
		})
	}
}

// Retry case 5: a field that was renamed stops live traffic after the fifth identical failure; the alert says what
// to mend, and what is still queued stays queued (W7).
func TestRetryCase5RenamedFieldHaltsAfterTheFifth(t *testing.T) {
	t.Parallel()
	w, o := worldWithOwner(t, 2)
	first := w.Accept(t, "order-system", apptest.Order("O-1", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}))
	require.Equal(t, "written", w.Decided(t, first)["status"])
	require.NoError(t, w.Sandbox.RenameField(apptest.BaseID, "Orders", "Status", "State"))
	var ids []string
	for i := range 9 {
		ids = append(ids, w.Accept(t, "order-system", apptest.Order(fmt.Sprint("N-", i), "2026-10-03T08:00:00Z", apptest.Doc{"status": "Shipped"})))
	}
	halted(t, w)
	o.toldOnce(t, "State")
	dead := 0
	for _, id := range ids {
		if w.Read(t, "/v1/writes/"+id)["status"] == "dead_lettered" {
			dead++
		}
	}
	require.Equal(t, 5, dead)
	require.Len(t, w.Read(t, "/v1/entries?reason=unknown_field")["entries"], 5)

	require.NoError(t, w.Sandbox.RenameField(apptest.BaseID, "Orders", "State", "Status"))
	status, answer := w.Call(t, 1, http.MethodPost, "/v1/bases/orders/resume", nil)
	require.Equal(t, http.StatusOK, status, "%v", answer)
	written := 0
	for _, id := range ids {
		if w.Decided(t, id)["status"] == "written" {
			written++
		}
	}
	require.Equal(t, 4, written, "what was queued goes on")
	require.Len(t, o.told(), 1)
}

// Five identical failures stop a run, not the base; single presses neither count nor halt.
func TestFiveIdenticalFailuresStopTheRun(t *testing.T) {
	t.Parallel()
	w, o := worldWithOwner(t, 1)
	var ids []string
	for i := range 8 {
		id := fmt.Sprint("N-", i)
		w.Make(t, "Orders", apptest.Doc{"Order ID": id, "Status": "Pending", "Source Updated At": "2026-09-30T08:00:00Z"})
		ids = append(ids, w.File(t, apptest.Order(id, "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil))
	}
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Table: "Orders", Times: -1, Status: 422,
		Body: []byte(`{"error":{"type":"INVALID_VALUE_FOR_COLUMN","message":"Field \"Status\" cannot accept the provided value"}}`)})
	run := w.Finished(t, w.RunIDs(t, nil, ids...))
	require.Equal(t, "stopped", run["status"])
	require.Equal(t, "run_stopped", run["reason"])
	counts := run["counts"].(apptest.Doc)
	require.Equal(t, "5", fmt.Sprint(counts["replay_failed"]))
	require.Equal(t, "3", fmt.Sprint(counts["released"]))
	require.Equal(t, "running", state(t, w)["state"])
	require.Empty(t, o.told())
	for _, id := range ids {
		require.Equal(t, "pending_review", w.Entry(t, id)["status"])
	}
	for range 6 {
		apptest.RequireOutcome(t, w.Replay(t, ids[0], apptest.Doc{}), "replay_failed", "invalid_value")
		if fmt.Sprint(w.Entry(t, ids[0])["replay"].(apptest.Doc)["attempts"]) == "0" {
			t.Fatal("an attempt was made")
		}
		ids = append(ids[1:], ids[0])
	}
	require.Equal(t, "running", state(t, w)["state"])
}
