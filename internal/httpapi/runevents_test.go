package httpapi_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi"

	"github.com/stretchr/testify/require"
)

func TestRunIsWatchedToItsEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.run.Counts = deadletter.Counts{Claimed: 3, Replayed: 1}
	a := b.call(t, request{method: "GET", path: "/v1/runs/" + runID + "/events", token: "read"})
	require.Equal(t, http.StatusOK, a.status)
	require.Equal(t, "text/event-stream", a.header.Get("Content-Type"))
	events := strings.Split(strings.TrimSuffix(a.body, "\n\n"), "\n\n")
	require.Len(t, events, 2)
	require.Regexp(t, `^event: progress\ndata: \{.*"finished_at":null,.*\}$`, events[0])
	require.Regexp(t, `^event: done\ndata: \{.*"finished_at":"2026-10-04T12:00:00Z",.*\}$`, events[1])

	b.err = deadletter.Errorf(deadletter.CodeNotFound, "run-not-found", "there is no such run")
	require.Equal(t, http.StatusNotFound, b.call(t, request{method: "GET", path: "/v1/runs/" + runID + "/events"}).status)
	require.Equal(t, http.StatusNotFound, b.call(t, request{method: "GET", path: "/v1/runs/none/events"}).status)
}

// A stream ends when the service begins to stop, so that a deployment does not wait for those who watch.
func TestWatchEndsWithTheService(t *testing.T) {
	t.Parallel()
	draining := make(chan struct{})
	close(draining)
	b := setup(t, func(c *httpapi.Config) { c.Draining = draining })
	b.watching, b.err = true, nil
	b.run.Counts.Claimed = 1
	server := httptest.NewServer(b.handler)
	defer server.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/v1/runs/"+runID+"/events", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer secret-read")
	resp, err := server.Client().Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), ": the service stops")
	require.NotContains(t, string(body), "event: done")
}

func TestEvidence(t *testing.T) {
	t.Parallel()
	path := "/v1/runs/" + runID + "/evidence"
	b := setup(t)
	b.evidence = "run_id,entry_id\n"
	a := b.call(t, request{method: "GET", path: path + "?format=csv", token: "read"})
	require.Equal(t, []any{http.StatusOK, "text/csv; charset=utf-8", `attachment; filename="run-` + runID + `.csv"`, "run_id,entry_id\n"},
		[]any{a.status, a.header.Get("Content-Type"), a.header.Get("Content-Disposition"), a.body})
	require.Equal(t, []any{runID, "csv"}, b.calls[len(b.calls)-2:])
	p := b.call(t, request{method: "GET", path: path + "?format=xml"}).problem(t)
	require.Equal(t, []any{http.StatusBadRequest, []string{"format oneof"}}, []any{p.Status, p.rules()})

	// What breaks on the way is cut off, not passed off as whole.
	b = setup(t)
	b.broken = errors.New("the database is gone")
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { b.call(t, request{method: "GET", path: path}) })
}

func TestPingIsHandedOnAsItArrived(t *testing.T) {
	t.Parallel()
	b := setup(t)
	body := `{ "webhook":{"id":"ach1"} }`
	a := b.call(t, request{method: "POST", path: "/v1/airtable/notifications", token: "-", body: body, header: map[string]string{"X-Airtable-Content-MAC": "hmac-sha256=00"}})
	require.Equal(t, []any{http.StatusNoContent, ""}, []any{a.status, a.body})
	require.Equal(t, []any{body, "hmac-sha256=00"}, b.calls)
	b.err = deadletter.Errorf(deadletter.CodeUnauthenticated, "", "no ping of ours")
	require.Equal(t, http.StatusUnauthorized, b.call(t, request{method: "POST", path: "/v1/airtable/notifications", token: "-", body: body}).status)
	b = setup(t, func(c *httpapi.Config) { c.Pings = nil })
	require.Equal(t, http.StatusNotFound, b.call(t, request{method: "POST", path: "/v1/airtable/notifications", token: "-", body: body}).status)
}
