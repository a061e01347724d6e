package app_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// B97: what a run replays keeps all that a single press keeps.
func TestB97RunKeepsWhatAPressKeeps(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	file := func(way string, i int) string {
		key := fmt.Sprint(way, "-", i)
		place(t, w, key)
		return w.File(t, apptest.Order(key, second, shipped), apptest.Doc{
			"assigned_owner": "zoe", "error_detail": "timed out", "first_attempt_at": apptest.Failed.Add(time.Duration(i) * time.Hour).Format(time.RFC3339),
		})
	}
	var single, block []string
	for i := range 3 {
		single, block = append(single, file("single", i)), append(block, file("block", i))
	}
	for _, id := range single {
		w.Replay(t, id, nil)
	}
	w.Finished(t, w.RunIDs(t, nil, block...))
	for i := range 3 {
		require.Empty(t, cmp.Diff(kept(t, w, single[i], "single"), kept(t, w, block[i], "block")))
	}
}

// kept is an entry without what must differ between two of them.
func kept(t *testing.T, w *apptest.World, id, way string) apptest.Doc {
	t.Helper()
	e := w.Entry(t, id)
	r := apptest.Outcome(e)
	for _, own := range []string{"id", "created_at", "updated_at", "dlq_record_id"} {
		delete(e, own)
	}
	for _, own := range []string{"run_id", "requested_at", "replayed_at", "record_id"} {
		require.NotEmpty(t, r[own])
		delete(r, own)
	}
	for _, text := range []string{"raw_payload", "target_id"} {
		e[text] = strings.ReplaceAll(e[text].(string), way, "way")
	}
	var events []any
	for _, line := range w.History(t, id) {
		events = append(events, []any{line["event"], line["from_status"], line["to_status"], line["actor"], line["outcome"]})
	}
	e["history"] = events
	return e
}

// B94: a press on an entry whose record has a live write under way is taken; the live write goes first, and
// the check decides from what it left.
func TestB94PressBesideALiveWrite(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	write := w.Accept(t, "order-system", apptest.Order("O-1", third, apptest.Doc{"status": "Delivered"}))
	id := w.File(t, apptest.Order("O-1", second, shipped), nil)
	w.Press(t, id, nil)
	w.Start(t, 0)
	require.Equal(t, "written", w.Decided(t, write)["status"])
	apptest.RequireOutcome(t, w.Settled(t, id), "superseded", "newer_from_sender")
	require.Equal(t, "Delivered", w.OrderCells(t, "O-1")["Status"])
}

// B95: twenty failures with pages of two megabytes leave entry, answer and history small, and the next
// replay works.
func TestB95ManyLongFailures(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Times: 20, Status: 422, Body: []byte(`"` + strings.Repeat("<p>error</p>", 180_000) + `"`)})
	id := w.File(t, apptest.Order("O-1", second, shipped), nil)
	for range 20 {
		apptest.RequireOutcome(t, w.Replay(t, id, nil), "replay_failed", "write_failed")
	}
	require.Less(t, len(fmt.Sprint(w.Entry(t, id))), 12_000)
	for _, line := range w.History(t, id) {
		require.Less(t, len(fmt.Sprint(line)), 12_000)
	}
	require.Contains(t, apptest.Outcome(w.Entry(t, id))["error_detail"], "cut", "it says that it was cut")
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
}

// B108: claims that are not to be swept do not keep the sweeper from one that is.
func TestB108SweeperPassesOverWhatWaits(t *testing.T) {
	t.Parallel()
	seed := apptest.DefaultSeed + `
  - id: appOtherSandbox001
    name: Other
    tokens: [patSandbox.full]
    tables:
      - name: Things
        primary: Thing ID
        fields:
          - {name: Thing ID, type: singleLineText}
          - {name: Name, type: singleLineText}
          - {name: Version, type: dateTime}
`
	config := apptest.ConfigWith(t, apptest.Rules{
		Targets: `Things: {base: other, table: Things, key: Thing ID, version: {field: Version}, fields: {Name: {}}}`,
		Sources: `thing-system: {target: Things, sends: full, id: thing.id, version: updated_at, fields: {Name: thing.name}}`,
	})
	config = apptest.Change(t, config, "\nbases:\n", "\nbases:\n  other: {id: appOtherSandbox001, api_url: SANDBOX, token: \"${AIRTABLE_TOKEN}\", token_owner: integrations}\n")
	w := apptest.New(t, apptest.Options{Seed: seed, Config: config, NoStart: true, SimulatedClock: true})
	for i := range 3 {
		w.Press(t, w.File(t, apptest.Order(fmt.Sprint("O-", i+1), second, shipped), nil), nil)
	}
	stuck := w.File(t, apptest.Payload("thing", "T-1", second, apptest.Doc{"name": "one"}), apptest.Doc{"source_system": "thing-system"})
	w.Press(t, stuck, nil)
	_, err := w.DB.Pool.Exec(t.Context(), `UPDATE base SET paused_until = replay_now() + interval '1 hour', pause_reason = 'busy' WHERE name = 'orders'`)
	require.NoError(t, err)
	w.Advance(t, 6*time.Minute)
	require.NoError(t, w.Apps[0].Replay.SweepStuck(t.Context()))
	apptest.RequireOutcome(t, w.Entry(t, stuck), "", "swept")
	list := w.Read(t, "/v1/entries?status=replaying")["entries"].([]any)
	require.Len(t, list, 3, "a paused base's entries are not stuck")
}

// B115: every process sweeps and looks for due work, one without workers too, and says when it last did.
func TestB115EveryProcessTicks(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	apptest.Eventually(t, func() bool {
		text := scrape(t, w)
		return strings.Contains(text, `airtable_replay_tick_success_timestamp_seconds{tick="sweep stuck entries"}`) &&
			strings.Contains(text, `airtable_replay_tick_success_timestamp_seconds{tick="wake due bases"}`)
	}, "the ticks are told of")
	require.Contains(t, scrape(t, w), `airtable_replay_base_halted{base="orders"} 0`)
}

func scrape(t *testing.T, w *apptest.World) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URLs[0]+"/metrics", nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(text)
}

// B118: a run goes on when the database cuts all connections, without a restart.
func TestB118LostDatabaseConnections(t *testing.T) {
	t.Parallel()
	config := apptest.Change(t, apptest.DefaultConfig, "requests_per_second: 200", "requests_per_second: 20")
	w := apptest.New(t, apptest.Options{Config: apptest.Change(t, config, "replay: {", "replay: {lease: 12s, ")})
	var ids []string
	for i := range 40 {
		place(t, w, fmt.Sprint("D-", i))
		ids = append(ids, w.File(t, apptest.Order(fmt.Sprint("D-", i), second, shipped), nil))
	}
	run := w.RunIDs(t, nil, ids...)
	for n := 1; n <= 3; n++ {
		apptest.Eventually(t, func() bool { return w.Writes() >= n }, "the run goes on")
		_, err := w.DB.Pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		require.NoError(t, err)
	}
	apptest.Eventually(t, func() bool {
		status, r := w.Call(t, 0, "GET", "/v1/runs/"+run, nil)
		return status == http.StatusOK && r["finished_at"] != nil
	}, "the run is over")
	requireCounts(t, w.Finished(t, run)["counts"].(apptest.Doc), map[string]int{"replayed": 40})
	status, _ := w.Call(t, 0, "GET", "/readyz", nil)
	require.Equal(t, http.StatusOK, status)
}
