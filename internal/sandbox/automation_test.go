package sandbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

// pressed is a press as the service sees it.
type pressed struct {
	path, token, key string
	body             map[string]any
}

// buttonWorld has a dead letter table whose checkbox calls a service that
// answers what the test wants.
func buttonWorld(t *testing.T, status int, answer string) (*world, <-chan pressed) {
	t.Helper()
	presses := make(chan pressed, 10)
	service := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		p := pressed{path: r.URL.Path, token: r.Header.Get("Authorization"), key: r.Header.Get("Idempotency-Key")}
		raw, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(raw, &p.body)
		}
		if err != nil {
			t.Error(err)
		}
		rw.WriteHeader(status)
		fmt.Fprint(rw, answer)
		presses <- p
	}))
	t.Cleanup(service.Close)
	cfg := noLimits()
	cfg.LookupEnv = func(name string) (string, bool) {
		value, ok := map[string]string{"BUTTON_TOKEN": "arp_secret", "SERVICE": service.URL}[name]
		return value, ok
	}
	w := seededWorld(t, `
bases:
  - id: appOrdersSandbox01
    tokens: [patSandbox.full]
    tables:
      - name: Dead Letter Queue
        fields:
          - {name: Name, type: singleLineText}
          - {name: Replay Requested, type: checkbox}
          - {name: Replay Requested By, type: singleLineText}
          - {name: Replay Notes, type: multilineText}
        records: [{_id: recDead0000000001, Name: d, Replay Requested By: Ada}, {_id: recDead0000000002, Name: e}]
automations:
  - {base: appOrdersSandbox01, table: Dead Letter Queue, checkbox: Replay Requested, post: "${SERVICE}/v1/entries/{record}/replay", token: "${BUTTON_TOKEN}"}
`, cfg)
	return w, presses
}

func (w *world) tick(record string) {
	w.t.Helper()
	_, err := w.box.Edit(sandbox.Edit{Base: baseID, Table: "Dead Letter Queue", Record: record, Fields: map[string]any{"Replay Requested": true}, By: "Bob"})
	require.NoError(w.t, err)
}

func TestCheckedBoxCallsTheService(t *testing.T) {
	t.Parallel()
	w, presses := buttonWorld(t, http.StatusAccepted, `{"run_id":"r"}`)
	w.tick("recDead0000000001")
	first := <-presses
	require.Equal(t, "/v1/entries/recDead0000000001/replay", first.path)
	require.Equal(t, "Bearer arp_secret", first.token)
	require.Equal(t, map[string]any{"requested_by": "Ada"}, first.body)
	require.NotEmpty(t, first.key)
	w.api("PATCH", "/Dead%20Letter%20Queue/recDead0000000001", `{"fields":{"Replay Requested":true,"Name":"x"}}`).fields()
	w.api("PATCH", "/Dead%20Letter%20Queue/recDead0000000001", `{"fields":{"Replay Requested":false}}`).fields()
	w.tick("recDead0000000002")
	second := <-presses
	require.Equal(t, "/v1/entries/recDead0000000002/replay", second.path, "a box that was checked already presses nothing")
	require.Equal(t, "Bob", second.body["requested_by"])
	require.NotEqual(t, first.key, second.key)
	w.box.Close()
	records, err := w.box.Records(baseID, "Dead Letter Queue")
	require.NoError(t, err)
	require.Equal(t, true, records[1].Fields["Replay Requested"], "an accepted press leaves the box to the service")
}

func TestRefusedPressUnticksTheBoxAndLeavesANote(t *testing.T) {
	t.Parallel()
	w, presses := buttonWorld(t, http.StatusConflict, `{"title":"Entry not pending","detail":"Already replayed at noon by Ada."}`)
	w.tick("recDead0000000001")
	<-presses
	got := w.awaitNote("recDead0000000001")
	require.Equal(t, "Already replayed at noon by Ada.", got["Replay Notes"])
	require.NotContains(t, got, "Replay Requested")
	changes := w.box.Changes()
	require.Equal(t, "automation", changes[len(changes)-1].By)
	w.tick("recDead0000000001")
	<-presses // the button works again
}

func TestPressWithoutAnAnswerUnticksTheBoxToo(t *testing.T) {
	t.Parallel()
	w, presses := buttonWorld(t, http.StatusBadGateway, `<html>`)
	w.tick("recDead0000000001")
	<-presses
	require.Equal(t, "The replay service answered 502.", w.awaitNote("recDead0000000001")["Replay Notes"])
}

// awaitNote waits until the automation has left its note.
func (w *world) awaitNote(record string) map[string]any {
	w.t.Helper()
	var fields map[string]any
	w.await(func() bool {
		records, err := w.box.Records(baseID, "Dead Letter Queue")
		require.NoError(w.t, err)
		for _, r := range records {
			if r.ID == record {
				fields = r.Fields
			}
		}
		return fields["Replay Notes"] != nil
	})
	return fields
}
