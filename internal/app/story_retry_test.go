package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// The six retry cases, each with two replicas on one clock; cases 4 to 6 stand with their kind, in
// story_batch_test.go and story_halt_test.go.

// acceptAll posts live writes in one request to a replica and returns their IDs.
func acceptAll(t *testing.T, w *apptest.World, replica int, payloads ...string) []string {
	t.Helper()
	var writes []apptest.Doc
	for _, p := range payloads {
		writes = append(writes, apptest.Doc{"source_system": "order-system", "payload": p})
	}
	status, answer := w.Call(t, replica, "POST", "/v1/writes", apptest.Doc{"writes": writes})
	require.Equal(t, http.StatusAccepted, status, "%v", answer)
	var ids []string
	for _, accepted := range answer["writes"].([]any) {
		ids = append(ids, accepted.(apptest.Doc)["id"].(string))
	}
	return ids
}

// newOrders are payloads of orders that the base does not have yet.
func newOrders(tag string, n int) (keys, payloads []string) {
	for i := range n {
		keys = append(keys, fmt.Sprint(tag, "-", i))
		payloads = append(payloads, apptest.Order(keys[i], second, shipped))
	}
	return keys, payloads
}

// requireSilence holds every 429 of the log to a pause of the base after it, by the sandbox's clock,
// and returns how many there were.
func requireSilence(t *testing.T, w *apptest.World, pause time.Duration) (refused int) {
	t.Helper()
	log := w.Sandbox.Requests()
	for i, r := range log {
		if r.Status != http.StatusTooManyRequests {
			continue
		}
		refused++
		if i+1 < len(log) {
			require.GreaterOrEqual(t, log[i+1].At.Sub(r.At), pause, "%s %s", log[i+1].Method, log[i+1].Path)
		}
	}
	return refused
}

// forward moves the sandbox's clock and then the service's, so that the log never shows a wait shorter
// than the service made it.
func forward(t *testing.T, w *apptest.World, by time.Duration) {
	t.Helper()
	w.Sandbox.Advance(by)
	w.DB.Advance(t, by)
}

// until moves both clocks on, by a step at each look while nobody works, until done says so.
func until(t *testing.T, w *apptest.World, step time.Duration, done func() bool, what string) {
	t.Helper()
	apptest.Eventually(t, func() bool {
		if done() {
			return true
		}
		if w.Idle(t) {
			forward(t, w, step)
		}
		return false
	}, what)
}

// requireOneRecordEach holds each key to one record that was made once.
func requireOneRecordEach(t *testing.T, w *apptest.World, keys ...string) {
	t.Helper()
	made := map[any]int{}
	for _, c := range w.Sandbox.Changes() {
		if c.Table == "Orders" && c.Field == "Order ID" && c.Kind == "create" {
			made[c.New]++
		}
	}
	for _, key := range keys {
		require.Equal(t, 1, made[key], key)
		require.Equal(t, "Shipped", w.OrderCells(t, key)["Status"], key)
	}
}

// Case 1: a 429 in the middle of much work. Both replicas leave the base alone for half a minute,
// whatever comes in meanwhile; then all of it gets done, and nothing twice (W3).
func TestRetryCase1RateLimitUnderLoad(t *testing.T) {
	t.Parallel()
	config := apptest.Change(t, apptest.DefaultConfig, "rate_limit_wait: 1s", "rate_limit_wait: 30s")
	for name, method := range map[string]string{"to a read": http.MethodGet, "to a write": http.MethodPatch} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := apptest.New(t, apptest.Options{Config: config, SimulatedClock: true, Replicas: 2})
			w.Fault(t, sandbox.Fault{Method: method, Table: "Orders", Skip: 1, Status: http.StatusTooManyRequests})
			keys, payloads := newOrders("N", 40)
			ids := acceptAll(t, w, 0, payloads[:20]...)
			ids = append(ids, acceptAll(t, w, 1, payloads[20:]...)...)
			apptest.Eventually(t, func() bool { return state(t, w)["state"] == "paused" }, "the base is paused")
			for i := range 5 { // 25 of at least 30 s
				forward(t, w, 5*time.Second)
				more, payload := newOrders(fmt.Sprint("M", i), 1)
				keys, ids = append(keys, more...), append(ids, acceptAll(t, w, i%2, payload...)...)
			}
			for _, id := range ids {
				until(t, w, time.Second, func() bool { return w.Read(t, "/v1/writes/"+id)["status"] == "written" }, "write "+id)
			}
			require.Equal(t, 1, requireSilence(t, w, 30*time.Second))
			requireOneRecordEach(t, w, keys...)
		})
	}
}

// Case 2: Airtable is down. A write is sent five times, each wait at least twice the one before, and
// then becomes an entry with everything filled (W2, L2).
func TestRetryCase2Exhausted(t *testing.T) {
	t.Parallel()
	config := apptest.Change(t, apptest.DefaultConfig, "base_delay: 50ms", "base_delay: 2s")
	const step = 500 * time.Millisecond
	for name, c := range map[string]struct {
		fault  sandbox.Fault
		reason string
		status any
	}{
		"5xx":         {sandbox.Fault{Method: http.MethodPatch, Times: 5, Status: 503}, "transient_exhausted", "503"},
		"no response": {sandbox.Fault{Method: http.MethodPatch, Times: 5, Drop: true}, "no_response_exhausted", "<nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := apptest.New(t, apptest.Options{Config: config, SimulatedClock: true, Replicas: 2})
			w.Fault(t, c.fault)
			payload := apptest.Order("O-3", second, shipped)
			id := w.Accept(t, "order-system", payload)
			until(t, w, step, func() bool { return w.Read(t, "/v1/writes/"+id)["status"] != "queued" }, "the write is decided")
			write := w.Read(t, "/v1/writes/"+id)
			require.Equal(t, "dead_lettered", write["status"])
			require.Equal(t, c.reason, write["reason"])
			sent := w.WriteRequests()
			require.Len(t, sent, 5)
			for i, wait := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second} {
				require.GreaterOrEqual(t, sent[i+1].At.Sub(sent[i].At), wait, "after attempt %d", i+1)
			}

			e := w.Entry(t, write["entry_id"].(string))
			require.Equal(t, c.reason, e["reason_code"])
			require.Equal(t, c.status, number(e["status_code"]))
			require.Equal(t, "5", number(e["attempts"]))
			require.Equal(t, write["accepted_at"], e["first_attempt_at"])
			require.Equal(t, payload, e["raw_payload"])
			require.Equal(t, "upsert", e["operation"])
			require.Equal(t, second, e["source_version"])
			require.Equal(t, "pending_review", e["status"])
			require.Empty(t, w.CellChanges("recOrd00000000003", "Status"))
			w.Press(t, e["id"].(string), nil)
			apptest.RequireOutcome(t, w.SettledInTime(t, e["id"].(string), step), "replayed", "")
		})
	}
}

// Case 3: a creation whose first sending was not answered, and landed, did not, or landed late. It
// makes one record (W5).
func TestRetryCase3CreateSentTwice(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sandbox.Fault{
		"landed":          {Method: http.MethodPatch, Drop: true, AfterApply: true},
		"did not land":    {Method: http.MethodPatch, Drop: true},
		"landed late":     {Method: http.MethodPatch, Drop: true, ApplyLater: sandbox.Duration(time.Second)},
		"landed with 503": {Method: http.MethodPatch, Status: 503, AfterApply: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := apptest.New(t, apptest.Options{SimulatedClock: true, Replicas: 2})
			w.Fault(t, fault)
			id := w.Accept(t, "order-system", apptest.Order("N-1", second, shipped))
			require.Equal(t, "written", w.DecidedInTime(t, id, 250*time.Millisecond)["status"])
			w.Advance(t, time.Minute)
			requireOneRecordEach(t, w, "N-1")
			if fault.AfterApply {
				require.Equal(t, 1, w.Writes(), "what landed is recognised, not sent again")
			}
		})
	}
}

// The named limit of case 3: no unique index stands behind an upsert, so two sendings of one creation
// that Airtable works on at once can make two rows. The next who meets the key says so and writes to
// neither (R4b).
func TestRetryCase3TwoRowsAreFound(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{SimulatedClock: true, Replicas: 2})
	require.NoError(t, w.Sandbox.SetOptions(func(o *sandbox.Options) { o.UpsertRace = sandbox.Duration(time.Hour) }))
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Drop: true, ApplyLater: sandbox.Duration(time.Minute)})
	id := w.Accept(t, "order-system", apptest.Order("N-1", second, shipped))
	require.Equal(t, "written", w.DecidedInTime(t, id, 250*time.Millisecond)["status"])
	w.Advance(t, 2*time.Minute)
	require.Len(t, records(t, w, "Orders"), 3+2)

	write := w.DecidedInTime(t, w.Accept(t, "order-system", apptest.Order("N-1", third, apptest.Doc{"status": "Delivered"})), 250*time.Millisecond)
	require.Equal(t, "dead_lettered", write["status"])
	require.Equal(t, "multiple_matches", write["reason"])
	for _, r := range records(t, w, "Orders")[3:] {
		require.Equal(t, "Shipped", r.Fields["Status"])
	}
}

// B47: 40 entries at once on a base that takes five requests a second and meets one 429. Nothing is
// sent for half a minute; every entry is applied, and the 429 was one of its five attempts.
func TestB47BurstOfWrites(t *testing.T) {
	t.Parallel()
	config := apptest.Change(t, apptest.DefaultConfig, "requests_per_second: 200", "requests_per_second: 4")
	config = apptest.Change(t, config, "rate_limit_wait: 1s", "rate_limit_wait: 30s")
	w := apptest.New(t, apptest.Options{Config: config, SimulatedClock: true, Replicas: 2, Sandbox: func(c *sandbox.Config) {
		c.Rate, c.Penalty = 5, 30*time.Second
	}})
	var keys, placed []string
	for i := range 40 {
		keys = append(keys, fmt.Sprint("N-", i))
		placed = append(placed, place(t, w, keys[i]))
	}
	ids := fileAll(t, w, keys, second)
	w.Fault(t, sandbox.Fault{Method: http.MethodGet, Table: "Orders", Skip: 1, Status: http.StatusTooManyRequests})
	run := w.RunIDs(t, nil, ids...)
	twice := 0
	for i, id := range ids {
		until(t, w, time.Second, func() bool { return w.Entry(t, id)["status"] != "replaying" }, "entry "+id)
		e := w.Entry(t, id)
		apptest.RequireOutcome(t, e, "replayed", "")
		require.Equal(t, "Shipped", w.OrderCells(t, keys[i])["Status"])
		require.Len(t, w.CellChanges(placed[i], "Status"), 1)
		if number(apptest.Outcome(e)["attempts"]) != "1" {
			twice++
		}
	}
	require.Positive(t, requireSilence(t, w, 30*time.Second))
	require.GreaterOrEqual(t, twice, 10, "the chunk that met the 429")
	requireCounts(t, w.Finished(t, run)["counts"].(apptest.Doc), map[string]int{"claimed": 40, "replayed": 40})
}

// B111: one 429 under 200 entries is one pause on the row of the base, learnt by one request. No job is
// put to sleep for it, and everybody can see until when.
func TestB111OnePauseForTheBase(t *testing.T) {
	t.Parallel()
	config := apptest.Change(t, apptest.DefaultConfig, "rate_limit_wait: 1s", "rate_limit_wait: 10m")
	w := apptest.New(t, apptest.Options{Config: config, SimulatedClock: true, Replicas: 2})
	_, payloads := newOrders("N", 200)
	var ids []string
	for _, p := range payloads {
		ids = append(ids, w.File(t, p, apptest.Doc{"operation": "upsert"}))
	}
	w.Fault(t, sandbox.Fault{Table: "Orders", Times: -1, Status: http.StatusTooManyRequests})
	w.RunIDs(t, nil, ids[:199]...)
	w.Press(t, ids[199], nil)
	apptest.Eventually(t, func() bool { return state(t, w)["state"] == "paused" && w.Idle(t) }, "the base is paused")
	w.Sandbox.ClearFaults()
	forward(t, w, 5*time.Minute)
	b := state(t, w)
	require.Equal(t, "paused", b["state"])
	require.NotEmpty(t, b["paused_until"])
	require.NotEmpty(t, b["reason"])
	require.Equal(t, "200", number(b["waiting_entries"]))
	require.Equal(t, 1, requireSilence(t, w, 0))
	var asleep int
	require.NoError(t, w.DB.Pool.QueryRow(t.Context(), `SELECT count(*) FROM river_job WHERE state IN ('scheduled', 'retryable')`).Scan(&asleep))
	require.Zero(t, asleep)

	forward(t, w, 6*time.Minute)
	for _, id := range ids {
		apptest.RequireOutcome(t, w.Settled(t, id), "replayed", "")
	}
	require.Equal(t, 1, requireSilence(t, w, 10*time.Minute))
}

// B61: one of three tables is gone, before a run or in the middle of it. Its entry says so; those of
// the other two are applied, and the base goes on.
func TestB61TableGone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		known        bool // to the service, which keeps a base's schema for a while
		status, says string
	}{
		"before the run":       {false, "<nil>", `no table "Order Lines" in the base`},
		"in the middle of one": {true, "404", "Could not find table Order Lines"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := apptest.New(t, apptest.Options{})
			require.NoError(t, w.Sandbox.SetOptions(func(o *sandbox.Options) { o.Refusals = "told" }))
			if c.known {
				require.True(t, w.Send(t, apptest.Live, "line-system", apptest.Line("L-1", second, apptest.Doc{"quantity": 1})).Written)
			}
			account := w.File(t, apptest.Account("A-1", second, "Acme & Sons"), apptest.Doc{"source_system": "account-system"})
			order := w.File(t, apptest.Order("O-3", second, shipped), nil)
			line := w.File(t, apptest.Line("L-2", second, apptest.Doc{"quantity": 2}), apptest.Doc{"source_system": "line-system", "operation": "upsert"})
			deleteTable(t, w, "Order Lines")
			run := w.Finished(t, w.RunIDs(t, nil, account, order, line))
			requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"claimed": 3, "replayed": 2, "replay_failed": 1})
			e := w.Entry(t, line)
			require.Equal(t, "pending_review", e["status"])
			require.Equal(t, c.status, number(apptest.Outcome(e)["status_code"]))
			require.Contains(t, apptest.Outcome(e)["notes"], c.says)
			require.Equal(t, "running", state(t, w)["state"])
		})
	}
}

// deleteTable does what a person does who deletes a table.
func deleteTable(t *testing.T, w *apptest.World, table string) {
	t.Helper()
	body := fmt.Sprintf(`{"base":%q,"table":%q,"delete":true}`, apptest.BaseID, table)
	resp, err := http.Post(w.SandboxURL+"/_sandbox/tables", "application/json", strings.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
}
