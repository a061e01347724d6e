package app_test

import (
	"net/http"
	"sync"
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// A thousand presses of one entry over three replicas: one run, one write, and every other answer
// names the entry's state (P2).
func TestThousandPressesAreOneRun(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{Replicas: 3})
	id := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil)
	const presses = 1000
	statuses := make([]int, presses)
	answers := make([]apptest.Doc, presses)
	var wg sync.WaitGroup
	gate := make(chan struct{}, 100) // connections at a time; the machine has its own limits
	for i := range presses {
		wg.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			statuses[i], answers[i] = w.Call(t, i%3, "POST", "/v1/entries/"+id+"/replay", apptest.Doc{"requested_by": "ann"})
		})
	}
	wg.Wait()
	accepted := 0
	for i, status := range statuses {
		if status == http.StatusAccepted {
			accepted++
			continue
		}
		require.Equal(t, http.StatusConflict, status, "%v", answers[i])
		require.Equal(t, "/problems/entry-not-pending", answers[i]["type"])
		require.Contains(t, []any{"replaying", "resolved"}, answers[i]["entry_status"])
		require.NotEmpty(t, answers[i]["run_id"])
	}
	require.Equal(t, 1, accepted)
	apptest.RequireOutcome(t, w.Settled(t, id), "replayed", "")
	require.Equal(t, 1, w.Writes())
	_, runs := w.Call(t, 0, "GET", "/v1/runs", nil)
	require.Len(t, runs["runs"], 1)
}
