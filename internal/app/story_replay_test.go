package app_test

import (
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

func TestStoryClean(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	id := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped", "delivery_date": "2026-10-05"}), nil)
	e := w.Replay(t, id, nil)
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Equal(t, "resolved", e["status"])
	require.Equal(t, apptest.Doc{"Status": "Pending", "Delivery Date": "2026-10-01"}, apptest.Outcome(e)["values_before"])
	cells := w.OrderCells(t, "O-3")
	require.Equal(t, "Shipped", cells["Status"])
	require.Equal(t, "2026-10-05", cells["Delivery Date"])
	require.Equal(t, "2026-10-02T08:00:00.000Z", cells["Source Updated At"])
	require.Equal(t, 1, w.Writes())
}
