package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/store/storetest"

	"github.com/stretchr/testify/require"
)

// benchPace is the raised pace of benchmarks, in requests per second; ratios to it hold at any pace.
const benchPace = 20

func benchWorld(b *testing.B, pace int) *apptest.World {
	b.Helper()
	return apptest.New(b, apptest.Options{Config: paced(apptest.DefaultConfig, pace)})
}

// paced raises the pace and leaves the tick, which tests hasten, as it is by default.
func paced(config string, pace int) string {
	return strings.NewReplacer("requests_per_second: 200", fmt.Sprint("requests_per_second: ", pace), ", recovery_tick: 200ms", "").Replace(config)
}

// mirroredWorld has the dead letter table in its base.
func mirroredWorld(b *testing.B, pace int) *apptest.World {
	b.Helper()
	return apptest.New(b, apptest.Options{
		Seed:   apptest.SeedWith(deadLetterTable),
		Config: "dead_letters: {base: orders, table: Dead Letter Queue}\n" + paced(apptest.DefaultConfig, pace),
	})
}

const deadLetterTable = `
- name: Dead Letter Queue
  primary: DLQ Record ID
  fields:
    - {name: DLQ Record ID, type: singleLineText}
    - {name: Source System, type: singleLineText}
    - {name: Target Table, type: singleLineText}
    - {name: Target ID, type: singleLineText}
    - {name: Raw Payload, type: multilineText}
    - {name: Reason Code, type: singleLineText}
    - {name: Error Detail, type: multilineText}
    - {name: Status Code, type: number}
    - {name: Attempts, type: number}
    - {name: Status, type: singleSelect, choices: [Pending Review, Replaying, Resolved, Ignored]}
    - {name: Assigned Owner, type: singleLineText}
    - {name: Source Updated At, type: number}
    - {name: First Attempt At, type: dateTime}
    - {name: Replay Requested, type: checkbox}
    - {name: Replay Requested By, type: singleLineText}
    - {name: Replay Outcome, type: singleSelect, choices: [Replayed, Partially Replayed, Superseded, Needs Review, Replay Failed]}
    - {name: Fields Replayed, type: multilineText}
    - {name: Fields Skipped, type: multilineText}
    - {name: Values Before, type: multilineText}
    - {name: Replay Notes, type: multilineText}
    - {name: Replayed By, type: singleLineText}
    - {name: Replayed At, type: dateTime}
`

// BenchmarkLiveWrites sends 1,000 live writes to distinct records: requests for each, and the time of the
// pass over the slots of its requests, for pairs of read and write alone.
func BenchmarkLiveWrites(b *testing.B) {
	const n = 1000
	for b.Loop() {
		w := benchWorld(b, benchPace)
		ids := acceptOrders(b, w, n)
		for _, id := range ids {
			require.Equal(b, "written", w.Decided(b, id)["status"])
		}
		requests := len(w.Sandbox.Requests())
		storetest.Budget{Unit: "requests/live-write", Figure: float64(requests) / n, Target: 0.21, Floor: 0.20}.Report(b)
		storetest.Budget{Unit: "pairs:time/slots", Figure: slots(w), Target: 1.15, Floor: 1.10}.Report(b)
	}
}

// slots is the time from the first request to the last over the slots that they took.
func slots(w *apptest.World) float64 {
	log := w.Sandbox.Requests()
	span := log[len(log)-1].At.Sub(log[0].At)
	return span.Seconds() * benchPace / float64(len(log)-1)
}

// BenchmarkReplay replays 1,000 distinct clean entries as one run, their rows in the dead letter table
// included.
func BenchmarkReplay(b *testing.B) {
	const n = 1000
	for b.Loop() {
		w := mirroredWorld(b, 200)
		for i := range n {
			w.File(b, benchOrder(i), apptest.Doc{"operation": "upsert"})
		}
		mirrored(b, w, n)
		w.Sandbox.ClearRequests()
		began := time.Now()
		run := w.Finished(b, startAll(b, w))
		require.Equal(b, json.Number("1000"), run["counts"].(apptest.Doc)["replayed"])
		mirrored(b, w, n)
		b.Logf("1,000 entries in %s at 200 requests a second", time.Since(began).Round(time.Millisecond))
		storetest.Budget{Unit: "requests/replayed-entry", Figure: float64(len(w.Sandbox.Requests())) / n, Target: 0.32, Floor: 0.30}.Report(b)
	}
}

// BenchmarkReplayPace is the time of a run with its mirror over the slots of its requests.
func BenchmarkReplayPace(b *testing.B) {
	const n = 400
	for b.Loop() {
		w := mirroredWorld(b, benchPace)
		for i := range n {
			w.File(b, benchOrder(i), apptest.Doc{"operation": "upsert"})
		}
		mirrored(b, w, n)
		w.Sandbox.ClearRequests()
		w.Finished(b, startAll(b, w))
		mirrored(b, w, n)
		storetest.Budget{Unit: "mirrored:time/slots", Figure: slots(w), Target: 1.05, Floor: 1}.Report(b)
	}
}

func startAll(b *testing.B, w *apptest.World) string {
	b.Helper()
	status, run := w.Call(b, 0, "POST", "/v1/runs", apptest.Doc{"selector": apptest.Doc{"reason": "transient_exhausted"}})
	require.Equal(b, http.StatusAccepted, status, "%v", run)
	return run["id"].(string)
}

// mirrored waits until the dead letter table has all rows and none is to be sent.
func mirrored(b *testing.B, w *apptest.World, rows int) {
	b.Helper()
	apptest.Eventually(b, func() bool {
		base := w.Read(b, "/v1/bases")["bases"].([]any)[0].(apptest.Doc)
		recs, err := w.Sandbox.Records(apptest.BaseID, "Dead Letter Queue")
		return err == nil && len(recs) == rows && fmt.Sprint(base["waiting"]) == "0"
	}, "the mirror is complete")
}

// BenchmarkAcceptWrites posts live writes by hundreds, and inserts the same payloads bare beside it.
func BenchmarkAcceptWrites(b *testing.B) {
	const batches, size = 100, 100
	requests, payloads := make([][]byte, batches), make([][][]byte, batches)
	for i := range batches {
		body, err := json.Marshal(writesOf(i*size, size))
		require.NoError(b, err)
		requests[i] = body
		for k := range size {
			payloads[i] = append(payloads[i], []byte(benchOrder(i*size+k)))
		}
	}
	for b.Loop() {
		w := apptest.New(b, apptest.Options{NoStart: true})
		start := time.Now()
		for _, body := range requests {
			status, answer := w.Call(b, 0, http.MethodPost, "/v1/writes", body)
			require.Equal(b, http.StatusAccepted, status, "%v", answer)
		}
		ours := time.Since(start)
		start = time.Now()
		for _, rows := range payloads {
			_, err := w.DB.Pool.Exec(b.Context(), `INSERT INTO write (id, source_system, base, target_table, target_id, operation, raw_payload)
				SELECT gen_random_uuid(), 'order-system', 'orders', 'Orders', 'X-' || n, 'upsert', payload FROM unnest($1::bytea[]) WITH ORDINALITY AS r (payload, n)`, rows)
			require.NoError(b, err)
		}
		b.ReportMetric(batches*size/ours.Seconds(), "writes/s")
		storetest.Budget{Unit: "accept/bare-insert", Figure: ours.Seconds() / time.Since(start).Seconds(), Target: 3, Floor: 1}.Report(b)
	}
}

// BenchmarkPressAccepted presses 300 times a second at Airtable's own pace, whether or not the answers have
// come, and takes the time to each answer once the connections are warm.
func BenchmarkPressAccepted(b *testing.B) {
	const warm, n, perSecond = 300, 1500, 300
	for b.Loop() {
		w := benchWorld(b, 4)
		ids := make([]string, warm+n)
		for i := range ids {
			ids[i] = w.File(b, benchOrder(i), apptest.Doc{"operation": "upsert"})
		}
		took := make([]float64, len(ids))
		var all sync.WaitGroup
		tick := time.NewTicker(time.Second / perSecond)
		for i, id := range ids {
			<-tick.C
			if i == warm {
				all.Wait()
			}
			all.Go(func() {
				began := time.Now()
				status, _ := w.Call(b, 0, "POST", "/v1/entries/"+id+"/replay", apptest.Doc{})
				if took[i] = time.Since(began).Seconds() * 1000; status != http.StatusAccepted {
					b.Errorf("press %d: %d", i, status)
				}
			})
		}
		all.Wait()
		tick.Stop()
		b.ReportMetric(percentile(took[warm:], 50), "ms/press-p50")
		storetest.Budget{Unit: "ms/press-p99", Figure: percentile(took[warm:], 99), Target: 20}.Report(b)
	}
}

// BenchmarkPressLands takes the time from a press on an idle base to its write, and from each answered read
// to the write that follows it.
func BenchmarkPressLands(b *testing.B) {
	const n = 200
	for b.Loop() {
		w := benchWorld(b, 200)
		var landed, window []float64
		for i := range n {
			id := w.File(b, benchOrder(i), apptest.Doc{"operation": "upsert"})
			w.Sandbox.ClearRequests()
			began := time.Now()
			w.Press(b, id, nil)
			apptest.Eventually(b, func() bool { return w.Writes() > 0 }, "the write arrives")
			writes := w.WriteRequests()
			landed = append(landed, writes[0].At.Sub(began).Seconds()*1000)
			for _, r := range w.Requests("Orders") {
				if r.Method == http.MethodGet {
					window = append(window, writes[0].At.Sub(r.At).Seconds()*1000)
				}
			}
			w.Settled(b, id)
		}
		storetest.Budget{Unit: "ms/press-to-write-p50", Figure: percentile(landed, 50), Target: 100}.Report(b)
		storetest.Budget{Unit: "ms/read-to-write-p99", Figure: percentile(window, 99), Target: 25}.Report(b)
	}
}

func percentile(values []float64, p int) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

func benchOrder(i int) string {
	return apptest.Order(fmt.Sprint("B-", i), "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped", "quantity": i})
}

func acceptOrders(b *testing.B, w *apptest.World, n int) (ids []string) {
	b.Helper()
	for i := 0; i < n; i += 100 {
		ids = append(ids, postOrders(b, w, i, 100)...)
	}
	return ids
}

func postOrders(b *testing.B, w *apptest.World, from, n int) (ids []string) {
	b.Helper()
	status, answer := w.Call(b, 0, http.MethodPost, "/v1/writes", writesOf(from, n))
	require.Equal(b, http.StatusAccepted, status, "%v", answer)
	for _, w := range answer["writes"].([]any) {
		ids = append(ids, w.(apptest.Doc)["id"].(string))
	}
	return ids
}

// writesOf asks for n live writes.
func writesOf(from, n int) apptest.Doc {
	var writes []apptest.Doc
	for i := range n {
		writes = append(writes, apptest.Doc{"source_system": "order-system", "payload": json.RawMessage(benchOrder(from + i))})
	}
	return apptest.Doc{"writes": writes}
}
