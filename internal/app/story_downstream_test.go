package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/notify"

	"github.com/stretchr/testify/require"
)

// downstream keeps the messages that it has accepted; the first of each it refuses.
type downstream struct {
	mu       sync.Mutex
	refused  map[string]bool
	messages []apptest.Doc
	ids      []string
	forged   int
}

const downstreamSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// ServeHTTP implements http.Handler.
func (d *downstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	d.mu.Lock()
	defer d.mu.Unlock()
	id := r.Header.Get("Webhook-Id")
	if err != nil || r.Header.Get("Webhook-Signature") != notify.Sign(downstreamSecret, id, r.Header.Get("Webhook-Timestamp"), body) {
		d.forged++
		return
	}
	if !d.refused[id] {
		d.refused[id] = true
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	var m apptest.Doc
	if json.Unmarshal(body, &m) == nil {
		d.messages, d.ids = append(d.messages, m), append(d.ids, id)
	}
}

func (d *downstream) told() []apptest.Doc {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]apptest.Doc{}, d.messages...)
}

// After a run downstream is told, signed and until it has understood, which records of which tables have
// changed and which business dates they had and have (B6).
func TestStoryDownstreamIsTold(t *testing.T) {
	t.Parallel()
	d := &downstream{refused: map[string]bool{}}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	config := apptest.Change(t, apptest.DefaultConfig, "    depends_on: [Accounts]\n", "    depends_on: [Accounts]\n    business_date: Delivery Date\n")
	config += `
notify:
  warehouse: {url: "` + server.URL + `", secret: "${DOWNSTREAM_SECRET}", on: [run.completed, run.unbalanced]}
`
	w := apptest.New(t, apptest.Options{Config: config, Env: map[string]string{"DOWNSTREAM_SECRET": downstreamSecret}})
	ids := mixed(t, w)
	// One more whose business date is not in the payload: the day that the record has is meant.
	far := w.Make(t, "Orders", apptest.Doc{"Order ID": "far", "Status": "Pending", "Delivery Date": "2026-11-30", "Source Updated At": "2026-09-30T08:00:00Z"})
	ids = append(ids, w.File(t, apptest.Order("far", second, apptest.Doc{"status": "Shipped"}), nil))
	run := w.RunIDs(t, nil, ids...)
	w.Finished(t, run)
	apptest.Eventually(t, func() bool { return len(d.told()) > 0 }, "downstream is told")
	apptest.Eventually(t, func() bool {
		notices := w.Read(t, "/v1/runs/"+run)["notices"].([]any)
		return len(notices) == 1 && notices[0].(apptest.Doc)["delivered"] == true && number(notices[0].(apptest.Doc)["attempts"]) == "2"
	}, "and it is seen that it took two attempts")
	require.Len(t, d.told(), 1)
	require.Zero(t, d.forged)
	m := d.told()[0]
	require.Equal(t, "run.completed", m["type"])
	data := m["data"].(apptest.Doc)
	require.Equal(t, run, data["run"].(apptest.Doc)["id"])
	require.Equal(t, []any{float64(1), float64(1)}, []any{data["part"], data["parts"]})
	tables := map[string]apptest.Doc{}
	for _, table := range data["tables"].([]any) {
		tables[table.(apptest.Doc)["target"].(string)] = table.(apptest.Doc)
	}
	require.Len(t, tables, 2)
	require.Nil(t, tables["Accounts"]["business_dates"])
	require.Len(t, tables["Accounts"]["record_ids"], 1)
	orders := tables["Orders"]
	require.Equal(t, []any{"orders", apptest.BaseID, "Orders"}, []any{orders["base"], orders["base_id"], orders["table"]})
	require.Len(t, orders["record_ids"], 4)
	require.Contains(t, orders["record_ids"], far)
	require.Equal(t, apptest.Doc{"field": "Delivery Date", "from": "2026-10-01", "to": "2026-11-30"}, orders["business_dates"])

	// A press that changes nothing is not worth a message; one that does is.
	w.Replay(t, w.File(t, apptest.Order("newer", third, shipped), nil), nil)
	changed := w.Press(t, w.File(t, apptest.Order("clean", third, apptest.Doc{"status": "Delivered"}), nil), nil)
	apptest.Eventually(t, func() bool { return len(d.told()) > 1 }, "downstream is told of the press")
	require.Len(t, d.told(), 2)
	require.Equal(t, changed, d.told()[1]["data"].(apptest.Doc)["run"].(apptest.Doc)["id"])
}

// The owner is told of entries that were swept, and once of a record on which an older write of ours landed
// after a newer one (S1, R4b).
func TestStoryOwnerIsTold(t *testing.T) {
	t.Parallel()
	d := &downstream{refused: map[string]bool{}}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	w := apptest.New(t, apptest.Options{SimulatedClock: true, NoStart: true, Env: map[string]string{"DOWNSTREAM_SECRET": downstreamSecret}, Config: apptest.DefaultConfig + `
notify:
  ops: {url: "` + server.URL + `", secret: "${DOWNSTREAM_SECRET}", on: [entry.stuck, record.late_landing]}
`})
	id := w.File(t, apptest.Order("O-1", second, shipped), nil)
	w.Press(t, id, nil)
	w.Advance(t, 6*time.Minute)
	require.NoError(t, w.Apps[0].Replay.SweepStuck(t.Context()))
	w.Start(t, 0)
	apptest.Eventually(t, func() bool { return len(d.told()) == 1 }, "the owner is told of the swept entry")
	require.Equal(t, "entry.stuck", d.told()[0]["type"])
	require.Equal(t, []any{id}, d.told()[0]["data"].(apptest.Doc)["entry_ids"])

	apptest.RequireOutcome(t, w.Replay(t, w.File(t, apptest.Order("O-2", third, apptest.Doc{"status": "Delivered"}), nil), nil), "replayed", "")
	w.Hand(t, "Orders", "recOrd00000000002", apptest.Failed, apptest.Doc{"Status": "Shipped", "Source Updated At": "2026-10-02T08:00:00.750Z"})
	for i := range 2 {
		e := w.Replay(t, w.File(t, apptest.Order("O-2", second, apptest.Doc{"status": "Pending", "quantity": i}), nil), nil)
		apptest.RequireOutcome(t, e, "superseded", "newer_from_sender")
		require.Contains(t, e["flags"], "late_landing")
	}
	apptest.Eventually(t, func() bool { return len(d.told()) == 2 }, "the owner is told of the late landing")
	m := d.told()[1]
	require.Equal(t, "record.late_landing", m["type"])
	require.Equal(t, []any{"O-2", "recOrd00000000002"}, []any{m["data"].(apptest.Doc)["target_id"], m["data"].(apptest.Doc)["record_id"]})
	apptest.RequireOutcome(t, w.Replay(t, w.File(t, apptest.Order("O-2", "2026-10-09T08:00:00Z", apptest.Doc{"status": "Delivered"}), nil), nil), "replayed", "")
	require.Len(t, d.told(), 2, "told once")
	require.Equal(t, "Delivered", w.OrderCells(t, "O-2")["Status"])
}
