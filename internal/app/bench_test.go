package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// benchPace is the raised pace of benchmarks, in requests per second; ratios to it hold at any pace.
const benchPace = 20

func benchWorld(b *testing.B, pace int) *apptest.World {
	b.Helper()
	return apptest.New(b, apptest.Options{
		Config: strings.Replace(apptest.DefaultConfig, "requests_per_second: 200", fmt.Sprint("requests_per_second: ", pace), 1),
	})
}

// BenchmarkLiveWrites sends 1,000 live writes to distinct records. requests/write: target 0.21, floor
// 0.20 (a read and a write by tens). time/slots: pass time over the slots of its requests, target
// 1.15 for pairs alone, floor 1.10.
func BenchmarkLiveWrites(b *testing.B) {
	const n = 1000
	for b.Loop() {
		w := benchWorld(b, benchPace)
		start := time.Now()
		ids := acceptOrders(b, w, n)
		for _, id := range ids {
			require.Equal(b, "written", w.Decided(b, id)["status"])
		}
		elapsed := time.Since(start)
		requests := len(w.Sandbox.Requests())
		b.ReportMetric(float64(requests)/n, "requests/write")
		b.ReportMetric(elapsed.Seconds()*benchPace/float64(requests), "time/slots")
	}
}

// BenchmarkReplay replays 1,000 distinct clean entries as one run, without a mirror. requests/entry:
// target 0.21, floor 0.20; with the mirror 0.32 and 0.30.
func BenchmarkReplay(b *testing.B) {
	const n = 1000
	for b.Loop() {
		w := benchWorld(b, benchPace)
		var ids []string
		for i := range n {
			ids = append(ids, w.File(b, benchOrder(i), apptest.Doc{"operation": "upsert"}))
		}
		start := time.Now()
		run := w.Finished(b, w.RunIDs(b, nil, ids...))
		require.Equal(b, json.Number("1000"), run["counts"].(apptest.Doc)["replayed"])
		requests := len(w.Sandbox.Requests())
		b.ReportMetric(float64(requests)/n, "requests/entry")
		b.ReportMetric(time.Since(start).Seconds()*benchPace/float64(requests), "time/slots")
	}
}

// BenchmarkAcceptWrites posts live writes by hundreds, and does the same bare INSERT: cost/insert is
// the ratio of the two, target 3.
func BenchmarkAcceptWrites(b *testing.B) {
	const batches = 20
	for b.Loop() {
		w := apptest.New(b, apptest.Options{NoStart: true})
		start := time.Now()
		for i := range batches {
			postOrders(b, w, i*100, 100)
		}
		ours := time.Since(start)
		start = time.Now()
		for range batches {
			_, err := w.DB.Pool.Exec(b.Context(), `INSERT INTO write (id, source_system, base, target_table, target_id, operation, raw_payload)
				SELECT gen_random_uuid(), 'order-system', 'orders', 'Orders', 'X-' || n, 'upsert', convert_to($1, 'UTF8') FROM generate_series(1, 100) n`, benchOrder(1))
			require.NoError(b, err)
		}
		b.ReportMetric(float64(batches*100)/ours.Seconds(), "writes/s")
		b.ReportMetric(ours.Seconds()/time.Since(start).Seconds(), "cost/insert")
	}
}

// BenchmarkPress presses one clean entry on an idle base: from the press to the write that has landed,
// target 100 ms at p50.
func BenchmarkPress(b *testing.B) {
	w := benchWorld(b, 200)
	i := 0
	for b.Loop() {
		b.StopTimer()
		id := w.File(b, benchOrder(i), apptest.Doc{"operation": "upsert"})
		i++
		b.StartTimer()
		w.Replay(b, id, nil)
	}
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
	var writes []apptest.Doc
	for i := range n {
		writes = append(writes, apptest.Doc{"source_system": "order-system", "payload": json.RawMessage(benchOrder(from + i))})
	}
	status, answer := w.Call(b, 0, http.MethodPost, "/v1/writes", apptest.Doc{"writes": writes})
	require.Equal(b, http.StatusAccepted, status, "%v", answer)
	for _, w := range answer["writes"].([]any) {
		ids = append(ids, w.(apptest.Doc)["id"].(string))
	}
	return ids
}
