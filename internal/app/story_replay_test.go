package app_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// eachSetting tells a story under both settings of on_shared_change.
func eachSetting(t *testing.T, story func(t *testing.T, setting string, w *apptest.World)) {
	t.Helper()
	for setting, config := range map[string]string{"review": apptest.DefaultConfig, "partial": apptest.Partial(t)} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			story(t, setting, apptest.New(t, apptest.Options{Config: config}))
		})
	}
}

// shipped is what the entries of these stories carry: both a field of the sender's own and a shared one.
var shipped = apptest.Doc{"status": "Shipped", "delivery_date": "2026-10-05"}

func TestStoryClean(t *testing.T) {
	t.Parallel()
	eachSetting(t, func(t *testing.T, _ string, w *apptest.World) {
		id := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", shipped), nil)
		e := w.Replay(t, id, nil)
		apptest.RequireOutcome(t, e, "replayed", "")
		require.Equal(t, "resolved", e["status"])
		require.Equal(t, apptest.Doc{"Status": "Pending", "Delivery Date": "2026-10-01"}, apptest.Outcome(e)["values_before"])
		require.Equal(t, apptest.Doc{"Status": "Shipped", "Delivery Date": "2026-10-05"}, apptest.Outcome(e)["fields_replayed"])
		require.Empty(t, apptest.Outcome(e)["fields_skipped"])
		require.Equal(t, "ann", apptest.Outcome(e)["replayed_by"])
		require.NotEmpty(t, apptest.Outcome(e)["replayed_at"])
		cells := w.OrderCells(t, "O-3")
		require.Equal(t, "Shipped", cells["Status"])
		require.Equal(t, "2026-10-05", cells["Delivery Date"])
		require.Equal(t, "2026-10-02T08:00:00.000Z", cells["Source Updated At"])
		require.Equal(t, 1, w.Writes())
	})
}

func TestStoryNewerChangeFromTheSender(t *testing.T) {
	t.Parallel()
	eachSetting(t, func(t *testing.T, _ string, w *apptest.World) {
		old := w.File(t, apptest.Order("O-1", "2026-10-02T08:00:00Z", shipped), nil)
		newer := apptest.Order("O-1", "2026-10-04T08:00:00Z", apptest.Doc{"status": "Delivered", "delivery_date": "2026-10-07"})
		require.True(t, w.Send(t, apptest.Live, "order-system", newer).Written)
		before := w.OrderCells(t, "O-1")

		e := w.Replay(t, old, nil)
		apptest.RequireOutcome(t, e, "superseded", "newer_from_sender")
		require.Equal(t, "resolved", e["status"])
		require.Empty(t, apptest.Outcome(e)["values_before"])
		notes := apptest.Outcome(e)["notes"]
		require.Contains(t, notes, "2026-10-04T08:00:00Z")
		require.Contains(t, notes, "2026-10-02T08:00:00Z")
		require.Equal(t, before, w.OrderCells(t, "O-1"))
		require.Equal(t, 1, w.Writes(), "only the newer change was written")
	})
}

func TestStorySharedFieldEditedByHand(t *testing.T) {
	t.Parallel()
	edited := apptest.Failed.Add(26 * time.Hour)
	eachSetting(t, func(t *testing.T, setting string, w *apptest.World) {
		id := w.File(t, apptest.Order("O-2", "2026-10-02T08:00:00Z", shipped), nil)
		w.Hand(t, "Orders", "recOrd00000000002", edited, apptest.Doc{"Delivery Date": "2026-10-20"})
		e := w.Replay(t, id, nil)
		if setting == "review" {
			apptest.RequireOutcome(t, e, "needs_review", "shared_field_changed")
			require.Equal(t, "pending_review", e["status"])
			requireDateSkipped(t, e)
			require.Zero(t, w.Writes())
			require.Equal(t, "Pending", w.OrderCells(t, "O-2")["Status"])
			// The reviewer says: write the rest.
			e = w.Replay(t, id, apptest.Doc{"mode": "unchanged_fields"})
		}
		apptest.RequireOutcome(t, e, "partially_replayed", "shared_field_changed")
		require.Equal(t, "resolved", e["status"])
		requireDateSkipped(t, e)
		require.Equal(t, apptest.Doc{"Status": "Pending"}, apptest.Outcome(e)["values_before"])
		require.Equal(t, apptest.Doc{"Status": "Shipped"}, apptest.Outcome(e)["fields_replayed"])
		cells := w.OrderCells(t, "O-2")
		require.Equal(t, "Shipped", cells["Status"])
		require.Equal(t, "2026-10-20", cells["Delivery Date"])
		require.Empty(t, w.CellChanges("recOrd00000000002", "Delivery Date"), "nobody but the person touched the date")
	})
}

func requireDateSkipped(t *testing.T, e apptest.Doc) {
	t.Helper()
	require.Equal(t, []any{apptest.Doc{
		"field": "Delivery Date", "reason": "shared_field_changed", "changed_at": "2026-10-03T11:00:00Z",
		"current": "2026-10-20", "incoming": "2026-10-05",
	}}, apptest.Outcome(e)["fields_skipped"])
}

// Every field of the payload was changed by hand, to another value: nothing of it is left to write.
func TestStoryEveryFieldEditedByHand(t *testing.T) {
	t.Parallel()
	config := apptest.Change(t, apptest.DefaultConfig, "Status: {rules: \"required,", "Status: {rules: \"omitempty,")
	w := apptest.New(t, apptest.Options{Config: config})
	id := w.File(t, apptest.Order("O-2", "2026-10-02T08:00:00Z", apptest.Doc{"delivery_date": "2026-10-05"}), nil)
	w.Hand(t, "Orders", "recOrd00000000002", apptest.Failed.Add(26*time.Hour), apptest.Doc{"Delivery Date": "2026-10-20"})
	e := w.Replay(t, id, nil)
	apptest.RequireOutcome(t, e, "superseded", "all_fields_changed")
	require.Equal(t, "resolved", e["status"])
	requireDateSkipped(t, e)
	require.Zero(t, w.Writes())
}

// Case B84: the page in another tab is old, and Replay is pressed again.
func TestB84SecondPressOnAClosedEntry(t *testing.T) {
	t.Parallel()
	eachSetting(t, func(t *testing.T, _ string, w *apptest.World) {
		id := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", shipped), nil)
		first := w.Press(t, id, nil)
		closed := w.Settled(t, id)
		w.Sandbox.ClearRequests()

		status, answer := w.Call(t, 0, "POST", "/v1/entries/"+id+"/replay", apptest.Doc{"requested_by": "bob"})
		require.Equal(t, http.StatusConflict, status)
		require.Equal(t, "/problems/entry-not-pending", answer["type"])
		require.Equal(t, "resolved", answer["entry_status"])
		require.Equal(t, first, answer["run_id"])
		require.Contains(t, answer["detail"], "ann", "who settled it")
		require.Contains(t, answer["detail"], apptest.Outcome(closed)["replayed_at"].(string)[:10], "when")
		again := w.Entry(t, id)
		require.Equal(t, closed["replay"], again["replay"])
		require.Empty(t, w.Sandbox.Requests(), "no call to Airtable")
	})
}

func TestStoryMissingRecord(t *testing.T) {
	t.Parallel()
	eachSetting(t, func(t *testing.T, _ string, w *apptest.World) {
		id := w.File(t, apptest.Order("O-404", "2026-10-02T08:00:00Z", shipped), nil)
		e := w.Replay(t, id, nil)
		apptest.RequireOutcome(t, e, "replay_failed", "no_match")
		require.Equal(t, "pending_review", e["status"])
		require.Zero(t, w.Writes())
		require.Nil(t, w.OrderCells(t, "O-404"), "an update never creates")
	})
}

func TestStoryTwoOpenEntriesThenTheBatch(t *testing.T) {
	t.Parallel()
	eachSetting(t, func(t *testing.T, _ string, w *apptest.World) {
		older := w.File(t, apptest.Order("O-1", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped", "quantity": 5}), nil)
		newer := w.File(t, apptest.Order("O-1", "2026-10-03T08:00:00Z", apptest.Doc{"status": "Delivered", "delivery_date": "2026-10-05"}), nil)
		e := w.Replay(t, newer, nil)
		apptest.RequireOutcome(t, e, "replay_failed", "open_siblings")
		require.Equal(t, "pending_review", e["status"])
		require.Contains(t, apptest.Outcome(e)["notes"], older)
		require.Zero(t, w.Writes())

		run := w.Finished(t, w.RunIDs(t, nil, older, newer))
		require.Equal(t, "completed", run["status"])
		requireCounts(t, run["reconciliation"].(apptest.Doc), map[string]int{"updated": 1, "merged": 1, "created": 0, "unchanged": 0})
		require.Equal(t, 1, w.Writes(), "one write for the record")
		o, n := w.Entry(t, older), w.Entry(t, newer)
		apptest.RequireOutcome(t, o, "replayed", "")
		apptest.RequireOutcome(t, n, "replayed", "")
		require.Equal(t, apptest.Doc{"Quantity": nil}, apptest.Outcome(o)["values_before"])
		require.Equal(t, "newer_entry_in_batch", skippedBy(o)["Status"])
		require.Equal(t, apptest.Doc{"Status": "Pending", "Delivery Date": "2026-10-01"}, apptest.Outcome(n)["values_before"])
		cells := w.OrderCells(t, "O-1")
		require.Equal(t, "Delivered", cells["Status"])
		require.EqualValues(t, "5", number(cells["Quantity"]))
		require.Equal(t, "2026-10-03T08:00:00.000Z", cells["Source Updated At"])
	})
}

func TestStoryCreateAndADependentWrite(t *testing.T) {
	t.Parallel()
	eachSetting(t, func(t *testing.T, _ string, w *apptest.World) {
		line := w.File(t, apptest.Line("L-1", "2026-10-02T08:00:00Z", apptest.Doc{"quantity": 2, "order": "O-9"}), lineUpsert)
		order := w.File(t, apptest.Order("O-9", "2026-10-02T08:00:00Z", shipped), apptest.Doc{"operation": "upsert"})
		lost := w.File(t, apptest.Line("L-2", "2026-10-02T08:00:00Z", apptest.Doc{"quantity": 2, "order": "O-404"}), lineUpsert)

		run := w.Finished(t, w.RunIDs(t, nil, line, order, lost))
		requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"claimed": 3, "replayed": 2, "replay_failed": 1})
		requireCounts(t, run["reconciliation"].(apptest.Doc), map[string]int{"created": 2})
		apptest.RequireOutcome(t, w.Entry(t, order), "replayed", "")
		apptest.RequireOutcome(t, w.Entry(t, line), "replayed", "")
		apptest.RequireOutcome(t, w.Entry(t, lost), "replay_failed", "dependency_missing")
		require.Contains(t, apptest.Outcome(w.Entry(t, lost))["notes"], "O-404")
		writes := w.WriteRequests()
		require.Len(t, writes, 2)
		require.Equal(t, "Orders", writes[0].Table)
		require.Equal(t, "Order Lines", writes[1].Table)
		made := apptest.Outcome(w.Entry(t, order))["record_id"]
		require.Equal(t, fmt.Sprintf("[%s]", made), fmt.Sprint(w.Cells(t, "Order Lines", "Line ID", "L-1")["Order"]))
		require.Nil(t, w.Cells(t, "Order Lines", "Line ID", "L-2"))
	})
}

var lineUpsert = apptest.Doc{"source_system": "line-system", "operation": "upsert"}
