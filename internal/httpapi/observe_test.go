package httpapi_test

import (
	"errors"
	"net/http"
	"testing"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi"

	"github.com/stretchr/testify/require"
)

func TestOneLineTellsARequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.call(t, request{method: "POST", path: pressPath, token: "replay", body: `{"reason": "payload of a kind"}`})
	lines := b.lines(t)
	require.Len(t, lines, 1)
	line := lines[0]
	require.NotEmpty(t, line["time"])
	require.Contains(t, line, "duration_ms")
	require.NotZero(t, line["bytes"])
	for _, member := range []string{"time", "duration_ms", "bytes"} {
		delete(line, member)
	}
	require.Equal(t, map[string]any{
		"level": "INFO", "msg": "PressReplay", "operation": "PressReplay", "method": "POST", "path": "/v1/entries/{id}/replay", "status": 202.0,
		"token": "replay-token", "entry_id": entryID, "run_id": runID, "request_id": "test-1",
	}, line)
}

func TestLogHoldsNeitherPayloadsNorSecrets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.entry.RawPayload = []byte("PAYLOAD")
	b.call(t, request{method: "POST", path: "/v1/entries", body: `{"source_system": "s", "raw_payload": "PAYLOAD", "reason_code": "PAYLOAD", "first_attempt_at": "PAYLOAD"}`})
	b.call(t, request{method: "POST", path: "/v1/writes", body: `{"source_system": "s", "payload": "PAYLOAD"}`})
	b.call(t, request{method: "POST", path: "/v1/writes", body: `{"PAYLOAD": 1, `})
	b.call(t, request{method: "GET", path: "/v1/entries/" + entryID})
	b.call(t, request{method: "GET", path: "/v1/entries?q=PAYLOAD"})
	b.call(t, request{method: "GET", path: "/v1/bases", token: "stolen"})
	require.NotContains(t, b.log.String(), "PAYLOAD")
	require.NotContains(t, b.log.String(), "secret-")
	require.Len(t, b.lines(t), 6)
}

func TestProblemsAndRepetitionsAreLogged(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.err = deadletter.Errorf(deadletter.CodeConflict, "base-halted", "halted")
	q := withKey(request{method: "POST", path: pressPath}, "key-1")
	b.call(t, q)
	b.call(t, q)
	lines := b.lines(t)
	require.Equal(t, "base-halted", lines[0]["problem"])
	require.Equal(t, "INFO", lines[0]["level"])
	require.Equal(t, true, lines[1]["idempotent_replayed"])
}

func TestPanicsAreAnsweredAndLoggedWithTheirStack(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.panics = errors.New("nil map")
	a := b.call(t, request{method: "GET", path: "/v1/entries/" + entryID})
	require.Equal(t, 500, a.status)
	require.NotContains(t, a.body, "nil map")
	line := b.lines(t)[0]
	require.Equal(t, "panic: nil map", line["error"])
	require.Contains(t, line["stack"], "services_test.go")
}

func TestAbortedHandlerCutsTheConnection(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.panics = http.ErrAbortHandler
	require.PanicsWithError(t, http.ErrAbortHandler.Error(), func() { b.call(t, request{method: "GET", path: "/v1/entries/" + entryID}) })
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for sent, taken := range map[string]bool{"abc-1.2_X": true, "": false, "a b": false, "a\nb": false, "<script>": false} {
		a := b.call(t, request{method: "GET", path: "/healthz", header: map[string]string{"X-Request-Id": sent}})
		if taken {
			require.Equal(t, sent, a.header.Get("X-Request-Id"))
		} else {
			require.Len(t, a.header.Get("X-Request-Id"), 36)
		}
	}
}

func TestProbesStayOutOfTheUsualLog(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.call(t, request{method: "GET", path: "/healthz", token: "-"})
	b.call(t, request{method: "GET", path: "/nothing", token: "-"})
	b.err = errors.New("no database at db.internal")
	a := b.call(t, request{method: "GET", path: "/readyz", token: "-"})
	require.Equal(t, 503, a.status)
	require.NotContains(t, a.body, "db.internal")
	lines := b.lines(t)
	require.Equal(t, "DEBUG", lines[0]["level"])
	require.Equal(t, "INFO", lines[1]["level"])
	require.Equal(t, "Unmatched", lines[1]["msg"])
	require.Equal(t, "/nothing", lines[1]["path"])
	require.Equal(t, "ERROR", lines[2]["level"])
	require.Contains(t, lines[2]["error"], "db.internal")
}

func TestMetricsCountByOperationAndStatus(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.call(t, request{method: "GET", path: "/v1/entries/" + entryID})
	b.call(t, request{method: "GET", path: "/v1/entries/nonsense"})
	b.call(t, request{method: "GET", path: "/v1/anything"})
	a := b.call(t, request{method: "GET", path: "/metrics", token: "-"})
	require.Equal(t, 200, a.status)
	for _, line := range []string{
		`airtable_replay_http_requests_total{operation="ShowEntry",status="200"} 1`,
		`airtable_replay_http_requests_total{operation="ShowEntry",status="404"} 1`,
		`airtable_replay_http_requests_total{operation="Unmatched",status="404"} 1`,
		`airtable_replay_http_request_seconds_count{operation="ShowEntry"} 2`,
	} {
		require.Contains(t, a.body, line)
	}
}

func TestMetricsCanBeElsewhere(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *httpapi.Config) { c.Metrics = nil })
	require.Equal(t, 404, b.call(t, request{method: "GET", path: "/metrics", token: "-"}).status)
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/v1/bases", "/healthz", "/nothing", "/openapi.yaml"} {
		a := b.call(t, request{method: "GET", path: path})
		require.Equal(t, "nosniff", a.header.Get("X-Content-Type-Options"), path)
		require.Equal(t, "no-store", a.header.Get("Cache-Control"), path)
		require.Contains(t, a.header.Get("Content-Security-Policy"), "default-src 'none'", path)
	}
}
