package app_test

import (
	"net/http"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// A hopeless entry stops cycling: past the cap only an admin replays it, and runs leave it out and say
// so (O3).
func TestStoryAttemptCap(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{Config: apptest.ConfigWith(t, apptest.Rules{Replay: "{attempt_cap: 2, recovery_tick: 100ms}"})})
	operator := w.NewToken(t, "replay", "read")
	press := func(id string) (int, apptest.Doc) {
		return w.Call(t, 0, "POST", "/v1/entries/"+id+"/replay", apptest.Doc{"requested_by": "ann"}, "Authorization", operator)
	}
	hopeless := w.File(t, apptest.Order("O-404", second, shipped), nil)
	for range 2 {
		status, answer := press(hopeless)
		require.Equal(t, http.StatusAccepted, status, "%v", answer)
		apptest.RequireOutcome(t, w.Settled(t, hopeless), "replay_failed", "no_match")
	}
	status, answer := press(hopeless)
	require.Equal(t, http.StatusConflict, status, "%v", answer)
	require.Equal(t, "/problems/attempt-cap", answer["type"])
	require.Equal(t, "pending_review", answer["entry_status"])

	// What was not the entry's own fault does not count.
	blameless := w.File(t, apptest.Order("O-1", second, shipped), nil)
	sibling := w.File(t, apptest.Order("O-1", third, shipped), nil)
	for range 3 {
		status, answer := press(blameless)
		require.Equal(t, http.StatusAccepted, status, "%v", answer)
		apptest.RequireOutcome(t, w.Settled(t, blameless), "replay_failed", "open_siblings")
	}

	status, run := w.Call(t, 0, "POST", "/v1/runs", apptest.Doc{"selector": apptest.Doc{"ids": []string{hopeless, blameless, sibling}}}, "Authorization", operator)
	require.Equal(t, http.StatusAccepted, status, "%v", run)
	done := w.Finished(t, run["id"].(string))
	requireCounts(t, done, map[string]int{"left_out": 1})
	requireCounts(t, done["counts"].(apptest.Doc), map[string]int{"claimed": 2, "replayed": 2})
	require.Equal(t, "pending_review", w.Entry(t, hopeless)["status"])
	status, answer = w.Call(t, 0, "POST", "/v1/runs", apptest.Doc{"selector": apptest.Doc{"ids": []string{hopeless}}}, "Authorization", operator)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, answer["errors"].([]any)[0].(apptest.Doc)["detail"], "attempt cap")

	place(t, w, "O-404")
	apptest.RequireOutcome(t, w.Replay(t, hopeless, nil), "replayed", "") // as an admin
}

// Filing the same once more gives the same entry, whatever became of it meanwhile (E4).
func TestStoryFiledTwice(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	payload := apptest.Order("O-3", second, shipped)
	id := w.File(t, payload, nil)
	filing := apptest.Doc{"source_system": "order-system", "raw_payload": payload, "reason_code": "other", "first_attempt_at": apptest.Failed.Format(time.RFC3339)}
	status, again := w.Call(t, 0, "POST", "/v1/entries", filing)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, id, again["id"])
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
	status, again = w.Call(t, 0, "POST", "/v1/entries", filing)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "resolved", again["status"])
	require.Len(t, w.Read(t, "/v1/entries")["entries"], 1)
}

// Every state refuses a press in its own words, and keeps what it was (P2).
func TestStoryPressOnEntriesThatAreNotPending(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	ignored := w.File(t, apptest.Order("O-1", second, shipped), nil)
	status, _ := w.Call(t, 0, "POST", "/v1/entries/"+ignored+"/ignore", apptest.Doc{"reason": "obsolete"})
	require.Equal(t, http.StatusOK, status)
	replaying := w.File(t, apptest.Order("O-2", second, shipped), nil)
	run := w.Press(t, replaying, nil)
	for id, want := range map[string]apptest.Doc{
		ignored:   {"entry_status": "ignored", "run_id": nil},
		replaying: {"entry_status": "replaying", "run_id": run},
	} {
		status, answer := w.Call(t, 0, "POST", "/v1/entries/"+id+"/replay", apptest.Doc{"requested_by": "bob"})
		require.Equal(t, http.StatusConflict, status)
		require.Equal(t, "/problems/entry-not-pending", answer["type"])
		require.Equal(t, want["entry_status"], answer["entry_status"])
		require.Equal(t, want["run_id"], answer["run_id"], "%v", answer)
		require.NotEmpty(t, answer["detail"])
		require.Equal(t, want["entry_status"], w.Entry(t, id)["status"])
	}
	status, answer := w.Call(t, 0, "POST", "/v1/entries/recNobodyKnows0001/replay", nil)
	require.Equal(t, http.StatusNotFound, status, "%v", answer)
	require.Len(t, w.Read(t, "/v1/runs")["runs"], 1)
}

// What an admin reopened is replayed like any other; the partial replay's own version does not block it
// (E2).
func TestStoryReopenedAfterAPartialReplay(t *testing.T) {
	t.Parallel()
	w, id := inReview(t)
	apptest.RequireOutcome(t, w.Replay(t, id, apptest.Doc{"mode": "unchanged_fields"}), "partially_replayed", "shared_field_changed")
	status, _ := w.Call(t, 0, "POST", "/v1/entries/"+id+"/reopen", apptest.Doc{"reason": "the date is the sender's after all"})
	require.Equal(t, http.StatusOK, status)
	e := w.Replay(t, id, apptest.Doc{"mode": "chosen_fields", "fields": []string{"Delivery Date"}, "expect": apptest.Doc{"Delivery Date": "2026-10-20"}})
	require.Equal(t, "2026-10-05", w.OrderCells(t, "O-2")["Delivery Date"], "%v", e)
	require.Equal(t, "resolved", e["status"])
	first, last := settledLines(t, w, id)
	require.Equal(t, "partially_replayed", first["outcome"])
	require.Equal(t, apptest.Doc{"Delivery Date": "2026-10-20"}, last["detail"].(apptest.Doc)["values_before"])
}

// settledLines are the first and the last outcome in an entry's history, reviews left out.
func settledLines(t *testing.T, w *apptest.World, id string) (first, last apptest.Doc) {
	t.Helper()
	for _, line := range w.History(t, id) {
		if line["event"] != "settled" || line["outcome"] == "needs_review" {
			continue
		}
		if first == nil {
			first = line
		}
		last = line
	}
	require.NotNil(t, first)
	return first, last
}
