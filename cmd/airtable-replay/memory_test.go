package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"
	"airtable-replay/internal/store/storetest"

	"github.com/stretchr/testify/require"
)

// BenchmarkMemoryOfRuns is the most memory that the service held while it replayed a run of 100,000 entries,
// and how that compares to a run of 1,000.
func BenchmarkMemoryOfRuns(b *testing.B) {
	for b.Loop() {
		small, large := residentAfter(b, 1_000), residentAfter(b, 100_000)
		storetest.Budget{Unit: "MB/run-of-100000", Figure: large / 1e6, Target: 80}.Report(b)
		storetest.Budget{Unit: "run-of-100000/of-1000", Figure: large / small, Target: 1.3, Floor: 1}.Report(b)
	}
}

// residentAfter replays a run in a process of its own and returns the most memory that it held, in bytes.
func residentAfter(b *testing.B, entries int) float64 {
	b.Helper()
	seed, err := sandbox.ParseSeed([]byte(apptest.DefaultSeed))
	require.NoError(b, err)
	base, err := sandbox.New(seed, sandbox.Config{})
	require.NoError(b, err)
	defer base.Close()
	server := httptest.NewServer(base.Handler())
	defer server.Close()
	s := newSite(b, server.URL, "replay: {recovery_tick: 200ms}")
	s.retune(b, "requests_per_second: 200", "requests_per_second: 10000")
	service := startFor(b, time.Hour, s.env, "serve", "--config", s.file, "--listen", "127.0.0.1:0", "--migrate")
	s.URLs = service.urls(b, 1)
	s.fill(b, entries)
	status, run := s.Call(b, 0, http.MethodPost, "/v1/runs", apptest.Doc{"selector": apptest.Doc{"reason": "other"}})
	require.Equal(b, http.StatusAccepted, status, "%v", run)
	for began := time.Now(); ; {
		run = s.Read(b, "/v1/runs/"+run["id"].(string))
		if run["finished_at"] != nil {
			break
		}
		require.Less(b, time.Since(began), time.Hour)
		<-time.After(time.Second)
	}
	require.Equal(b, fmt.Sprint(entries), fmt.Sprint(run["counts"].(apptest.Doc)["replayed"]), "%v", run)
	return peak(b, service.cmd.Process.Pid)
}

// fill files entries by one statement, each about an account of its own that is to be made.
func (s *site) fill(b *testing.B, n int) {
	b.Helper()
	_, err := s.db.Pool.Exec(b.Context(), `
		INSERT INTO entry (id, filing_key, source_system, base, target_table, target_id, operation, raw_payload, reason_code, version, version_sort, first_attempt_at)
		SELECT gen_random_uuid(), sha256(i::text::bytea), 'account-system', 'orders', 'Accounts', 'M-' || i, 'upsert',
			convert_to(json_build_object('account', json_build_object('id', 'M-' || i, 'name', 'name ' || i), 'updated_at', '2026-10-02T08:00:00Z')::text, 'UTF8'),
			'other', '', NULL, timestamptz '2026-10-02 09:00+00' FROM generate_series(1, $1::int) i`, n)
	require.NoError(b, err)
	_, err = s.db.Pool.Exec(b.Context(), `ANALYZE`)
	require.NoError(b, err)
}

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peak is the most memory that a process has held, in bytes.
func peak(b *testing.B, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(b, err)
	found := highWater.FindSubmatch(text)
	require.NotNil(b, found)
	kilobytes, err := strconv.Atoi(string(found[1]))
	require.NoError(b, err)
	return float64(kilobytes) * 1024
}
