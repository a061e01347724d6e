package app_test

import (
	"context"
	"slices"
	"testing"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/pass"

	"github.com/stretchr/testify/require"
)

// A record that makes every pass panic ends as crashed by itself; the others of its chunk are replayed
// (R7).
func TestPoisonIsIsolated(t *testing.T) {
	t.Parallel()
	probe := func(_ context.Context, step pass.Step, keys []string) {
		if step == pass.StepRead && slices.Contains(keys, "O-2") {
			panic("poison")
		}
	}
	w := apptest.New(t, apptest.Options{Probe: probe})
	ids := map[string]string{}
	var list []string
	for _, key := range []string{"O-1", "O-2", "O-3"} {
		ids[key] = w.File(t, apptest.Order(key, "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil)
		list = append(list, ids[key])
	}
	status, run := w.Call(t, 0, "POST", "/v1/runs", apptest.Doc{"selector": apptest.Doc{"ids": list}, "requested_by": "ann"})
	require.Equal(t, 202, status, "%v", run)
	apptest.RequireOutcome(t, w.Settled(t, ids["O-2"]), "replay_failed", "crashed")
	apptest.RequireOutcome(t, w.Settled(t, ids["O-1"]), "replayed", "")
	apptest.RequireOutcome(t, w.Settled(t, ids["O-3"]), "replayed", "")
	require.Equal(t, "Pending", w.OrderCells(t, "O-2")["Status"])
}
