package app_test

import (
	"fmt"
	"net/http"
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// A run takes what its selector says and nothing else (B1). No entry here has a record, so that each
// is pending again once its run is over.
func TestStoryRunSelects(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	n := 0
	file := func(source, object string, more apptest.Doc) string {
		n++
		body := apptest.Doc{"source_system": source}
		for k, v := range more {
			body[k] = v
		}
		return w.File(t, apptest.Payload(object, fmt.Sprint("none-", n), second, apptest.Doc{"status": "Shipped", "name": "none"}), body)
	}
	plain := file("order-system", "order", nil)
	other := file("order-system", "order", apptest.Doc{"reason_code": "other"})
	owned := file("order-system", "order", apptest.Doc{"assigned_owner": "zoe"})
	early := file("order-system", "order", apptest.Doc{"first_attempt_at": "2026-09-01T00:00:00Z"})
	late := file("order-system", "order", apptest.Doc{"first_attempt_at": "2026-09-02T00:00:00Z"})
	account := file("account-system", "account", nil)
	closed := file("order-system", "order", nil)
	status, _ := w.Call(t, 0, "POST", "/v1/entries/"+closed+"/ignore", apptest.Doc{"reason": "obsolete"})
	require.Equal(t, http.StatusOK, status)

	start := func(selector apptest.Doc, more apptest.Doc) apptest.Doc {
		body := apptest.Doc{"selector": selector}
		for k, v := range more {
			body[k] = v
		}
		status, run := w.Call(t, 0, "POST", "/v1/runs", body)
		require.Equal(t, http.StatusAccepted, status, "%v: %v", selector, run)
		return w.Finished(t, run["id"].(string))
	}
	runOfOther := ""
	for _, c := range []struct {
		selector apptest.Doc
		more     apptest.Doc
		want     []string
	}{
		{apptest.Doc{"ids": []string{plain, closed}}, nil, []string{plain}},
		{apptest.Doc{"reason": "other"}, nil, []string{other}},
		{apptest.Doc{"owner": "zoe"}, nil, []string{owned}},
		{apptest.Doc{"source": "account-system"}, nil, []string{account}},
		{apptest.Doc{"target": "Accounts"}, nil, []string{account}},
		{apptest.Doc{"first_attempt_from": "2026-09-01T00:00:00Z", "first_attempt_to": "2026-09-02T00:00:00Z"}, nil, []string{early}},
		{apptest.Doc{"source": "order-system"}, apptest.Doc{"limit": 2}, []string{early, late}},
		{apptest.Doc{"outcome": "replay_failed", "reason": "other"}, nil, []string{other}},
	} {
		run := start(c.selector, c.more)
		require.Equal(t, c.want, taken(t, w, run["id"].(string)), "%v", c.selector)
		requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"claimed": len(c.want), "replay_failed": len(c.want)})
		if c.selector["reason"] == "other" {
			runOfOther = run["id"].(string)
		}
	}
	again := start(apptest.Doc{"run": runOfOther}, nil)
	require.Equal(t, []string{other}, taken(t, w, again["id"].(string)), "what an earlier run had taken")
}

// taken are the entries whose last replay was a run's, the oldest first attempt first.
func taken(t *testing.T, w *apptest.World, run string) []string {
	t.Helper()
	var ids []string
	list := w.Read(t, "/v1/entries?run="+run)["entries"].([]any)
	for i := len(list) - 1; i >= 0; i-- {
		ids = append(ids, list[i].(apptest.Doc)["id"].(string))
	}
	return ids
}

// A run of nothing is refused, and leaves no trace.
func TestStoryRunOfNothing(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	for _, selector := range []apptest.Doc{{}, {"reason": "other"}, {"ids": []string{"0199c0de-0000-7000-8000-000000000001"}}} {
		status, answer := w.Call(t, 0, "POST", "/v1/runs", apptest.Doc{"selector": selector})
		require.Equal(t, http.StatusUnprocessableEntity, status)
		require.Equal(t, "/problems/empty-selection", answer["type"])
	}
	status, answer := w.Call(t, 0, "POST", "/v1/runs", apptest.Doc{"selector": apptest.Doc{"reason": "no such"}})
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Equal(t, "selector.reason", answer["errors"].([]any)[0].(apptest.Doc)["field"], "%v", answer)
	require.Empty(t, w.Read(t, "/v1/runs")["runs"])
	require.Empty(t, w.Sandbox.Requests())
}
