package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
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

// incident is a whole outage, replayed while the world goes on.
type incident struct {
	records, entries, edits, writes, faults int
	perSecond                               int
}

// A run over three dependent tables, while people edit, the sender goes on, requests fail and a replica
// dies: its totals add up and equal what the emulator saw, and nothing newer was overwritten (B2–B5).
func TestStoryIncident(t *testing.T) {
	t.Parallel()
	incident{records: 45, entries: 160, edits: 10, writes: 10, faults: 8, perSecond: 200}.play(t)
}

// BenchmarkIncident is TestStoryIncident at its full size: 5,000 entries over 1,200 records.
func BenchmarkIncident(b *testing.B) {
	for b.Loop() {
		incident{records: 1200, entries: 5000, edits: 100, writes: 100, faults: 50, perSecond: 1000}.play(b)
	}
}

// scene is an incident under way.
type scene struct {
	incident
	*apptest.World
	dice   *rand.Rand
	orders []string // keys of orders that were there before
	ids    map[string]string
	mu     sync.Mutex
	edited int
	chunks int
	died   bool
	grave  chan struct{}
	lives  map[string]string // the newest live write of each key, by ID
}

// versionAt is the sender's version of the i-th payload.
func versionAt(i int) string {
	return time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Second).Format(time.RFC3339)
}

func (in incident) play(t testing.TB) {
	s := &scene{incident: in, dice: rand.New(rand.NewPCG(5, 2026)), ids: map[string]string{}, grave: make(chan struct{}), lives: map[string]string{}}
	defer close(s.grave)
	config := apptest.Change(t, apptest.DefaultConfig, "replay: {", "replay: {lease: 12s, ")
	config = apptest.Change(t, config, "requests_per_second: 200", fmt.Sprint("requests_per_second: ", in.perSecond))
	s.World = apptest.New(t, apptest.Options{Replicas: 2, Config: config, Probe: s.disturb})
	s.setUp(t)
	s.file(t)
	status, run := s.Call(t, 0, "POST", "/v1/runs", apptest.Doc{"selector": apptest.Doc{"reason": "transient_exhausted"}, "requested_by": "ann"})
	require.Equal(t, http.StatusAccepted, status, "%v", run)
	s.goOn(t)
	done := s.over(t, run["id"].(string))
	s.judge(t, done)
}

// over waits for the end of a run for as long as it gets on, and holds its totals to their sum.
func (s *scene) over(t testing.TB, id string) (run apptest.Doc) {
	t.Helper()
	settled := ""
	for {
		before := settled
		deadline := time.Now().Add(2 * time.Minute)
		apptest.Eventually(t, func() bool {
			run = s.Read(t, "/v1/runs/"+id)
			settled = fmt.Sprint(run["counts"])
			return run["finished_at"] != nil || settled != before || time.Now().After(deadline)
		}, "the run gets on")
		if run["finished_at"] != nil {
			require.Equal(t, true, run["reconciliation"].(apptest.Doc)["balanced"], "%v", run)
			return run
		}
		require.NotEqual(t, before, settled, "the run stands still: %v", run)
	}
}

// setUp makes two thirds of the orders; the rest, all lines and most accounts are created by the run.
func (s *scene) setUp(t testing.TB) {
	for i := range s.records / 3 {
		key := fmt.Sprint("I-", i)
		if i%3 < 2 {
			s.ids[key] = s.Make(t, "Orders", apptest.Doc{"Order ID": key, "Status": "Pending", "Delivery Date": "2026-10-01", "Source Updated At": "2026-09-01T00:00:00Z"})
			s.orders = append(s.orders, key)
		}
	}
}

// file files the entries of the incident, of several payloads for a record.
func (s *scene) file(t testing.TB) {
	third := s.records / 3
	for i := range s.entries {
		k := s.dice.IntN(third)
		more := apptest.Doc{"operation": "upsert", "first_attempt_at": apptest.Failed.Add(time.Duration(i) * time.Millisecond).Format(time.RFC3339Nano)}
		var payload string
		switch i % 3 {
		case 0:
			more["source_system"] = "account-system"
			payload = apptest.Account(fmt.Sprint("I-", k), versionAt(i), fmt.Sprint("name ", i))
		case 1:
			fields := apptest.Doc{"status": []string{"Pending", "Shipped", "Delivered"}[s.dice.IntN(3)], "quantity": i, "account": fmt.Sprint("I-", s.dice.IntN(third))}
			if s.dice.IntN(2) == 0 {
				fields["delivery_date"] = fmt.Sprintf("2026-10-%02d", 1+s.dice.IntN(28))
			}
			payload = apptest.Order(fmt.Sprint("I-", k), versionAt(i), fields)
		default:
			more["source_system"] = "line-system"
			payload = apptest.Line(fmt.Sprint("I-", k), versionAt(i), apptest.Doc{"quantity": i, "order": fmt.Sprint("I-", s.dice.IntN(third))})
		}
		s.File(t, payload, more)
	}
}

// disturb edits a record by hand between two chunks, and kills the pass once.
func (s *scene) disturb(_ context.Context, step pass.Step, _ []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if step == pass.StepTaken {
		s.chunks++
		if s.edited < s.edits {
			s.edited++
			key := s.orders[s.dice.IntN(len(s.orders))]
			_, err := s.Sandbox.Edit(sandbox.Edit{
				Base: apptest.BaseID, Table: "Orders", Record: s.ids[key], By: "Paula", At: apptest.Failed.Add(24*time.Hour + time.Duration(s.edited)*time.Second),
				Fields: apptest.Doc{"Delivery Date": fmt.Sprintf("2026-12-%02d", 1+s.edited%28)},
			})
			if err != nil {
				panic(err)
			}
		}
	}
	if step == pass.StepIntended && s.chunks > 4 && !s.died {
		s.died = true
		s.mu.Unlock()
		<-s.grave
		s.mu.Lock()
	}
}

// goOn sends newer live writes and spoils requests while the run goes.
func (s *scene) goOn(t testing.TB) {
	for _, f := range []sandbox.Fault{
		{Status: 503}, {Status: 429}, {Drop: true}, {Drop: true, AfterApply: true}, {Status: 500, AfterApply: true},
	} {
		for i := range (s.faults + 4) / 5 {
			f.Times, f.Skip = 1, 3+i*7
			if f.AfterApply {
				f.Method = http.MethodPatch
			}
			s.Fault(t, f)
		}
	}
	for i := range s.writes {
		s.mu.Lock()
		key := s.orders[s.dice.IntN(len(s.orders))]
		s.mu.Unlock()
		payload := apptest.Order(key, versionAt(1_000_000+i), apptest.Doc{"status": "Delivered", "note": fmt.Sprint("live ", i)})
		s.lives[key] = s.Accept(t, "order-system", payload)
	}
}

func (s *scene) judge(t testing.TB, run apptest.Doc) {
	counts, totals := run["counts"].(apptest.Doc), run["reconciliation"].(apptest.Doc)
	require.Equal(t, fmt.Sprint(s.entries), fmt.Sprint(counts["claimed"]))
	require.Equal(t, "0", fmt.Sprint(counts["released"]), "%v", counts)
	require.True(t, s.died, "a pass died on the way")
	seen := s.changesSeen(t)
	require.Equal(t, fmt.Sprint(seen.created), fmt.Sprint(totals["created"]), "records made")
	require.Equal(t, fmt.Sprint(seen.updated), fmt.Sprint(totals["updated"]), "writes that changed a record: %v", totals)
	s.requireOneRecordEach(t)
	s.requireLiveWrites(t)
	t.Logf("%d entries, %d requests: %v %v", s.entries, len(s.Sandbox.Requests()), counts, totals)
}

// requireLiveWrites holds every record to its newest live write, but for one that met faults in all its attempts.
func (s *scene) requireLiveWrites(t testing.TB) {
	for key, id := range s.lives {
		write := s.Decided(t, id)
		if write["status"] == "dead_lettered" {
			require.Contains(t, write["reason"], "_exhausted", "%v", write)
			continue
		}
		require.Equal(t, "written", write["status"], "%v", write)
		require.Contains(t, s.OrderCells(t, key)["Note"], "live ", "the live write of %s stands", key)
		require.Equal(t, "Delivered", s.OrderCells(t, key)["Status"])
	}
}

// seen is what the emulator's log of cell changes says of the run.
type seen struct{ created, updated int }

// changesSeen counts the records that requests made and the writes that changed one, live writes aside, and
// holds every change to the promise: no version goes back, and no hand edit is written over.
func (s *scene) changesSeen(t testing.TB) (out seen) {
	type write struct {
		request int
		record  string
	}
	byHand := map[string]bool{}
	version := map[string]string{}
	made, changed, live := map[string]int{}, map[write]bool{}, map[write]bool{}
	for _, c := range s.Sandbox.Changes() {
		at := write{c.Request, c.Record}
		switch {
		case c.Table == "Dead Letter Queue":
		case c.Request == 0:
			byHand[c.Record] = byHand[c.Record] || c.By == "Paula" && c.Field == "Delivery Date" && c.Kind == "update"
		case c.Field == "Source Updated At":
			text := fmt.Sprint(c.New)
			require.GreaterOrEqual(t, text, version[c.Record], "the version of %s goes back", c.Record)
			version[c.Record] = text
		default:
			require.False(t, c.Field == "Delivery Date" && byHand[c.Record], "a hand edit of %s was overwritten with %v", c.Record, c.New)
			live[at] = live[at] || c.Field == "Note"
			if c.Kind == "create" {
				made[c.Record] = c.Request
			} else if made[c.Record] != c.Request {
				changed[at] = true
			}
		}
	}
	for at := range changed {
		if !live[at] {
			out.updated++
		}
	}
	out.created = len(made)
	return out
}

// requireOneRecordEach holds every table to one record for each key.
func (s *scene) requireOneRecordEach(t testing.TB) {
	for table, primary := range map[string]string{"Accounts": "Account ID", "Orders": "Order ID", "Order Lines": "Line ID"} {
		recs, err := s.Sandbox.Records(apptest.BaseID, table)
		require.NoError(t, err)
		held := map[string]bool{}
		for _, r := range recs {
			key := strings.TrimSpace(fmt.Sprint(r.Fields[primary]))
			require.False(t, held[key], "%s %s is there twice", table, key)
			held[key] = true
		}
	}
}
