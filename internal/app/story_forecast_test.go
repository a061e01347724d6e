package app_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/pass"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// forecastThenRun holds what a dry run foretells to what a run then does.
func forecastThenRun(t *testing.T, w *apptest.World, ids ...string) apptest.Doc {
	t.Helper()
	f := w.Finished(t, w.RunIDs(t, apptest.Doc{"dry_run": true}, ids...))["forecast"].(apptest.Doc)
	require.Equal(t, f["selected"], f["checked"])
	real := w.Finished(t, w.RunIDs(t, nil, ids...))
	for outcome, n := range f["outcomes"].(apptest.Doc) {
		require.Equal(t, n, real["counts"].(apptest.Doc)[outcome], "%s: %v", outcome, f)
	}
	return f
}

// A dry run foretells entries of an unknown source, whatever target they name, and ends.
func TestStoryForecastOfUnknownSource(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	id := w.File(t, apptest.Order("O-1", second, shipped), apptest.Doc{"source_system": "old-name", "target_table": "Orders", "target_id": "O-1"})
	f := forecastThenRun(t, w, id)
	requireCounts(t, f["reasons"].(apptest.Doc), map[string]int{"unknown_source": 1})
}

// A link to what the run itself could not bring about does not resolve.
func TestStoryForecastOfAFailingDependency(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	f := forecastThenRun(t, w,
		w.File(t, `{"updated_at":"2026-10-02T08:00:00Z","account":{"id":"A-9"}}`, apptest.Doc{"source_system": "account-system", "operation": "upsert"}),
		w.File(t, apptest.Order("made", second, apptest.Doc{"status": "Pending", "account": "A-9"}), apptest.Doc{"operation": "upsert"}))
	requireCounts(t, f["outcomes"].(apptest.Doc), map[string]int{"replay_failed": 2})
}

// An entry that was edited after the dry run was planned is judged as what it is by then.
func TestStoryForecastFollowsEdits(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	id := w.File(t, apptest.Order("gone", second, shipped), nil)
	run := w.RunIDs(t, apptest.Doc{"dry_run": true}, id)
	status, answer := w.Call(t, 0, "PUT", "/v1/entries/"+id+"/payload", apptest.Doc{"raw_payload": apptest.Order("O-3", second, shipped), "reason": "mended"})
	require.Equal(t, http.StatusOK, status, "%v", answer)
	w.Start(t, 0)
	requireCounts(t, w.Finished(t, run)["forecast"].(apptest.Doc)["outcomes"].(apptest.Doc), map[string]int{"replayed": 1})
}

// What makes a worker panic is told as what a run tells it, and does not keep the others from being judged
// (R7).
func TestStoryForecastOfPoison(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{Probe: func(_ context.Context, s pass.Step, keys []string) {
		if s == pass.StepRead && slices.Contains(keys, "O-2") {
			panic("poison")
		}
	}})
	var ids []string
	for _, key := range []string{"O-1", "O-2", "O-3"} {
		ids = append(ids, w.File(t, apptest.Order(key, second, shipped), nil))
	}
	f := forecastThenRun(t, w, ids...)
	requireCounts(t, f["outcomes"].(apptest.Doc), map[string]int{"replayed": 2, "replay_failed": 1})
	requireCounts(t, f["reasons"].(apptest.Doc), map[string]int{"crashed": 1})
}

// A dry run over a base that never answers ends after as many attempts as a run makes.
func TestStoryForecastIsExhausted(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{SimulatedClock: true})
	w.Fault(t, sandbox.Fault{Method: http.MethodGet, Table: "Orders", Times: -1, Status: 503})
	run := w.RunIDs(t, apptest.Doc{"dry_run": true}, w.File(t, apptest.Order("O-3", second, shipped), nil))
	apptest.Eventually(t, func() bool {
		if w.Idle(t) {
			w.Advance(t, 10*time.Second)
		}
		return w.Read(t, "/v1/runs/"+run)["finished_at"] != nil
	}, "the dry run ends")
	requireCounts(t, w.Read(t, "/v1/runs/"+run)["forecast"].(apptest.Doc)["reasons"].(apptest.Doc), map[string]int{"transient_exhausted": 1})
}
