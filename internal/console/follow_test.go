package console_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// events opens a run's stream and gives its events one by one.
func (p *person) events(run string) (next func() (event, data string)) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+"/runs/"+run+"/events", nil)
	require.NoError(p.t, err)
	resp, err := p.http.Do(r)
	require.NoError(p.t, err)
	require.Equal(p.t, http.StatusOK, resp.StatusCode)
	require.Equal(p.t, "text/event-stream", resp.Header.Get("Content-Type"))
	p.t.Cleanup(func() { _ = resp.Body.Close() }) // it may have been cut
	lines := bufio.NewScanner(resp.Body)
	return func() (event, data string) {
		for lines.Scan() {
			line := lines.Text()
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				event = name
			}
			if text, ok := strings.CutPrefix(line, "data: "); ok {
				data += text + "\n"
			}
			if line == "" && event != "" {
				return event, data
			}
		}
		return "", ""
	}
}

func TestProgressComesLive(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	run := w.RunIDs(t, nil, w.File(t, order("O-1", "Shipped", "2026-10-05"), nil), w.File(t, order("O-2", "Shipped", "2026-10-05"), nil))
	next := p.events(run)
	event, data := next()
	require.Equal(t, "progress", event)
	require.Contains(t, answer{body: data}.words(), "0 of 2")
	w.Start(t, 0)
	for event == "progress" {
		event, data = next()
	}
	require.Equal(t, "done", event)
	require.Contains(t, answer{body: data}.words(), "2 of 2")
	require.Contains(t, answer{body: data}.words(), "Yes: every entry")
	event, _ = next()
	require.Empty(t, event, "the stream ends with its run")
}

func TestStreamsEndWhenTheServiceStops(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{Replicas: 2, NoStart: true})
	p := loggedIn(t, w.URLs[1], w.Token)
	run := w.RunIDs(t, nil, w.File(t, order("O-1", "Shipped", "2026-10-05"), nil))
	next := p.events(run)
	event, _ := next()
	require.Equal(t, "progress", event)
	_, err := w.DB.Pool.Exec(t.Context(), `UPDATE base SET paused_until = replay_now() + interval '1 hour'`)
	require.NoError(t, err)
	w.Start(t, 1)
	w.Stop(t, 1)
	event, _ = next()
	require.Empty(t, event)
}

func TestNoStreamWithoutASession(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	run := w.RunIDs(t, nil, w.File(t, order("O-1", "Shipped", "2026-10-05"), nil))
	p := newPerson(t, w.URLs[0])
	t.Cleanup(p.http.CloseIdleConnections)
	require.Equal(t, "/login", p.visit("/runs/"+run+"/events").path)
	require.Equal(t, http.StatusUnauthorized, p.send(http.MethodGet, "/entries/x/preview", nil, "X-Part", "1").status)
}
