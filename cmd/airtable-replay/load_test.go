package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// weather spoils some requests on their way: it answers 429 or 503 in Airtable's place, or cuts the
// connection before or after the request was served.
type weather struct {
	next  http.Handler
	mu    sync.Mutex
	dice  *rand.Rand
	spoil float64 // share of each kind
	spent int
	most  int // then the weather is fair
}

// ServeHTTP implements http.Handler.
func (w *weather) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	switch kind := w.roll(r); kind {
	case 0:
		rw.WriteHeader(http.StatusTooManyRequests)
	case 1:
		rw.WriteHeader(http.StatusServiceUnavailable)
	case 2:
		panic(http.ErrAbortHandler)
	case 3:
		w.next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	default:
		w.next.ServeHTTP(rw, r)
	}
}

func (w *weather) roll(r *http.Request) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.dice.Float64()
	if !strings.HasPrefix(r.URL.Path, "/v0/app") || w.spent >= w.most || at >= 4*w.spoil {
		return -1
	}
	w.spent++
	return int(at / w.spoil)
}

// Two thousand live writes over three hundred records through bad weather and the death of a replica:
// every write ends, there is one record for each key, each holds the newest version that was not
// dead-lettered, and the sandbox's limits were kept (L1, W2–W5).
func TestTwoThousandWritesThroughBadWeather(t *testing.T) {
	t.Parallel()
	seed, err := sandbox.ParseSeed([]byte(apptest.DefaultSeed))
	require.NoError(t, err)
	base, err := sandbox.New(seed, sandbox.Config{Rate: 5, Penalty: time.Second})
	require.NoError(t, err)
	t.Cleanup(base.Close)
	server := httptest.NewServer(&weather{next: base.Handler(), dice: rand.New(rand.NewPCG(4, 2026)), spoil: 0.02, most: 40})
	t.Cleanup(server.Close)
	s := newSite(t, server.URL, "replay: {lease: 12s, recovery_tick: 200ms}")
	s.retune(t, "requests_per_second: 200", "requests_per_second: 4")

	doomed := s.serve(t)
	s.serve(t)
	ids, newest := s.acceptMany(t, rand.New(rand.NewPCG(7, 2026)))
	require.NoError(t, doomed.cmd.Process.Signal(syscall.SIGKILL))

	dead := map[string]map[int]bool{}
	for i, id := range ids {
		var w apptest.Doc
		apptest.Eventually(t, func() bool {
			w = s.Read(t, "/v1/writes/"+id)
			return w["status"] != "queued"
		}, "write "+id+" ends")
		require.Contains(t, []any{"written", "stale", "dead_lettered"}, w["status"])
		if w["status"] == "dead_lettered" {
			key := fmt.Sprintf("L-%d", newest.keyOf[i])
			if dead[key] == nil {
				dead[key] = map[int]bool{}
			}
			dead[key][newest.versionOf[i]] = true
		}
	}
	s.requireNewest(t, base, newest, dead)
	for _, r := range base.Requests() {
		require.NotEqual(t, http.StatusTooManyRequests, r.Status, "the sandbox's own limit was passed")
	}
}

// sentWrites remembers what was sent, by position.
type sentWrites struct {
	keyOf, versionOf []int
	versions         map[string][]int
}

// acceptMany posts 2,000 writes over 300 keys in batches, versions rising but shuffled a little.
func (s *site) acceptMany(t *testing.T, dice *rand.Rand) (ids []string, sent sentWrites) {
	t.Helper()
	sent.versions = map[string][]int{}
	start := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	for batch := range 20 {
		var writes []apptest.Doc
		for n := range 100 {
			key, version := dice.IntN(300), (batch*100+n)*10+dice.IntN(400)
			at := start.Add(time.Duration(version) * time.Second).Format(time.RFC3339)
			name := fmt.Sprintf("L-%d", key)
			payload := apptest.Order(name, at, apptest.Doc{"status": "Shipped", "quantity": version})
			writes = append(writes, apptest.Doc{"source_system": "order-system", "payload": json.RawMessage(payload)})
			sent.keyOf, sent.versionOf = append(sent.keyOf, key), append(sent.versionOf, version)
			sent.versions[name] = append(sent.versions[name], version)
		}
		status, answer := s.Call(t, 0, http.MethodPost, "/v1/writes", apptest.Doc{"writes": writes})
		require.Equal(t, http.StatusAccepted, status, "%v", answer)
		for _, w := range answer["writes"].([]any) {
			ids = append(ids, w.(apptest.Doc)["id"].(string))
		}
	}
	return ids, sent
}

func (s *site) requireNewest(t *testing.T, base *sandbox.Sandbox, sent sentWrites, dead map[string]map[int]bool) {
	t.Helper()
	recs, err := base.Records(apptest.BaseID, "Orders")
	require.NoError(t, err)
	held := map[string]int{}
	for _, r := range recs {
		key := fmt.Sprint(r.Fields["Order ID"])
		if !strings.HasPrefix(key, "L-") {
			continue
		}
		require.NotContains(t, held, key, "one record for each key")
		var n int
		_, err := fmt.Sscan(fmt.Sprint(r.Fields["Quantity"]), &n)
		require.NoError(t, err)
		held[key] = n
	}
	for key, versions := range sent.versions {
		best := -1
		for _, v := range versions {
			if !dead[key][v] {
				best = max(best, v)
			}
		}
		require.Equal(t, best, held[key], "record %s", key)
	}
}

// retune changes one setting of the site's configuration file.
func (s *site) retune(t testing.TB, from, to string) {
	t.Helper()
	s.file = write(t, "replay.yaml", strings.ReplaceAll(s.text, from, to))
}
