package app_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/pass"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

func attach(t *testing.T, w *apptest.World, record, url string) {
	t.Helper()
	w.Hand(t, "Things", record, apptest.Failed.Add(-time.Hour), apptest.Doc{"Invoice PDF": []any{apptest.Doc{"url": url}}})
}

// files are the IDs of a thing's attachments: their addresses change with each read.
func files(cells apptest.Doc) []any {
	var ids []any
	for _, file := range cells["Invoice PDF"].([]any) {
		ids = append(ids, file.(apptest.Doc)["id"])
	}
	return ids
}

// Every kind of field goes back to what it held, but for attachments that were replaced; that is said
// beforehand (A2).
func TestStoryRestoreOfEveryKindOfField(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	attach(t, w, "recThg00000000001", "https://files.example.test/old.pdf")
	before := thingCells(t, w, "T-1")
	id := w.File(t, thing("T-1", `{"Status":"Paid","Qty":7,"Amount":0.25,"Active":false,"Tags":[],"Notes":"new","Owner":[],"Paid On":null,"Due":"2026-12-24","Invoice PDF":[{"url":"https://files.example.test/new.pdf"}]}`),
		apptest.Doc{"source_system": "thing-system"})
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
	replayed := thingCells(t, w, "T-1")
	require.NotEqual(t, before["Status"], replayed["Status"])

	p := w.Read(t, "/v1/entries/"+id+"/restore")
	require.Equal(t, true, p["possible"])
	require.Contains(t, p["notes"].([]any)[0], "Invoice PDF was left as it is: attachments that were replaced are gone")
	run := w.Finished(t, restore(t, w, id))
	requireRestored(t, run, 9, 1)
	require.Equal(t, "1", number(run["reconciliation"].(apptest.Doc)["skipped_by_reason"].(apptest.Doc)["other"]))
	after := thingCells(t, w, "T-1")
	for _, field := range []string{"Status", "Qty", "Amount", "Active", "Tags", "Notes", "Owner", "Paid On", "Due"} {
		require.Equal(t, before[field], after[field], field)
	}
	require.Equal(t, files(replayed), files(after))
	require.Equal(t, replayed["Version"], after["Version"])
}

// Where attachments were all that was replaced, nothing is started.
func TestStoryRestoreOfAttachmentsAlone(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	attach(t, w, "recThg00000000002", "https://files.example.test/old.pdf")
	id := w.File(t, thing("T-2", `{"Invoice PDF":[{"url":"https://files.example.test/new.pdf"}]}`), apptest.Doc{"source_system": "thing-system"})
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
	p := w.Read(t, "/v1/entries/"+id+"/restore")
	require.Equal(t, false, p["possible"])
	require.Contains(t, p["notes"].([]any)[0], "Invoice PDF cannot be restored")
	status, problem := w.Call(t, 0, http.MethodPost, "/v1/entries/"+id+"/restore", nil)
	require.Equal(t, http.StatusConflict, status)
	require.Equal(t, "/problems/not-restorable", problem["type"])
}

// A target that was taken out of the configuration since is not written to.
func TestStoryRestoreOfATargetThatIsGone(t *testing.T) {
	t.Parallel()
	w, id := replayed(t, apptest.Options{})
	w.Stop(t, 0)
	before, rest, _ := strings.Cut(apptest.DefaultConfig, "  Orders:\n")
	_, sources, _ := strings.Cut(rest, "sources:\n")
	accounts, _, _ := strings.Cut(sources, "  order-system:\n")
	w.Reconfigure(t, before+"sources:\n"+accounts+"replay: {recovery_tick: 100ms}\n")
	w.AddReplica(t, apptest.Options{})
	w.URLs = w.URLs[1:] // the verbs speak with the first
	p := w.Read(t, "/v1/entries/"+id+"/restore")
	require.Equal(t, false, p["possible"])
	require.Contains(t, p["notes"].([]any)[0], "not in this base any more")
	requireRestored(t, w.Finished(t, restore(t, w, id)), 0, 2)
	require.Equal(t, "unknown_source", lastLine(t, w, id)["reason"])
	require.Equal(t, "Shipped", w.OrderCells(t, "O-2")["Status"])
}

// A stamp tells that an unanswered restore has landed, whatever a person changed in the same moment; what
// the person set stays.
func TestStoryStampTellsALandedRestore(t *testing.T) {
	t.Parallel()
	armed := make(chan struct{})
	var w *apptest.World
	edit := onceAtAnswer(func() {
		w.Hand(t, "Stock", stockRecord, w.Sandbox.Now(), apptest.Doc{"Price": 99})
	})
	w = newStock(t, stock{version: timestamps, target: "stamp: Stamp,", source: "sends: full, version: at"}, apptest.Options{
		Probe: func(ctx context.Context, step pass.Step, keys []string) {
			select {
			case <-armed:
				edit(ctx, step, keys)
			default:
			}
		},
	})
	before := stockCells(t, w, "S-1")
	id := fileItem(t, w, item(t, "S-1", apptest.Doc{"at": "2026-10-02T08:00:00Z", "price": 11, "shelf": "Z"}))
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
	close(armed)
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Status: 503, AfterApply: true})
	writes := w.Writes()
	requireRestored(t, w.Finished(t, restore(t, w, id)), 2, 0)
	require.Equal(t, writes+1, w.Writes())
	cells := stockCells(t, w, "S-1")
	require.Equal(t, "99", number(cells["Price"]))
	require.Equal(t, before["Shelf"], cells["Shelf"])
	require.Contains(t, lastLine(t, w, id)["note"], "found on the record")
}

// Where two senders feed a record, a restore sends the entries of both to review, until the sender whose
// write was taken back has something newer.
func TestStoryRestoreAmongTwoSenders(t *testing.T) {
	t.Parallel()
	w := newStock(t, stock{
		version: timestamps, source: "sends: full, version: at",
		more: "shelf-system: {target: Stock, sends: full, id: sku, version: serial, version_field: {field: Serial, kind: number, text: true}, fields: {Shelf: shelf}}",
	}, apptest.Options{})
	shelf := func(serial, shelf string) string {
		return item(t, "S-1", apptest.Doc{"serial": json.Number(serial), "shelf": shelf})
	}
	price := func(day string, price int) string {
		return item(t, "S-1", apptest.Doc{"at": "2026-10-" + day + "T08:00:00Z", "price": price})
	}
	id := fileItem(t, w, price("02", 11))
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
	requireRestored(t, w.Finished(t, restore(t, w, id)), 1, 0)

	other := w.File(t, shelf("9007199254740993", "B"), apptest.Doc{"source_system": "shelf-system"})
	apptest.RequireOutcome(t, w.Replay(t, other, nil), "needs_review", "restored")
	require.True(t, w.Send(t, apptest.Live, "shelf-system", shelf("9007199254740994", "C")).Written)
	w.Call(t, 0, http.MethodPost, "/v1/entries/"+other+"/ignore", nil)
	old := fileItem(t, w, price("01", 12))
	apptest.RequireOutcome(t, w.Replay(t, old, nil), "needs_review", "restored")
	w.Call(t, 0, http.MethodPost, "/v1/entries/"+old+"/ignore", nil)

	require.True(t, w.Send(t, apptest.Live, "stock-system", price("03", 13)).Written)
	apptest.RequireOutcome(t, w.Replay(t, fileItem(t, w, price("02", 14)), nil), "superseded", "newer_from_sender")
	apptest.RequireOutcome(t, w.Replay(t, fileItem(t, w, price("04", 15)), nil), "replayed", "")
	require.Equal(t, "15", number(stockCells(t, w, "S-1")["Price"]))
}
