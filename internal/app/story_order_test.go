package app_test

import (
	"net/http"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// What comes before what, and what goes together (B2 to B4, P4, R8).

// A live line that comes before its order waits for it.
func TestStoryDependentComesFirst(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	line := w.Accept(t, "line-system", apptest.Line("L-1", second, apptest.Doc{"quantity": 2, "order": "O-9"}))
	order := w.Accept(t, "order-system", apptest.Order("O-9", second, shipped))
	w.Start(t, 0)
	require.Equal(t, "written", w.Decided(t, order)["status"])
	require.Equal(t, "written", w.Decided(t, line)["status"])
	require.NotEmpty(t, w.Cells(t, "Order Lines", "Line ID", "L-1")["Order"])
	orphan := w.Send(t, apptest.Live, "line-system", apptest.Line("L-2", second, apptest.Doc{"quantity": 2, "order": "O-404"}))
	require.Equal(t, "dependency_missing", orphan.Reason)
}

// An entry waits for the order that is being replayed, and fails if that fails.
func TestStoryDependencyThatFails(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	order := w.File(t, apptest.Order("O-9", second, apptest.Doc{"status": "Lost"}), apptest.Doc{"operation": "upsert"})
	line := w.File(t, apptest.Line("L-1", second, apptest.Doc{"quantity": 2, "order": "O-9"}), lineUpsert)
	run := w.Finished(t, w.RunIDs(t, nil, line, order))
	requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"replay_failed": 2})
	apptest.RequireOutcome(t, w.Entry(t, order), "replay_failed", "invalid_option")
	apptest.RequireOutcome(t, w.Entry(t, line), "replay_failed", "dependency_missing")
	require.Zero(t, w.Writes())
}

// Writes of one record that arrive together end with the newest, whatever their order.
func TestStoryLiveWritesOfOneRecord(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	status, answer := w.Call(t, 0, "POST", "/v1/writes", apptest.Doc{"writes": []apptest.Doc{
		{"source_system": "order-system", "payload": apptest.Order("O-1", third, apptest.Doc{"status": "Delivered"})},
		{"source_system": "order-system", "payload": apptest.Order("O-1", second, apptest.Doc{"status": "Shipped", "quantity": 5})},
		{"source_system": "order-system", "payload": apptest.Order("O-1", "2026-09-01T08:00:00Z", apptest.Doc{"status": "Shipped", "quantity": 1})},
	}})
	require.Equal(t, http.StatusAccepted, status, "%v", answer)
	w.Start(t, 0)
	var outcomes []any
	for _, write := range answer["writes"].([]any) {
		outcomes = append(outcomes, w.Decided(t, write.(apptest.Doc)["id"].(string))["status"])
	}
	require.Equal(t, []any{"written", "written", "stale"}, outcomes)
	cells := w.OrderCells(t, "O-1")
	require.Equal(t, "Delivered", cells["Status"])
	require.Equal(t, "5", number(cells["Quantity"]))
	require.Equal(t, 1, w.Writes())
}

// Two people press two entries of one record: both are claimed, and join one write.
func TestStoryPressesOfOneRecordJoin(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	older := w.File(t, apptest.Order("O-1", second, apptest.Doc{"status": "Shipped", "quantity": 5}), nil)
	newer := w.File(t, apptest.Order("O-1", third, apptest.Doc{"status": "Delivered"}), nil)
	first, other := w.Press(t, older, nil), w.Press(t, newer, apptest.Doc{"requested_by": "bob"})
	w.Start(t, 0)
	apptest.RequireOutcome(t, w.Settled(t, older), "replayed", "")
	apptest.RequireOutcome(t, w.Settled(t, newer), "replayed", "")
	require.Equal(t, 1, w.Writes())
	require.NotEqual(t, first, other)
	requireCounts(t, w.Finished(t, first)["reconciliation"].(apptest.Doc), map[string]int{"merged": 1})
	requireCounts(t, w.Finished(t, other)["reconciliation"].(apptest.Doc), map[string]int{"updated": 1})
}

// A press may take the others along (P4).
func TestStoryPressWithSiblings(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	older := w.File(t, apptest.Order("O-1", second, apptest.Doc{"status": "Shipped", "quantity": 5}), nil)
	newer := w.File(t, apptest.Order("O-1", third, apptest.Doc{"status": "Delivered"}), nil)
	run := w.Press(t, older, apptest.Doc{"with_siblings": true})
	requireCounts(t, w.Finished(t, run)["counts"].(apptest.Doc), map[string]int{"claimed": 2, "replayed": 2})
	require.Equal(t, "Delivered", w.OrderCells(t, "O-1")["Status"])
	require.Equal(t, "resolved", w.Entry(t, newer)["status"])
}

// An older entry of a batch that the record has passed by is closed first; the rest goes on (B3).
func TestStoryBatchWithOneOutdated(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	outdated := w.File(t, apptest.Order("O-1", "2026-09-01T08:00:00Z", apptest.Doc{"status": "Shipped", "quantity": 1}), nil)
	current := w.File(t, apptest.Order("O-1", second, apptest.Doc{"status": "Delivered"}), nil)
	run := w.Finished(t, w.RunIDs(t, nil, outdated, current))
	requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"replayed": 1, "superseded": 1})
	apptest.RequireOutcome(t, w.Entry(t, outdated), "superseded", "newer_from_sender")
	require.NotContains(t, w.OrderCells(t, "O-1"), "Quantity")
}

// The shared-field check of a batch counts from its oldest failure (B3).
func TestStoryBatchCountsFromItsOldestFailure(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	older := w.File(t, apptest.Order("O-2", second, apptest.Doc{"status": "Shipped"}), nil)
	later := apptest.Failed.Add(48 * time.Hour).Format(time.RFC3339)
	newer := w.File(t, apptest.Order("O-2", third, apptest.Doc{"status": "Shipped", "delivery_date": "2026-10-05"}), apptest.Doc{"first_attempt_at": later})
	editDate(t, w, "2026-10-20") // after the first failure, before the second
	run := w.Finished(t, w.RunIDs(t, nil, older, newer))
	requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"needs_review": 2})
	require.Zero(t, w.Writes())
}

// A source that is not configured loses nothing.
func TestStoryUnknownSource(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	payload := `{"anything": 1}`
	e := w.Replay(t, w.File(t, payload, apptest.Doc{"source_system": "ghost"}), nil)
	apptest.RequireOutcome(t, e, "replay_failed", "unknown_source")
	require.Equal(t, "pending_review", e["status"])
	got := w.Send(t, apptest.Live, "ghost", payload)
	require.Equal(t, "unknown_source", got.Reason)
	require.Equal(t, payload, got.Entry["raw_payload"])
	require.Empty(t, w.Sandbox.Requests())
}
