package main_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

const someRun = `{"id": "r1", "kind": "run", "status": "%s", "mode": "checked", "counts": {"claimed": 2, "replayed": %d}, "reconciliation": {"balanced": true}}`

// serviceOf is a service of a test's own, in place of the real one.
func serviceOf(t *testing.T, serve http.HandlerFunc) []string {
	t.Helper()
	s := httptest.NewServer(serve)
	t.Cleanup(s.Close)
	return []string{"AIRTABLE_REPLAY_URL=" + s.URL, "AIRTABLE_REPLAY_TOKEN=some"}
}

func say(w http.ResponseWriter, status int, kind, body string) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) //nolint:gosec // of the test's own
}

func TestBrokenStreamsAreOpenedAgain(t *testing.T) {
	t.Parallel()
	var streams atomic.Int32
	env := serviceOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/runs/r1" {
			say(w, 200, "application/json", fmt.Sprintf(someRun, "completed", 2))
			return
		}
		switch streams.Add(1) {
		case 1:
			say(w, 200, "text/event-stream", ": hello\n\nevent: progress\ndata: "+fmt.Sprintf(someRun, "running", 0)+"\n\nevent: progress\ndata: {")
		case 2:
			say(w, 503, "application/problem+json", `{"title": "Unavailable", "status": 503, "detail": "draining", "type": "/problems/unavailable", "request_id": "x"}`)
		case 3:
			panic(http.ErrAbortHandler)
		default:
			say(w, 200, "text/event-stream", "event: progress\ndata: "+fmt.Sprintf(someRun, "running", 1)+"\n\nevent: done\ndata: "+fmt.Sprintf(someRun, "completed", 2)+"\n\n")
		}
	})
	c := run(t, env, "runs", "watch", "r1")
	require.Equal(t, 0, c.code(), "%s", c.stderr)
	require.Equal(t, "running: 0 of 2\nrunning: 1 of 2  replayed 1\ncompleted: 2 of 2  replayed 2\n", c.stderr.String())
	require.EqualValues(t, 4, streams.Load())
}

func TestAStreamThatCannotGoOnSaysWhy(t *testing.T) {
	t.Parallel()
	env := serviceOf(t, func(w http.ResponseWriter, _ *http.Request) {
		say(w, 200, "text/event-stream", "event: error\ndata: {\"title\": \"Run not found\", \"status\": 404, \"detail\": \"it is gone\", \"type\": \"/problems/run-not-found\", \"request_id\": \"x\"}\n\n")
	})
	run(t, env, "runs", "watch", "r1").refused(t, 1, "airtable-replay: Run not found: it is gone\n")
}

// A lost answer is asked for again under the same key, so nothing is made twice.
func TestLostAnswersAreAskedForAgain(t *testing.T) {
	t.Parallel()
	keys := make(chan string, 10)
	env := serviceOf(t, func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get("Idempotency-Key")
		if len(keys) < 3 {
			panic(http.ErrAbortHandler)
		}
		say(w, 202, "application/json", `{"run_id": "r1", "entry": {"id": "e1"}}`)
	})
	c := run(t, env, "entries", "replay", "e1")
	require.Equal(t, 0, c.code(), "%s", c.stderr)
	require.Equal(t, "Accepted as run r1.\n", c.stdout.String())
	require.Len(t, keys, 3)
	first := <-keys
	require.NotEmpty(t, first)
	require.Equal(t, first, <-keys)
	require.Equal(t, first, <-keys)

	env = serviceOf(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	c = run(t, env, "entries", "replay", "e1")
	require.Equal(t, 1, c.code())
	require.Contains(t, c.stderr.String(), "does not answer: EOF: check AIRTABLE_REPLAY_URL")
}
