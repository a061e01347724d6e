package app_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/pass"

	"github.com/stretchr/testify/require"
)

// Values Before can be written back, only where the record still holds what the replay wrote (A2, R12).

const restored2 = "recOrd00000000002" // the record of O-2

// replayed is a world in which O-2 was replayed: Status Pending -> Shipped, Delivery Date 10-01 -> 10-05.
func replayed(t *testing.T, o apptest.Options) (w *apptest.World, id string) {
	t.Helper()
	w = apptest.New(t, o)
	id = w.File(t, apptest.Order("O-2", "2026-10-02T08:00:00Z", shipped), nil)
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
	return w, id
}

// restore asks for a restore and returns its run.
func restore(t *testing.T, w *apptest.World, id string) string {
	t.Helper()
	status, run := w.Call(t, 0, http.MethodPost, "/v1/entries/"+id+"/restore", apptest.Doc{"requested_by": "rita", "reason": "a wrong feed"})
	require.Equal(t, http.StatusAccepted, status, "%v", run)
	require.Equal(t, "restore", run["kind"])
	return run["id"].(string)
}

// refusedRestore asks for a restore that is refused beforehand, and returns the problem.
func refusedRestore(t *testing.T, w *apptest.World, id string) apptest.Doc {
	t.Helper()
	status, problem := w.Call(t, 0, http.MethodPost, "/v1/entries/"+id+"/restore", nil)
	require.Equal(t, http.StatusConflict, status, "%v", problem)
	return problem
}

func requireRestored(t *testing.T, run apptest.Doc, restored, refused int) {
	t.Helper()
	c := run["counts"].(apptest.Doc)
	require.Equal(t, []string{number(restored + refused), number(restored), number(refused)},
		[]string{number(c["claimed"]), number(c["restored"]), number(c["refused"])}, "%v", run)
}

func lastLine(t *testing.T, w *apptest.World, id string) apptest.Doc {
	t.Helper()
	lines := w.History(t, id)
	return lines[len(lines)-1]
}

func TestStoryRestore(t *testing.T) {
	t.Parallel()
	w, id := replayed(t, apptest.Options{})
	p := w.Read(t, "/v1/entries/"+id+"/restore")
	require.Equal(t, true, p["possible"])
	require.Empty(t, p["notes"])
	require.Equal(t, restored2, p["record_id"])
	require.Len(t, p["fields"], 2)

	run := w.Finished(t, restore(t, w, id))
	require.Equal(t, "completed", run["status"])
	requireRestored(t, run, 2, 0)
	cells := w.OrderCells(t, "O-2")
	require.Equal(t, "Pending", cells["Status"])
	require.Equal(t, "2026-10-01", cells["Delivery Date"])
	require.Equal(t, "2026-10-02T08:00:00.000Z", cells["Source Updated At"], "the record has seen that version")

	e := w.Entry(t, id)
	require.Equal(t, "resolved", e["status"])
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Equal(t, apptest.Doc{"Status": "Pending", "Delivery Date": "2026-10-01"}, apptest.Outcome(e)["values_before"], "the account of the replay stays")
	require.Contains(t, apptest.Outcome(e)["notes"], "for rita: Restored: Delivery Date, Status.")
	line := lastLine(t, w, id)
	require.Equal(t, "restored", line["event"])
	require.Equal(t, run["id"], line["run_id"])
	require.Equal(t, "rita", line["actor"])
	overwritten := apptest.Doc{"Status": "Shipped", "Delivery Date": "2026-10-05"}
	require.Equal(t, overwritten, line["detail"].(apptest.Doc)["values_before"])

	evidence := w.Read(t, "/v1/runs/"+run["id"].(string)+"/evidence")["entries"].([]any)
	require.Len(t, evidence, 1)
	require.Equal(t, []any{"restored", overwritten, restored2, "updated"},
		[]any{evidence[0].(apptest.Doc)["outcome"], evidence[0].(apptest.Doc)["values_before"], evidence[0].(apptest.Doc)["record_id"], evidence[0].(apptest.Doc)["effect"]})
}

// A field that a person edited after the replay stays as the person left it; the other one goes back.
func TestStoryRestoreLeavesEditsByHand(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string][]string{"another value": {"2026-10-20"}, "back and forth to what the replay wrote": {"2026-10-20", "2026-10-05"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, id := replayed(t, apptest.Options{})
			for i, date := range edit {
				w.Hand(t, "Orders", restored2, w.Sandbox.Now().Add(time.Duration(i+1)*time.Hour), apptest.Doc{"Delivery Date": date})
			}
			p := w.Read(t, "/v1/entries/"+id+"/restore")
			require.Equal(t, true, p["possible"])
			require.Contains(t, p["notes"].([]any)[0], "Delivery Date was left as it is")
			run := w.Finished(t, restore(t, w, id))
			requireRestored(t, run, 1, 1)
			require.Equal(t, "1", number(run["reconciliation"].(apptest.Doc)["skipped_by_reason"].(apptest.Doc)["shared_field_changed"]))
			cells := w.OrderCells(t, "O-2")
			require.Equal(t, "Pending", cells["Status"])
			require.Equal(t, edit[len(edit)-1], cells["Delivery Date"])
		})
	}
}

// A newer write of the sender has the last word, even where it says the same about a field.
func TestStoryRestoreAfterANewerWrite(t *testing.T) {
	t.Parallel()
	w, id := replayed(t, apptest.Options{})
	live := w.Send(t, apptest.Live, "order-system", apptest.Order("O-2", "2026-10-03T08:00:00Z", apptest.Doc{"status": "Shipped", "quantity": 7}))
	require.True(t, live.Written)
	writes := w.Writes()
	run := w.Finished(t, restore(t, w, id))
	requireRestored(t, run, 0, 2)
	require.Equal(t, writes, w.Writes())
	require.Equal(t, "restore_refused", lastLine(t, w, id)["event"])
	require.Equal(t, "newer_from_sender", lastLine(t, w, id)["reason"])
	require.Equal(t, "Shipped", w.OrderCells(t, "O-2")["Status"])

	// Nothing was restored, so nothing stands in the way of another try; it comes to the same.
	requireRestored(t, w.Finished(t, restore(t, w, id)), 0, 2)
}

// What cannot be restored is said beforehand (A2).
func TestStoryRestoreRefusedBeforehand(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	pending := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", shipped), nil)
	created := w.File(t, apptest.Order("O-9", "2026-10-02T08:00:00Z", shipped), apptest.Doc{"operation": "upsert"})
	stale := w.File(t, apptest.Order("O-1", "2026-09-01T08:00:00Z", shipped), nil)
	same := w.File(t, apptest.Order("O-2", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Pending"}), nil)
	for _, id := range []string{created, stale, same} {
		require.Equal(t, "resolved", w.Replay(t, id, nil)["status"])
	}
	writes := w.Writes()
	for id, want := range map[string][2]string{
		pending: {"/problems/entry-not-resolved", "pending review"}, created: {"/problems/not-restorable", "created the record"},
		stale: {"/problems/nothing-to-restore", "changed no value"}, same: {"/problems/nothing-to-restore", "changed no value"},
	} {
		p := w.Read(t, "/v1/entries/"+id+"/restore")
		require.Equal(t, false, p["possible"])
		require.Contains(t, p["notes"].([]any)[0], want[1])
		problem := refusedRestore(t, w, id)
		require.Equal(t, want[0], problem["type"])
		require.Contains(t, problem["detail"], want[1])
	}
	require.Equal(t, writes, w.Writes())
}

// Once is enough: a second restore is refused, while the first is under way and after it.
func TestStoryRestoreTwice(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	goOn := sync.OnceFunc(func() { close(gate) })
	defer goOn()
	w := apptest.New(t, apptest.Options{Probe: func(_ context.Context, step pass.Step, _ []string) {
		if step == pass.StepTaken {
			<-gate
		}
	}})
	id := w.File(t, apptest.Order("O-2", "2026-10-02T08:00:00Z", shipped), nil)
	w.Press(t, id, nil)
	gate <- struct{}{}
	require.Equal(t, "resolved", w.Settled(t, id)["status"])

	run := restore(t, w, id)
	problem := refusedRestore(t, w, id)
	require.Equal(t, "/problems/restore-under-way", problem["type"])
	require.Equal(t, run, problem["run_id"])
	goOn()
	requireRestored(t, w.Finished(t, run), 2, 0)
	writes := w.Writes()
	problem = refusedRestore(t, w, id)
	require.Equal(t, "/problems/already-restored", problem["type"])
	require.Equal(t, run, problem["run_id"])
	require.Equal(t, writes, w.Writes())
}

// Later entries of a restored record go to review, until something newer lands; the version has not
// moved, so what was older than the replay is older still.
func TestStoryEntriesAfterARestore(t *testing.T) {
	t.Parallel()
	w, id := replayed(t, apptest.Options{})
	requireRestored(t, w.Finished(t, restore(t, w, id)), 2, 0)

	older := w.File(t, apptest.Order("O-2", "2026-10-01T08:00:00Z", apptest.Doc{"status": "Delivered"}), nil)
	apptest.RequireOutcome(t, w.Replay(t, older, nil), "needs_review", "restored")
	w.Call(t, 0, http.MethodPost, "/v1/entries/"+older+"/ignore", nil)
	newer := w.File(t, apptest.Order("O-2", "2026-10-03T08:00:00Z", apptest.Doc{"status": "Delivered"}), nil)
	apptest.RequireOutcome(t, w.Replay(t, newer, nil), "needs_review", "restored")
	require.Equal(t, "Pending", w.OrderCells(t, "O-2")["Status"])
	stale := w.Send(t, apptest.Live, "order-system", apptest.Order("O-2", "2026-10-02T08:00:00Z", shipped))
	require.Equal(t, "stale", stale.Outcome, "the sender's version is known already")

	live := w.Send(t, apptest.Live, "order-system", apptest.Order("O-2", "2026-10-04T08:00:00Z", apptest.Doc{"status": "Shipped"}))
	require.True(t, live.Written)
	apptest.RequireOutcome(t, w.Replay(t, newer, nil), "superseded", "newer_from_sender")
	require.Equal(t, "Shipped", w.OrderCells(t, "O-2")["Status"])
}

// The entry itself can be reopened and replayed again, under a reviewer's eyes.
func TestStoryReplayAfterARestore(t *testing.T) {
	t.Parallel()
	w, id := replayed(t, apptest.Options{})
	requireRestored(t, w.Finished(t, restore(t, w, id)), 2, 0)
	status, _ := w.Call(t, 0, http.MethodPost, "/v1/entries/"+id+"/reopen", apptest.Doc{"reason": "the feed was right after all"})
	require.Equal(t, http.StatusOK, status)
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "needs_review", "restored")
	apptest.RequireOutcome(t, w.Replay(t, id, apptest.Doc{"mode": "unchanged_fields"}), "replayed", "")
	require.Equal(t, "Shipped", w.OrderCells(t, "O-2")["Status"])
	require.Equal(t, "2026-10-05", w.OrderCells(t, "O-2")["Delivery Date"])
	requireRestored(t, w.Finished(t, restore(t, w, id)), 2, 0) // the second replay is another write
	require.Equal(t, "Pending", w.OrderCells(t, "O-2")["Status"])
}
