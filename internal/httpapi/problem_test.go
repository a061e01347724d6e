package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/stretchr/testify/require"
)

// TestProblems ranges over every code, so that a new one cannot go without a status.
func TestProblems(t *testing.T) {
	t.Parallel()
	want := map[deadletter.Code]struct {
		status      int
		name, title string
	}{
		deadletter.CodeInvalid:         {422, "invalid-request", "Invalid request"},
		deadletter.CodeUnauthenticated: {401, "unauthenticated", "Unauthenticated"},
		deadletter.CodeForbidden:       {403, "forbidden", "Forbidden"},
		deadletter.CodeNotFound:        {404, "not-found", "Not found"},
		deadletter.CodeConflict:        {409, "conflict", "Conflict"},
		deadletter.CodeRateLimited:     {429, "rate-limited", "Rate limited"},
		deadletter.CodeUpstream:        {502, "upstream", "Upstream"},
		deadletter.CodeUnavailable:     {503, "unavailable", "Unavailable"},
		deadletter.CodeInternal:        {500, "internal", "Internal"},
	}
	require.Len(t, want, len(deadletter.Codes()))
	for _, code := range deadletter.Codes() {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.err = fmt.Errorf("show entry: %w", &deadletter.Error{Code: code, Message: "said in public", Err: errors.New("secret cause")})
			a := b.call(t, request{method: "GET", path: "/v1/entries/" + entryID})
			p := a.problem(t)
			require.Equal(t, want[code].status, a.status)
			require.Equal(t, "/problems/"+want[code].name, p.Type)
			require.Equal(t, want[code].title, p.Title)
			require.NotContains(t, a.body, "secret cause")
			if code == deadletter.CodeInternal {
				require.Equal(t, "Something went wrong on our side. Quote the request ID test-1 when you report it.", p.Detail)
			} else {
				require.Equal(t, "said in public", p.Detail)
			}
		})
	}
}

func TestUnknownErrorsAreInternalAndLoggedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.err = fmt.Errorf("show entry: %w", errors.New("connection to 10.0.0.7 refused"))
	a := b.call(t, request{method: "GET", path: "/v1/entries/" + entryID})
	require.Equal(t, 500, a.status)
	require.NotContains(t, a.body, "10.0.0.7")
	lines := b.lines(t)
	require.Len(t, lines, 1)
	require.Equal(t, "ERROR", lines[0]["level"])
	require.Equal(t, "show entry: connection to 10.0.0.7 refused", lines[0]["error"])
	require.Equal(t, "test-1", lines[0]["request_id"])
}

func TestConflictTellsWhereTheEntryStands(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.err = &deadletter.Error{
		Code: deadletter.CodeConflict, Problem: "entry-not-pending", Message: "already replayed at 2026-10-04T11:00:00Z by ada",
		EntryStatus: deadletter.Replaying, RunID: runID,
	}
	a := b.call(t, request{method: "POST", path: "/v1/entries/" + entryID + "/replay"})
	p := a.problem(t)
	require.Equal(t, 409, a.status)
	require.Equal(t, "/problems/entry-not-pending", p.Type)
	require.Equal(t, "replaying", p.EntryStatus)
	require.Equal(t, runID, p.RunID)
}

func TestRetryAfterIsRoundedUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.err = &deadletter.Error{Code: deadletter.CodeUnavailable, Problem: "base-paused", Message: "paused", RetryAfter: 29100 * time.Millisecond}
	a := b.call(t, request{method: "GET", path: "/v1/entries/" + entryID + "/preview"})
	require.Equal(t, 503, a.status)
	require.Equal(t, "30", a.header.Get("Retry-After"))
	require.Equal(t, "/problems/base-paused", a.problem(t).Type)
}

func TestFieldErrorsOfServicesAreShown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.err = &deadletter.Error{
		Code: deadletter.CodeInvalid, Message: "no such target",
		Fields: []deadletter.FieldError{{Field: "target_table", Rule: "known", Detail: "must be one of Orders"}},
	}
	a := b.call(t, request{method: "POST", path: "/v1/entries", body: filing})
	require.Equal(t, 422, a.status)
	require.Equal(t, []string{"target_table known"}, a.problem(t).rules())
}

func TestPathsAndMethodsThatAreNotThere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.call(t, request{method: "GET", path: "/v1/nothing", token: "-"})
	require.Equal(t, 404, a.status)
	require.Equal(t, "/problems/not-found", a.problem(t).Type)

	a = b.call(t, request{method: "DELETE", path: "/v1/entries", token: "-"})
	require.Equal(t, 405, a.status)
	require.Equal(t, []string{"GET", "HEAD", "POST"}, a.header.Values("Allow"))
	require.Equal(t, "/problems/method-not-allowed", a.problem(t).Type)

	for path, name := range map[string]string{
		"/v1/entries/nonsense": "entry", "/v1/entries/rec%00": "entry", "/v1/entries/rec-x/history": "entry",
		"/v1/entries/%7B0199a0c4-0000-7000-8000-000000000001%7D": "entry",
		"/v1/runs/recDeadLetter0001":                             "run", "/v1/writes/1": "write",
	} {
		a = b.call(t, request{method: "GET", path: path})
		require.Equal(t, 404, a.status, path)
		require.Equal(t, "/problems/"+name+"-not-found", a.problem(t).Type)
	}
	a = b.call(t, request{method: "POST", path: "/v1/bases/a%00b/halt"})
	require.Equal(t, 404, a.status)
	require.Equal(t, "/problems/base-not-found", a.problem(t).Type)
	require.Empty(t, b.calls)
}

func TestCallerThatHungUpIsNoFaultOfOurs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.err = fmt.Errorf("list entries: %w", context.Canceled)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, request{method: http.MethodGet, path: "/v1/entries"}.build(t).WithContext(ctx))
	lines := b.lines(t)
	require.Equal(t, "INFO", lines[0]["level"])
	require.EqualValues(t, 499, lines[0]["status"])
}

// lines decodes the log.
func (b *bundle) lines(t *testing.T) []map[string]any {
	t.Helper()
	var lines []map[string]any
	for d := json.NewDecoder(b.log); d.More(); {
		var line map[string]any
		require.NoError(t, d.Decode(&line))
		lines = append(lines, line)
	}
	return lines
}
