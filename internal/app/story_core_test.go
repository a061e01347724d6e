package app_test

import (
	"net/http"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// coreStories play in one world, each with records of its own, whose keys end in a tag. They must hold
// whatever Airtable does where that is not known.
var coreStories = map[string]func(t *testing.T, w *apptest.World, tag string){
	"clean":                      coreClean,
	"newer from the sender":      coreNewer,
	"edited by hand":             coreHandEdit,
	"already as sent":            coreAlreadyAsSent,
	"changed by ourselves":       coreOwnChange,
	"changed by us, unanswered":  coreOwnUnanswered,
	"missing":                    coreMissing,
	"two of them":                coreMultipleMatches,
	"made in between, twice":     coreForestalled,
	"created, with what depends": coreCreate,
	"landed unanswered":          coreLanded,
	"limited":                    coreLimited,
	"refused option":             coreRefusedOption,
	"in tens":                    coreTens,
}

// place makes an order that was last changed long ago and returns its record ID.
func place(t *testing.T, w *apptest.World, key string) string {
	t.Helper()
	return w.Make(t, "Orders", apptest.Doc{"Order ID": key, "Status": "Pending", "Delivery Date": "2026-10-01", "Source Updated At": "2026-09-30T08:00:00.500Z"})
}

const second, third = "2026-10-02T08:00:00.750Z", "2026-10-03T08:00:00.250Z"

func coreClean(t *testing.T, w *apptest.World, tag string) {
	id := place(t, w, "clean"+tag)
	e := pressed(t, w, "clean"+tag, second, shipped)
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Equal(t, apptest.Doc{"Status": "Pending", "Delivery Date": "2026-10-01"}, apptest.Outcome(e)["values_before"])
	require.Equal(t, "Shipped", w.OrderCells(t, "clean"+tag)["Status"])
	require.Len(t, w.CellChanges(id, "Status"), 1)
	// The same once more, from another pipeline: the sender has delivered it.
	again := w.File(t, apptest.Order("clean"+tag, second, shipped), apptest.Doc{"first_attempt_at": "2026-10-02T10:00:00Z"})
	apptest.RequireOutcome(t, w.Replay(t, again, nil), "superseded", "newer_from_sender")
	require.Len(t, w.CellChanges(id, "Source Updated At"), 1)
}

func coreNewer(t *testing.T, w *apptest.World, tag string) {
	place(t, w, "newer"+tag)
	require.True(t, w.Send(t, apptest.Live, "order-system", apptest.Order("newer"+tag, third, apptest.Doc{"status": "Delivered"})).Written)
	apptest.RequireOutcome(t, pressed(t, w, "newer"+tag, second, shipped), "superseded", "newer_from_sender")
	require.Equal(t, "stale", w.Send(t, apptest.Live, "order-system", apptest.Order("newer"+tag, second, shipped)).Outcome)
	require.Equal(t, "Delivered", w.OrderCells(t, "newer"+tag)["Status"])
}

func coreHandEdit(t *testing.T, w *apptest.World, tag string) {
	record := place(t, w, "hand"+tag)
	w.Hand(t, "Orders", record, apptest.Failed.Add(-5*time.Second), apptest.Doc{"Delivery Date": "2026-10-20"})
	id := w.File(t, apptest.Order("hand"+tag, second, shipped), nil)
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "needs_review", "shared_field_changed")
	e := w.Replay(t, id, apptest.Doc{"mode": "unchanged_fields"})
	apptest.RequireOutcome(t, e, "partially_replayed", "shared_field_changed")
	require.Equal(t, "2026-10-20", w.OrderCells(t, "hand"+tag)["Delivery Date"])
	require.Empty(t, w.CellChanges(record, "Delivery Date"))
}

// The person typed the very value that the payload carries: no conflict, and no write of that field.
func coreAlreadyAsSent(t *testing.T, w *apptest.World, tag string) {
	record := place(t, w, "same"+tag)
	w.Hand(t, "Orders", record, apptest.Failed.Add(time.Hour), apptest.Doc{"Delivery Date": "2026-10-05"})
	apptest.RequireOutcome(t, pressed(t, w, "same"+tag, second, shipped), "replayed", "")
	require.Empty(t, w.CellChanges(record, "Delivery Date"))
	require.Equal(t, "Shipped", w.OrderCells(t, "same"+tag)["Status"])
}

// The guard moved after the failure, but by a write of ours, and nobody touched the field since (C3).
func coreOwnChange(t *testing.T, w *apptest.World, tag string) {
	record := place(t, w, "own"+tag)
	require.True(t, w.Send(t, apptest.Live, "order-system", apptest.Order("own"+tag, second, shipped)).Written)
	e := pressed(t, w, "own"+tag, third, apptest.Doc{"status": "Delivered", "delivery_date": "2026-10-09"})
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Len(t, w.CellChanges(record, "Delivery Date"), 2)

	// Once a person has touched it, it is theirs again.
	w.Hand(t, "Orders", record, w.Sandbox.Now().Add(time.Minute), apptest.Doc{"Delivery Date": "2026-10-30"})
	e = pressed(t, w, "own"+tag, "2026-10-04T08:00:00Z", apptest.Doc{"status": "Shipped", "delivery_date": "2026-10-10"})
	apptest.RequireOutcome(t, e, "needs_review", "shared_field_changed")
	require.Equal(t, "2026-10-30", w.OrderCells(t, "own"+tag)["Delivery Date"])
}

// The same, where the answer to our write was lost and it was found on the record.
func coreOwnUnanswered(t *testing.T, w *apptest.World, tag string) {
	record := place(t, w, "lost"+tag)
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Contains: "2026-10-05", Status: 503, AfterApply: true})
	apptest.RequireOutcome(t, pressed(t, w, "lost"+tag, second, shipped), "replayed", "")
	e := pressed(t, w, "lost"+tag, third, apptest.Doc{"status": "Delivered", "delivery_date": "2026-10-09"})
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Len(t, w.CellChanges(record, "Delivery Date"), 2)
}

func coreMissing(t *testing.T, w *apptest.World, tag string) {
	apptest.RequireOutcome(t, pressed(t, w, "missing"+tag, second, shipped), "replay_failed", "no_match")
	require.Nil(t, w.OrderCells(t, "missing"+tag))
}

func coreMultipleMatches(t *testing.T, w *apptest.World, tag string) {
	first, other := place(t, w, "double"+tag), place(t, w, "double"+tag)
	id := w.File(t, apptest.Order("double"+tag, second, shipped), apptest.Doc{"operation": "upsert"})
	e := w.Replay(t, id, nil)
	apptest.RequireOutcome(t, e, "replay_failed", "multiple_matches")
	require.Contains(t, apptest.Outcome(e)["notes"], first)
	require.Contains(t, apptest.Outcome(e)["notes"], other)
	require.Empty(t, w.CellChanges(first, "Status"))
	require.Empty(t, w.CellChanges(other, "Status"))
}

// Two rows with the key come up between read and write: the upsert would have to guess, and is refused.
func coreForestalled(t *testing.T, w *apptest.World, tag string) {
	o := w.Sandbox.Options()
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Contains: "forestalled" + tag, Status: 422,
		Body: []byte(`{"error":{"type":"` + o.MultiMatchError + `","message":"` + o.MultiMatchMessage + `"}}`)})
	id := w.File(t, apptest.Order("forestalled"+tag, second, shipped), apptest.Doc{"operation": "upsert"})
	e := w.Replay(t, id, nil)
	apptest.RequireOutcome(t, e, "replay_failed", "write_failed")
	require.Contains(t, apptest.Outcome(e)["notes"], o.MultiMatchError)
	require.Nil(t, w.OrderCells(t, "forestalled"+tag))
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
}

func coreCreate(t *testing.T, w *apptest.World, tag string) {
	w.Make(t, "Accounts", apptest.Doc{"Account ID": "A" + tag, "Name": "Acme", "Source Updated At": "2026-09-30T08:00:00Z"})
	line := w.File(t, apptest.Line("created"+tag, second, apptest.Doc{"quantity": 0, "order": "created" + tag}), lineUpsert)
	order := w.File(t, apptest.Order("created"+tag, second, apptest.Doc{"status": "Shipped", "account": "A" + tag}), apptest.Doc{"operation": "upsert"})
	run := w.Finished(t, w.RunIDs(t, nil, line, order))
	requireCounts(t, run["reconciliation"].(apptest.Doc), map[string]int{"created": 2})
	// The link changed the account's side as well; a later write of the account goes through all the same.
	got := w.Send(t, apptest.Pressed, "account-system", apptest.Account("A"+tag, second, "Acme & Sons"))
	require.True(t, got.Written, got.Note)
	again := w.File(t, apptest.Order("created"+tag, second, apptest.Doc{"status": "Shipped", "account": "A" + tag}),
		apptest.Doc{"operation": "upsert", "first_attempt_at": "2026-10-02T10:00:00Z"})
	apptest.RequireOutcome(t, w.Replay(t, again, nil), "superseded", "newer_from_sender")
	require.NotNil(t, w.OrderCells(t, "created"+tag), "one row")
}

func coreLanded(t *testing.T, w *apptest.World, tag string) {
	for key, op := range map[string]string{"landed" + tag: "update", "landed new" + tag: "upsert"} {
		if op == "update" {
			place(t, w, key)
		}
		w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Contains: "Shipped", Status: 503, AfterApply: true})
		e := w.Replay(t, w.File(t, apptest.Order(key, second, shipped), apptest.Doc{"operation": op}), nil)
		apptest.RequireOutcome(t, e, "replayed", "")
		require.Empty(t, e["flags"])
		before := map[string]apptest.Doc{"update": {"Status": "Pending", "Delivery Date": "2026-10-01"}, "upsert": {"Status": nil, "Delivery Date": nil}}
		require.Equal(t, before[op], apptest.Outcome(e)["values_before"])
		require.Len(t, w.CellChanges(apptest.Outcome(e)["record_id"].(string), "Status"), 1)
		require.Equal(t, "Shipped", w.OrderCells(t, key)["Status"])
	}
}

func coreLimited(t *testing.T, w *apptest.World, tag string) {
	place(t, w, "limited"+tag)
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Contains: "Delivered", Status: 429})
	e := pressed(t, w, "limited"+tag, second, apptest.Doc{"status": "Delivered"})
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Equal(t, "2", number(apptest.Outcome(e)["attempts"]))
}

// An option that our rules know and the table has lost is the table's to refuse, in words that differ.
func coreRefusedOption(t *testing.T, w *apptest.World, tag string) {
	got := w.Send(t, apptest.Live, "order-system", apptest.Order("option"+tag, second, apptest.Doc{"status": "Lost"}))
	require.Equal(t, "invalid_option", got.Reason)
	require.Equal(t, "running", state(t, w)["state"])
	require.Nil(t, w.OrderCells(t, "option"+tag))
}

func coreTens(t *testing.T, w *apptest.World, tag string) { requireRunInTens(t, w, 11, tag) }
