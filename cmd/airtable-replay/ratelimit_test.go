package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// Retry case 1 with real processes and the real half minute: two replicas on one Postgres bring 40 writes
// to an emulator with Airtable's own limit and penalty, when somebody else's traffic uses the base up.
// Nothing is sent to it for 30 s after the 429; then all complete, and nothing twice (W3).
func TestRetryCase1WithRealProcesses(t *testing.T) {
	t.Parallel()
	seed := apptest.Change(t, apptest.DefaultSeed, "tokens: [patSandbox.full]", "tokens: [patSandbox.full, patOther.full]")
	emulator := start(t, nil, "sandbox", "--seed", write(t, "seed.yaml", seed), "--listen", "127.0.0.1:0", "--rate", "5", "--penalty", "30s")
	url := emulator.urls(t, 1)[0]
	s := newSite(t, url, "replay: {recovery_tick: 200ms}")
	s.retune(t, "requests_per_second: 200\n    retry: {attempts: 5, base_delay: 50ms, rate_limit_wait: 1s",
		"requests_per_second: 4\n    retry: {attempts: 5, base_delay: 2s, rate_limit_wait: 30s")
	s.serve(t)
	s.serve(t)

	ids := s.acceptNew(t, 0, 20)
	apptest.Eventually(t, func() bool { return s.Read(t, "/v1/writes/"+ids[0])["status"] == "written" }, "the work is under way")
	for status := http.StatusOK; status != http.StatusTooManyRequests; {
		status, _ = call(t, "GET", url+"/v0/"+apptest.BaseID+"/Accounts", "patOther.full", nil)
	}
	ids = append(ids, s.acceptNew(t, 20, 40)...)
	for _, id := range ids {
		apptest.Eventually(t, func() bool { return s.Read(t, "/v1/writes/"+id)["status"] == "written" }, "write "+id)
	}

	var log struct{ Requests []sandbox.Request }
	s.ask(t, url+"/_sandbox/requests", &log)
	var refused []time.Time
	for _, r := range log.Requests {
		if r.Token != "patSandbox" {
			continue
		}
		if n := len(refused); n > 0 {
			require.GreaterOrEqual(t, r.At.Sub(refused[n-1]), 30*time.Second, "%s %s", r.Method, r.Path)
		}
		if r.Status == http.StatusTooManyRequests {
			refused = append(refused, r.At)
		}
	}
	require.Len(t, refused, 1, "one request learns of it")
	var orders struct {
		Records []struct{ Fields apptest.Doc }
	}
	s.ask(t, url+"/_sandbox/"+apptest.BaseID+"/Orders", &orders)
	found := map[any]int{}
	for _, r := range orders.Records {
		found[r.Fields["Order ID"]]++
	}
	for i := range 40 {
		require.Equal(t, 1, found[fmt.Sprint("N-", i)])
	}
	require.Len(t, found, 3+40)
}

// acceptNew posts live writes of new orders with the numbers from..to in one request.
func (s *site) acceptNew(t *testing.T, from, to int) (ids []string) {
	t.Helper()
	var writes []apptest.Doc
	for i := from; i < to; i++ {
		payload := apptest.Order(fmt.Sprint("N-", i), "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"})
		writes = append(writes, apptest.Doc{"source_system": "order-system", "payload": json.RawMessage(payload)})
	}
	status, answer := s.Call(t, 0, "POST", "/v1/writes", apptest.Doc{"writes": writes})
	require.Equal(t, http.StatusAccepted, status, "%v", answer)
	for _, w := range answer["writes"].([]any) {
		ids = append(ids, w.(apptest.Doc)["id"].(string))
	}
	return ids
}

// ask reads what the emulator's control API tells.
func (s *site) ask(t *testing.T, url string, into any) {
	t.Helper()
	status, body := call(t, "GET", url, "", nil)
	require.Equal(t, http.StatusOK, status, body)
	require.NoError(t, json.Unmarshal([]byte(body), into))
}
