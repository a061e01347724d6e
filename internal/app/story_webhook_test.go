package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// hooked is a world whose dead letter table tells of presses by Airtable's webhook, with no script at all.
func hooked(t *testing.T, o apptest.Options) (*apptest.World, *downstream) {
	t.Helper()
	var to atomic.Pointer[url.URL]
	front := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(to.Load()) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
	t.Cleanup(front.Close)
	d := &downstream{refused: map[string]bool{}}
	ops := httptest.NewServer(d)
	t.Cleanup(ops.Close)
	o.Seed = apptest.SeedWith(deadLetterTable)
	o.Env = map[string]string{"DOWNSTREAM_SECRET": downstreamSecret}
	o.Config = "dead_letters: {base: orders, table: Dead Letter Queue, notification_url: \"" + front.URL + "/v1/airtable/notifications\"}\n" + apptest.DefaultConfig + `
notify:
  ops: {url: "` + ops.URL + `", secret: "${DOWNSTREAM_SECRET}", on: [mirror.lapsed]}
`
	w := apptest.New(t, o)
	target, err := url.Parse(w.URLs[0])
	require.NoError(t, err)
	to.Store(target)
	apptest.Eventually(t, func() bool { return hookID(t, w) != "" }, "the webhook is made")
	return w, d
}

func hookID(t *testing.T, w *apptest.World) (id string) {
	t.Helper()
	require.NoError(t, w.DB.Pool.QueryRow(t.Context(), `SELECT hook_id FROM press_hook`).Scan(&id))
	return id
}

// tick ticks Replay Requested of an entry's row, as a person does.
func tick(t *testing.T, w *apptest.World, row string) {
	t.Helper()
	_, err := w.Sandbox.Edit(sandbox.Edit{Base: apptest.BaseID, Table: "Dead Letter Queue", Record: row, By: "Paula", Fields: apptest.Doc{"Replay Requested": true}})
	require.NoError(t, err)
}

// rowOf waits for the row of an entry.
func rowOf(t *testing.T, w *apptest.World, id string) (row string) {
	t.Helper()
	apptest.Eventually(t, func() bool {
		row, _ = w.Entry(t, id)["dlq_record_id"].(string)
		return row != ""
	}, "the entry has a row")
	return row
}

func rowCells(t *testing.T, w *apptest.World, row string) apptest.Doc {
	t.Helper()
	for _, r := range records(t, w, "Dead Letter Queue") {
		if r.ID == row {
			return r.Fields
		}
	}
	return nil
}

// A box that is ticked is a press, without a script; it is unticked with the outcome and can be ticked again
// (T3). What the webhook recorded is read again without a second press (R10).
func TestStoryPressByWebhook(t *testing.T) {
	t.Parallel()
	w, _ := hooked(t, apptest.Options{})
	id := w.File(t, apptest.Order("O-1", second, shipped), nil)
	row := rowOf(t, w, id)
	tick(t, w, row)
	apptest.Eventually(t, func() bool { return apptest.Outcome(w.Entry(t, id))["outcome"] == "replayed" }, "the tick is a press")
	require.Contains(t, apptest.Outcome(w.Entry(t, id))["requested_by"], "Paula")
	apptest.Eventually(t, func() bool {
		cells := rowCells(t, w, row)
		return cells["Replay Requested"] == nil && cells["Replay Outcome"] == "Replayed"
	}, "the row shows the outcome, and its box is free")
	writes := len(w.CellChanges("recOrd00000000001", "Status"))

	_, err := w.DB.Pool.Exec(t.Context(), `UPDATE press_hook SET cursor = 1, due_at = replay_now()`)
	require.NoError(t, err)
	apptest.Eventually(t, func() bool {
		var read bool
		require.NoError(t, w.DB.Pool.QueryRow(t.Context(), `SELECT cursor > 1 FROM press_hook`).Scan(&read))
		return read
	}, "it is read again")
	require.Len(t, w.History(t, id), 3, "filed, claimed, settled")

	tick(t, w, row)
	apptest.Eventually(t, func() bool { return len(w.History(t, id)) == 4 }, "a second tick is refused, and it is told")
	apptest.Eventually(t, func() bool { return rowCells(t, w, row)["Replay Requested"] == nil }, "and unticked")
	require.Contains(t, rowCells(t, w, row)["Replay Notes"], "already settled")
	require.Len(t, w.CellChanges("recOrd00000000001", "Status"), writes)
}

// Only Airtable can ping, and a ping says nothing that is believed.
func TestStoryForgedPing(t *testing.T) {
	t.Parallel()
	w, _ := hooked(t, apptest.Options{})
	for _, mac := range []string{"", "hmac-sha256=", "hmac-sha256=" + strings.Repeat("0", 64)} {
		status, answer := w.Call(t, 0, "POST", "/v1/airtable/notifications", apptest.Doc{"webhook": apptest.Doc{"id": hookID(t, w)}}, "X-Airtable-Content-MAC", mac)
		require.Equal(t, http.StatusUnauthorized, status, "%v", answer)
	}
	var sealed []byte
	require.NoError(t, w.DB.Pool.QueryRow(t.Context(), `SELECT secret FROM press_hook`).Scan(&sealed))
	require.Greater(t, len(sealed), 32, "the secret is sealed")
	plain := apptest.New(t, apptest.Options{})
	status, _ := plain.Call(t, 0, "POST", "/v1/airtable/notifications", apptest.Doc{})
	require.Equal(t, http.StatusNotFound, status)
}

// B120: our own writes into the table start no work. After a replay nothing is sent for a minute.
func TestB120MirrorDoesNotFeedItself(t *testing.T) {
	t.Parallel()
	w, _ := hooked(t, apptest.Options{SimulatedClock: true})
	id := w.File(t, apptest.Order("O-1", second, shipped), nil)
	row := rowOf(t, w, id)
	tick(t, w, row)
	apptest.Eventually(t, func() bool { return rowCells(t, w, row)["Replay Outcome"] == "Replayed" }, "the outcome is shown")
	apptest.Eventually(t, func() bool { return w.Idle(t) && number(state(t, w)["waiting"]) == "0" }, "nothing is left to do")
	w.Sandbox.ClearRequests()
	for range 12 {
		w.Advance(t, 5*time.Second)
		apptest.Eventually(t, func() bool { return w.Idle(t) }, "nobody works")
	}
	require.Empty(t, w.Sandbox.Requests())
}

// B123: the webhook is kept alive without any traffic. One that has lapsed all the same is made anew, the
// owner is told, and presses go on.
func TestB123WebhookIsKeptAlive(t *testing.T) {
	t.Parallel()
	w, d := hooked(t, apptest.Options{SimulatedClock: true})
	first := hookID(t, w)
	read := func() bool {
		var due bool
		require.NoError(t, w.DB.Pool.QueryRow(t.Context(), `SELECT due_at > replay_now() AND problem = '' FROM press_hook`).Scan(&due))
		return due
	}
	for range 8 {
		w.Advance(t, 24*time.Hour)
		apptest.Eventually(t, read, "the webhook is read")
	}
	require.Equal(t, first, hookID(t, w), "never lapsed")
	require.Empty(t, d.told())

	w.Advance(t, 8*24*time.Hour)
	apptest.Eventually(t, func() bool { return hookID(t, w) != first }, "a lapsed one is made anew")
	apptest.Eventually(t, func() bool { return len(d.told()) == 1 }, "the owner is told")
	require.Equal(t, "mirror.lapsed", d.told()[0]["type"])
	id := w.File(t, apptest.Order("O-1", second, shipped), nil)
	tick(t, w, rowOf(t, w, id))
	apptest.Eventually(t, func() bool {
		w.Advance(t, time.Second)
		return apptest.Outcome(w.Entry(t, id))["outcome"] == "replayed"
	}, "presses go on")
}

// B124: a row that cannot be read right after its webhook is looked for again, not taken for deleted.
func TestB124RowNotReadableAtOnce(t *testing.T) {
	t.Parallel()
	w, _ := hooked(t, apptest.Options{})
	row := w.Make(t, "Dead Letter Queue", apptest.Doc{
		"Source System": "order-system", "Raw Payload": apptest.Order("O-2", second, shipped), "Reason Code": "other", "First Attempt At": apptest.Failed.Format(time.RFC3339),
	})
	w.Fault(t, sandbox.Fault{Method: http.MethodGet, Table: "Dead Letter Queue", Status: http.StatusOK, Body: []byte(`{"records":[]}`)})
	tick(t, w, row)
	apptest.Eventually(t, func() bool { return w.OrderCells(t, "O-2")["Status"] == "Shipped" }, "the press came through")
	require.Equal(t, row, w.Read(t, "/v1/entries")["entries"].([]any)[0].(apptest.Doc)["dlq_record_id"])
}

// B126: one bulk edit of two hundred rows costs pages, not a request for each row, and replays that wait
// are not stuck behind it.
func TestB126BulkEditDoesNotStarve(t *testing.T) {
	t.Parallel()
	w, _ := hooked(t, apptest.Options{})
	var rows, keys []string
	for i := range 200 {
		key := fmt.Sprint("bulk-", i)
		keys = append(keys, key)
		rows = append(rows, w.Make(t, "Dead Letter Queue", apptest.Doc{
			"Source System": "order-system", "Raw Payload": apptest.Order(key, second, apptest.Doc{"status": "Shipped"}), "Reason Code": "other",
			"First Attempt At": apptest.Failed.Format(time.RFC3339),
		}))
	}
	w.Sandbox.ClearRequests()
	waiting := fileAll(t, w, []string{"O-1", "O-2", "O-3"}, second)
	for _, row := range rows {
		tick(t, w, row)
	}
	run := w.Finished(t, w.RunIDs(t, nil, waiting...))
	requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"replayed": 3})
	apptest.Eventually(t, func() bool {
		list := w.Read(t, "/v1/entries/summary")["by_status"].(apptest.Doc)
		return number(list["pending_review"]) == "200"
	}, "all rows are taken in and pressed; they have no record")
	reads := 0
	for _, r := range w.Sandbox.Requests() {
		if r.Method == http.MethodGet && r.Table == "Dead Letter Queue" || strings.Contains(r.Path, "/webhooks/") {
			reads++
		}
	}
	require.Less(t, reads, 80, "%d rows were read", len(keys))
}
