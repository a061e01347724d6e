package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// sender answers for the current state of orders.
type sender struct {
	mu     sync.Mutex
	states map[string]func(w http.ResponseWriter)
	asked  []string
}

// ServeHTTP implements http.Handler.
func (s *sender) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	s.asked = append(s.asked, id)
	state := s.states[id]
	s.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "Bearer "+senderToken:
		w.WriteHeader(http.StatusUnauthorized)
	case state == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		state(w)
	}
}

const senderToken = "sender-secret"

func (s *sender) times(id string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.asked {
		if a == id {
			n++
		}
	}
	return n
}

func says(body string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) { _, _ = w.Write([]byte(body)) }
}

func worldWithSender(t *testing.T, states map[string]func(w http.ResponseWriter)) (*apptest.World, *sender) {
	t.Helper()
	s := &sender{states: states}
	routes := http.NewServeMux()
	routes.Handle("GET /orders/{id}", s)
	server := httptest.NewServer(routes)
	t.Cleanup(server.Close)
	config := apptest.Change(t, apptest.DefaultConfig, "    id: order.id\n    version: updated_at\n",
		"    id: order.id\n    version: updated_at\n    reextract: {url: \""+server.URL+"/orders/{id}\", token: \"${SENDER_TOKEN}\"}\n")
	return apptest.New(t, apptest.Options{Config: config, Env: map[string]string{"SENDER_TOKEN": senderToken}}), s
}

// What cannot be decided for want of a version is asked of the sender, whose current state is written in
// the payload's place, kept in the history, and still yields to people (C5).
func TestStoryReextract(t *testing.T) {
	t.Parallel()
	current := apptest.Order("ask", "2026-10-07T08:00:00Z", apptest.Doc{"status": "Delivered"})
	w, s := worldWithSender(t, map[string]func(w http.ResponseWriter){
		"ask":   says(current),
		"blank": says(apptest.Order("blank", "2026-10-07T08:00:00Z", apptest.Doc{"status": "Delivered"})),
		"hand":  says(apptest.Order("hand", "2026-10-07T08:00:00Z", apptest.Doc{"status": "Delivered", "delivery_date": "2026-10-05"})),
		"stale": says(apptest.Order("stale", "2026-09-01T08:00:00Z", apptest.Doc{"status": "Delivered"})),
	})
	place(t, w, "ask")
	place(t, w, "stale")
	w.Make(t, "Orders", apptest.Doc{"Order ID": "blank", "Status": "Pending"})
	edited := place(t, w, "hand")
	w.Hand(t, "Orders", edited, apptest.Failed.AddDate(0, 0, 1), apptest.Doc{"Delivery Date": "2026-12-24"})
	file := func(id, version string) string {
		return w.File(t, apptest.Order(id, version, apptest.Doc{"status": "Shipped"}), nil)
	}

	entry := file("ask", "")
	preview := w.Read(t, "/v1/entries/"+entry+"/preview")
	require.Equal(t, "replayed", preview["outcome"])
	e := w.Replay(t, entry, nil)
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Equal(t, apptest.Doc{"Status": "Delivered"}, apptest.Outcome(e)["fields_replayed"])
	require.Contains(t, e["raw_payload"], "Shipped", "the payload stays as it was filed")
	lines := w.History(t, entry)
	require.Equal(t, current, lines[len(lines)-1]["detail"].(apptest.Doc)["fetched_payload"])
	require.Equal(t, "2026-10-07T08:00:00.000Z", w.OrderCells(t, "ask")["Source Updated At"])

	apptest.RequireOutcome(t, w.Replay(t, file("blank", second), nil), "replayed", "")
	apptest.RequireOutcome(t, w.Replay(t, file("hand", ""), nil), "needs_review", "shared_field_changed")
	apptest.RequireOutcome(t, w.Replay(t, file("stale", ""), nil), "superseded", "newer_from_sender")
	apptest.RequireOutcome(t, w.Replay(t, file("O-3", second), nil), "replayed", "")
	require.Zero(t, s.times("O-3"), "only what has no version is asked for")
}

// A sender that cannot say leaves the entry to a reviewer, with what came of asking.
func TestStoryReextractFails(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("another address was asked")
	}))
	t.Cleanup(elsewhere.Close)
	cases := map[string]struct {
		state func(w http.ResponseWriter)
		note  string
	}{
		"gone":    {nil, "does not have the record any more"},
		"broken":  {func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }, "answered HTTP 503"},
		"silent":  {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, "did not answer"},
		"large":   {says(`"` + strings.Repeat("a", 1<<20) + `"`), "larger than 1 MiB"},
		"invalid": {says(apptest.Order("invalid", third, apptest.Doc{"status": "Lost"})), "not valid: "},
		"text":    {says("it is shipped"), "not valid: "},
		"other":   {says(apptest.Order("O-1", third, apptest.Doc{"status": "Shipped"})), `answered with that of "O-1"`},
		"moved": {func(w http.ResponseWriter) {
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(http.StatusFound)
		}, "another address, which is not followed"},
	}
	states := map[string]func(w http.ResponseWriter){}
	for name, c := range cases {
		states[name] = c.state
	}
	w, s := worldWithSender(t, states)
	for name, c := range cases {
		place(t, w, name)
		e := w.Replay(t, w.File(t, apptest.Order(name, "", apptest.Doc{"status": "Shipped"}), nil), nil)
		apptest.RequireOutcome(t, e, "needs_review", "no_version")
		require.Contains(t, apptest.Outcome(e)["notes"], c.note)
		require.NotContains(t, fmt.Sprint(w.History(t, e["id"].(string))), senderToken)
		if name != "silent" { // the client sends a GET again whose connection was lost
			require.Equal(t, 1, s.times(name), name)
		}
	}
	require.Empty(t, w.WriteRequests())
}

// An entry that had to wait after its sender was asked is asked for again: the state may be another by then.
func TestStoryReextractIsFetchedAgain(t *testing.T) {
	t.Parallel()
	w, s := worldWithSender(t, map[string]func(w http.ResponseWriter){
		"again": says(apptest.Order("again", "2026-10-07T08:00:00Z", apptest.Doc{"status": "Delivered"})),
	})
	place(t, w, "again")
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Times: 2, Status: 503})
	e := w.Replay(t, w.File(t, apptest.Order("again", "", apptest.Doc{"status": "Shipped"}), nil), nil)
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Equal(t, 3, s.times("again"))
	require.Equal(t, "Delivered", w.OrderCells(t, "again")["Status"])
}
