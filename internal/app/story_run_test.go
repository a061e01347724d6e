package app_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/pass"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// mixed files one entry of each fate and returns their IDs: written, superseded, for review, without a
// record, two of one record, and an account with the order that links to it.
func mixed(t *testing.T, w *apptest.World) []string {
	t.Helper()
	for _, key := range []string{"clean", "older", "edited", "twice"} {
		place(t, w, key)
	}
	old := w.Make(t, "Orders", apptest.Doc{"Order ID": "newer", "Status": "Pending", "Source Updated At": "2026-10-20T08:00:00Z"})
	require.NotEmpty(t, old)
	hand := w.Make(t, "Orders", apptest.Doc{"Order ID": "hand", "Status": "Pending", "Delivery Date": "2026-10-01", "Source Updated At": "2026-09-30T08:00:00Z"})
	w.Hand(t, "Orders", hand, apptest.Failed.AddDate(0, 0, 1), apptest.Doc{"Delivery Date": "2026-12-24"})
	file := func(payload string, more apptest.Doc) string { return w.File(t, payload, more) }
	account := apptest.Doc{"source_system": "account-system", "operation": "upsert"}
	return []string{
		file(apptest.Order("clean", second, shipped), nil),
		file(apptest.Order("newer", second, shipped), nil),
		file(apptest.Order("hand", second, shipped), nil),
		file(apptest.Order("none", second, shipped), nil),
		file(apptest.Order("twice", second, apptest.Doc{"status": "Shipped"}), nil),
		file(apptest.Order("twice", third, apptest.Doc{"status": "Delivered"}), nil),
		file(apptest.Account("A-9", second, "Nine"), account),
		file(apptest.Order("made", second, apptest.Doc{"status": "Pending", "account": "A-9"}), apptest.Doc{"operation": "upsert"}),
	}
}

// A dry run tells what a run then does, entry for entry, and neither writes nor claims (B1, O2).
func TestStoryDryRun(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	ids := mixed(t, w)
	status, run := w.Call(t, 0, "POST", "/v1/runs", apptest.Doc{"selector": apptest.Doc{"ids": ids}, "dry_run": true, "note": "what if"})
	require.Equal(t, http.StatusAccepted, status, "%v", run)
	requireCounts(t, run["forecast"].(apptest.Doc), map[string]int{"selected": 8, "checked": 0})
	dry := w.Finished(t, run["id"].(string))
	require.Equal(t, "completed", dry["status"])
	requireCounts(t, dry["counts"].(apptest.Doc), map[string]int{"claimed": 0})
	f := dry["forecast"].(apptest.Doc)
	requireCounts(t, f, map[string]int{"selected": 8, "checked": 8, "records": 7, "created": 2, "updated": 2, "merged": 0})
	requireCounts(t, f["outcomes"].(apptest.Doc), map[string]int{"replayed": 4, "superseded": 2, "needs_review": 1, "replay_failed": 1})
	requireCounts(t, f["reasons"].(apptest.Doc), map[string]int{"newer_from_sender": 1, "newer_entry_in_batch": 1, "shared_field_changed": 1, "no_match": 1})
	require.Empty(t, w.WriteRequests(), "a dry run writes nothing")
	for _, id := range ids {
		e := w.Entry(t, id)
		require.Equal(t, "pending_review", e["status"])
		require.Nil(t, e["replay"])
		require.Len(t, w.History(t, id), 1)
	}
	for _, c := range w.Sandbox.Changes() {
		require.Zero(t, c.Request, "no cell was changed by a request")
	}

	real := w.Finished(t, w.RunIDs(t, nil, ids...))
	for outcome, n := range f["outcomes"].(apptest.Doc) {
		require.Equal(t, n, real["counts"].(apptest.Doc)[outcome], outcome)
	}
	totals := real["reconciliation"].(apptest.Doc)
	require.Equal(t, []any{f["created"], f["updated"], f["merged"], true}, []any{totals["created"], totals["updated"], totals["merged"], totals["balanced"]})
	require.Nil(t, real["forecast"])
	why := map[string]string{}
	for _, one := range real["why"].([]any) {
		w := one.(apptest.Doc)
		why[fmt.Sprint(w["outcome"], " ", w["reason"])] = fmt.Sprint(w["entries"])
	}
	require.Equal(t, map[string]string{
		"superseded newer_from_sender": "1", "superseded newer_entry_in_batch": "1", "needs_review shared_field_changed": "1", "replay_failed no_match": "1",
	}, why, "each entry that was not written is told of with its reason")
}

// A dry run whose base is halted stops, and none is begun over a halted base (W7).
func TestStoryDryRunOverAHalt(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	id := w.File(t, apptest.Order("O-1", second, shipped), nil)
	start := apptest.Doc{"selector": apptest.Doc{"ids": []string{id}}, "dry_run": true}
	status, run := w.Call(t, 0, "POST", "/v1/runs", start)
	require.Equal(t, http.StatusAccepted, status, "%v", run)
	require.NoError(t, w.Sandbox.SetToken("patSandbox.full", "revoked"))
	w.Start(t, 0)
	halted(t, w)
	stopped := w.Finished(t, run["id"].(string))
	require.Equal(t, []any{"stopped", "base_halted"}, []any{stopped["status"], stopped["reason"]})
	status, answer := w.Call(t, 0, "POST", "/v1/runs", start)
	require.Equal(t, []any{http.StatusConflict, "/problems/base-halted"}, []any{status, answer["type"]})
}

// Cancelling returns what is not written yet; what is being written gets its outcome, and the totals add
// up (B1, B5).
func TestStoryCancel(t *testing.T) {
	t.Parallel()
	intended, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w := apptest.New(t, apptest.Options{Replicas: 2, Probe: func(_ context.Context, step pass.Step, _ []string) {
		if step == pass.StepIntended {
			once.Do(func() { close(intended); <-goOn })
		}
	}})
	var ids []string
	for i := range 25 {
		place(t, w, fmt.Sprint("C-", i))
		ids = append(ids, w.File(t, apptest.Order(fmt.Sprint("C-", i), second, shipped), nil))
	}
	run := w.RunIDs(t, nil, ids...)
	<-intended
	status, answer := w.Call(t, 1, "POST", "/v1/runs/"+run+"/cancel", apptest.Doc{"reason": "wrong window"})
	require.Equal(t, http.StatusOK, status, "%v", answer)
	require.Equal(t, []any{"cancelled", nil}, []any{answer["status"], answer["finished_at"]})
	requireCounts(t, answer["counts"].(apptest.Doc), map[string]int{"claimed": 25, "released": 15})
	close(goOn)
	done := w.Finished(t, run)
	require.Equal(t, []any{"cancelled", "cancelled"}, []any{done["status"], done["reason"]})
	requireCounts(t, done["counts"].(apptest.Doc), map[string]int{"replayed": 10, "released": 15})
	require.Equal(t, true, done["reconciliation"].(apptest.Doc)["balanced"])
	require.Contains(t, done["note"], "wrong window")
	e := w.Entry(t, ids[24])
	require.Equal(t, "pending_review", e["status"])
	apptest.RequireOutcome(t, e, "", "cancelled")
	status, answer = w.Call(t, 0, "POST", "/v1/runs/"+run+"/cancel", nil)
	require.Equal(t, []any{http.StatusConflict, "/problems/run-finished"}, []any{status, answer["type"]})

	again := w.Finished(t, w.RunIDs(t, nil, ids...))
	requireCounts(t, again["counts"].(apptest.Doc), map[string]int{"claimed": 15, "replayed": 15})
}

// What was being written when its run was cancelled, and then was not answered, is not tried again: it goes
// back with the doubt (B1, R2).
func TestStoryCancelUnderAFailingWrite(t *testing.T) {
	t.Parallel()
	intended, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w := apptest.New(t, apptest.Options{Probe: func(_ context.Context, step pass.Step, _ []string) {
		if step == pass.StepIntended {
			once.Do(func() { close(intended); <-goOn })
		}
	}})
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Drop: true})
	id := w.File(t, apptest.Order("O-1", second, shipped), nil)
	run := w.RunIDs(t, nil, id)
	<-intended
	status, answer := w.Call(t, 0, "POST", "/v1/runs/"+run+"/cancel", nil)
	require.Equal(t, http.StatusOK, status, "%v", answer)
	close(goOn)
	requireCounts(t, w.Finished(t, run)["counts"].(apptest.Doc), map[string]int{"claimed": 1, "released": 1})
	e := w.Entry(t, id)
	require.Equal(t, "pending_review", e["status"])
	apptest.RequireOutcome(t, e, "", "cancelled")
	require.Contains(t, e["flags"], "may_have_been_written")
	require.Len(t, w.WriteRequests(), 1)
}

// What was about to be written when its run was cancelled, by a process that died then, is looked for and
// goes back; nobody writes it after the cancel (B1, R2).
func TestStoryCancelUnderADeath(t *testing.T) {
	t.Parallel()
	probe, died, bury := dieAt(pass.StepIntended)
	defer bury()
	w := apptest.New(t, apptest.Options{Replicas: 2, Probe: probe, SimulatedClock: true})
	id := w.File(t, apptest.Order("O-3", second, shipped), nil)
	run := w.RunIDs(t, nil, id)
	<-died
	status, answer := w.Call(t, 0, "POST", "/v1/runs/"+run+"/cancel", nil)
	require.Equal(t, http.StatusOK, status, "%v", answer)
	require.Nil(t, answer["finished_at"], "its write may be under way")
	// The lease runs out, then whatever was sent can no longer land.
	w.Advance(t, 30*time.Second)
	w.Advance(t, 30*time.Second)
	requireCounts(t, w.Finished(t, run)["counts"].(apptest.Doc), map[string]int{"claimed": 1, "released": 1})
	e := w.Entry(t, id)
	require.Equal(t, "pending_review", e["status"])
	apptest.RequireOutcome(t, e, "", "cancelled")
	require.NotContains(t, e["flags"], "may_have_been_written", "it is known not to have landed")
	require.Empty(t, w.WriteRequests())
}

// Runs take turns, and a press goes before all of them, so that nobody waits behind a large run (R8).
func TestStoryRunsTakeTurns(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var order []string
	w := apptest.New(t, apptest.Options{NoStart: true, Probe: func(_ context.Context, step pass.Step, keys []string) {
		if step == pass.StepTaken {
			mu.Lock()
			order = append(order, strings.SplitN(keys[0], "-", 2)[0])
			mu.Unlock()
		}
	}})
	file := func(name string, n int) (ids []string) {
		for i := range n {
			place(t, w, fmt.Sprint(name, "-", i))
			ids = append(ids, w.File(t, apptest.Order(fmt.Sprint(name, "-", i), second, shipped), nil))
		}
		return ids
	}
	large, small, single := file("large", 50), file("small", 20), file("press", 1)
	first, other := w.RunIDs(t, nil, large...), w.RunIDs(t, nil, small...)
	press := w.Press(t, single[0], nil)
	w.Start(t, 0)
	for _, run := range []string{first, other, press} {
		require.Equal(t, "completed", w.Finished(t, run)["status"])
	}
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, "press", order[0])
	require.Contains(t, order[1:3], "small", "the small run has its turn: %v", order)
	require.Contains(t, order[1:3], "large", "and so has the large one: %v", order)
	require.NotContains(t, order[5:], "small", "%v", order)
}

// Two runs that select the same entries at the same moment share nothing and lose nothing (B1).
func TestStoryOverlappingRuns(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{Replicas: 3})
	const n = 40
	for i := range n {
		place(t, w, fmt.Sprint("V-", i))
		w.File(t, apptest.Order(fmt.Sprint("V-", i), second, shipped), apptest.Doc{"reason_code": []string{"other", "no_match"}[i%2]})
	}
	runs := make([]apptest.Doc, 6)
	var wg sync.WaitGroup
	for i := range runs {
		selector := []apptest.Doc{{"source": "order-system"}, {"reason": "other"}, {"reason": "no_match"}}[i%3]
		wg.Go(func() {
			status, run := w.Call(t, i%3, "POST", "/v1/runs", apptest.Doc{"selector": selector})
			if status == http.StatusAccepted {
				runs[i] = run
			}
		})
	}
	wg.Wait()
	taken := map[string]int{}
	claimed := 0
	for _, run := range runs {
		if run == nil {
			continue
		}
		done := w.Finished(t, run["id"].(string))
		require.Equal(t, true, done["reconciliation"].(apptest.Doc)["balanced"])
		var c int
		_, err := fmt.Sscan(fmt.Sprint(done["counts"].(apptest.Doc)["claimed"]), &c)
		require.NoError(t, err)
		claimed += c
		for _, e := range w.Read(t, "/v1/entries?limit=200&run="+run["id"].(string))["entries"].([]any) {
			taken[e.(apptest.Doc)["id"].(string)]++
		}
	}
	require.Equal(t, n, claimed)
	require.Len(t, taken, n)
	for id, times := range taken {
		require.Equal(t, 1, times, id)
	}
	for i := range n {
		require.Equal(t, "Shipped", w.OrderCells(t, fmt.Sprint("V-", i))["Status"])
	}
}

// A run can be followed to its end, from any replica (deliverable of SSE).
func TestStoryWatch(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{Replicas: 2})
	run := w.RunIDs(t, nil, mixed(t, w)...)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URLs[1]+"/v1/runs/"+run+"/events", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+w.Token)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	var events []string
	var last apptest.Doc
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			events = append(events, name)
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			last = apptest.Doc{}
			require.NoError(t, json.Unmarshal([]byte(data), &last))
		}
	}
	require.NoError(t, lines.Err())
	require.Equal(t, "done", events[len(events)-1])
	require.Equal(t, "completed", last["status"])
	requireCounts(t, last["counts"].(apptest.Doc), map[string]int{"claimed": 8, "replayed": 4})
}

// The evidence of a run holds its request, its totals and each entry's account, as JSON and as CSV (B5).
func TestStoryEvidence(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	ids := mixed(t, w)
	formula := place(t, w, "=1+1")
	ids = append(ids, w.File(t, apptest.Order("=1+1", second, shipped), nil))
	run := w.RunIDs(t, nil, ids...)
	done := w.Finished(t, run)
	bundle := w.Read(t, "/v1/runs/"+run+"/evidence")
	require.Equal(t, done, bundle["run"], "the run as the API shows it")
	entries := map[string]apptest.Doc{}
	for _, e := range bundle["entries"].([]any) {
		entries[e.(apptest.Doc)["entry_id"].(string)] = e.(apptest.Doc)
	}
	require.Len(t, entries, len(ids))
	for _, id := range ids {
		e, r := entries[id], apptest.Outcome(w.Entry(t, id))
		for _, same := range []string{"outcome", "reason", "fields_replayed", "fields_skipped", "values_before", "status_code", "attempts"} {
			require.Equal(t, r[same], e[same], "%s of %v", same, e)
		}
	}
	require.Equal(t, formula, entries[ids[8]]["record_id"])

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URLs[0]+"/v1/runs/"+run+"/evidence?format=csv", nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+w.Token)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	table, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(t, err)
	require.Equal(t, "run_id", table[0][0])
	column := map[string]int{}
	for i, name := range table[0] {
		column[name] = i
	}
	fields := map[string]string{}
	for _, line := range table[1:] {
		if line[column["entry_id"]] == ids[8] {
			require.Equal(t, "'=1+1", line[column["target_id"]], "no spreadsheet takes it for a formula")
			fields[line[column["field"]]] = line[column["before"]] + " > " + line[column["value"]]
		}
	}
	require.Equal(t, map[string]string{"Status": `"Pending" > "Shipped"`, "Delivery Date": `"2026-10-01" > "2026-10-05"`}, fields)
}
