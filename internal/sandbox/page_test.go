package sandbox_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"airtable-replay/internal/sandbox"
)

// TestPage opens the page in a real browser.
func TestPage(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	for name, test := range map[string]func(*testing.T){
		"is accessible":  b.testPageIsAccessible,
		"keyboard alone": b.testKeyboard,
		"replay button":  b.testReplayButton,
		"live":           b.testLive,
		"controls":       b.testControls,
		"hostile values": b.testHostileValues,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

// serveWorld puts a sandbox that the test made behind HTTP.
func serveWorld(t *testing.T, box *sandbox.Sandbox) *world {
	t.Helper()
	server := httptest.NewServer(box.Handler())
	t.Cleanup(func() {
		box.Close()
		server.Close()
	})
	return &world{t: t, box: box, url: server.URL}
}

func (w *world) tableID(name string) string {
	w.t.Helper()
	for _, raw := range w.control("GET", "/bases", "").json()["bases"].([]any)[0].(map[string]any)["tables"].([]any) {
		if tj := raw.(map[string]any); tj["name"] == name {
			return tj["id"].(string)
		}
	}
	w.t.Fatalf("no table %s", name)
	return ""
}

// letterYAML adds a table of dead letters to the base of seedYAML.
const letterYAML = seedYAML + `
      - name: Dead Letter Queue
        fields:
          - {name: DLQ Record ID, type: singleLineText}
          - {name: Source System, type: singleLineText}
          - {name: Target Table, type: singleLineText}
          - {name: Target ID, type: singleLineText}
          - {name: Raw Payload, type: multilineText}
          - {name: Reason Code, type: singleLineText}
          - {name: Attempts, type: number}
          - {name: Status, type: singleSelect, choices: [Pending Review, Replaying, Resolved, Ignored]}
          - {name: First Attempt At, type: dateTime}
          - {name: Replay Requested, type: checkbox}
          - {name: Replay Requested By, type: singleLineText}
          - {name: Replay Outcome, type: singleSelect, choices: [Replayed, Partially Replayed, Superseded, Needs Review, Replay Failed]}
          - {name: Replay Notes, type: multilineText}
        records:
          - {_id: recLetter00000001, DLQ Record ID: d-1, Source System: shop, Target Table: Orders, Target ID: O-1, Raw Payload: '{"order_id":"O-1","status":"Shipped"}', Reason Code: transient_exhausted, Attempts: 5, Status: Pending Review, First Attempt At: 2026-10-03T09:30:00Z}
          - {_id: recLetter00000002, DLQ Record ID: d-2, Source System: shop, Target Table: Orders, Target ID: O-2, Raw Payload: '{"order_id":"O-2","delivery_date":"2026-10-07"}', Reason Code: rate_limit_exhausted, Attempts: 5, Status: Resolved, First Attempt At: 2026-10-02T17:05:00Z, Replay Outcome: Partially Replayed, Replay Notes: 'Delivery Date was edited by hand after the failure.'}
automations:
  - {base: appOrdersSandbox01, table: Dead Letter Queue, checkbox: Replay Requested, post: "${SERVICE_URL}/v1/entries/{record}/replay", token: "${BUTTON_TOKEN}"}
`

// posted is a press as the service got it.
type posted struct{ path, authorization, body string }

// deadLetterWorld has a table with a Replay button, and the service it calls.
func deadLetterWorld(t *testing.T) (*world, chan posted) {
	t.Helper()
	presses := make(chan posted, 10)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a press that is cut short shows in the test
		presses <- posted{r.URL.Path, r.Header.Get("Authorization"), string(body)}
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(service.Close)
	env := map[string]string{"SERVICE_URL": service.URL, "BUTTON_TOKEN": "button-secret"}
	return seededWorld(t, letterYAML, sandbox.Config{LookupEnv: func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}}), presses
}
