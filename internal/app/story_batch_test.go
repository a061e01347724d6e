package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// Retry case 4: one record of ten is refused. Nine are written, one becomes an entry after one attempt
// (W6).
func TestRetryCase4OneBadRecordOfTen(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true, SimulatedClock: true, Replicas: 2})
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Contains: `"bad"`, Times: -1, Status: 422,
		Body: []byte(`{"error":{"type":"INVALID_VALUE_FOR_COLUMN","message":"Field \"Note\" cannot accept the provided value"}}`)})
	var writes []apptest.Doc
	for i := range 10 {
		note := map[bool]string{true: "bad", false: "good"}[i == 6]
		writes = append(writes, apptest.Doc{"source_system": "order-system", "payload": apptest.Order(fmt.Sprint("N-", i), second, apptest.Doc{"status": "Shipped", "note": note})})
	}
	status, answer := w.Call(t, 0, "POST", "/v1/writes", apptest.Doc{"writes": writes})
	require.Equal(t, http.StatusAccepted, status, "%v", answer)
	w.Start(t, 0)
	w.Start(t, 1)
	for i, accepted := range answer["writes"].([]any) {
		write := w.Decided(t, accepted.(apptest.Doc)["id"].(string))
		if i != 6 {
			require.Equal(t, "written", write["status"])
			continue
		}
		e := w.Entry(t, write["entry_id"].(string))
		require.Equal(t, "invalid_value", e["reason_code"])
		require.Equal(t, "422", number(e["status_code"]))
		require.Equal(t, "1", number(e["attempts"]))
	}
	require.Len(t, records(t, w, "Orders"), 3+9)
	require.Len(t, w.WriteRequests(), 1+10, "the batch, then each by itself")
}

// A batch that is too large for Airtable is taken apart before anything is dead-lettered.
func TestStoryRequestTooLarge(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	require.NoError(t, w.Sandbox.SetOptions(func(o *sandbox.Options) { o.BodyLimit = 4000 }))
	var ids []string
	for i := range 10 {
		key := fmt.Sprint("N-", i)
		place(t, w, key)
		note := strings.Repeat("a", map[bool]int{true: 5000, false: 1000}[i == 3])
		ids = append(ids, w.File(t, apptest.Order(key, second, apptest.Doc{"status": "Shipped", "note": note}), nil))
	}
	run := w.Finished(t, w.RunIDs(t, nil, ids...))
	requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"replayed": 9, "replay_failed": 1})
	apptest.RequireOutcome(t, w.Entry(t, ids[3]), "replay_failed", "payload_too_large")
}

// Ten keys that no URL can hold are looked up all the same.
func TestStoryKeysTooLongForAURL(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	var keys, ids []string
	for i := range 10 {
		keys = append(keys, fmt.Sprintf("%d %s", i, strings.Repeat(`é"'\`, 150)))
		place(t, w, keys[i])
	}
	ids = fileAll(t, w, keys, second)
	run := w.Finished(t, w.RunIDs(t, nil, ids...))
	requireCounts(t, run["reconciliation"].(apptest.Doc), map[string]int{"updated": 10, "created": 0})
	for _, r := range w.Requests("Orders") {
		require.Less(t, len(r.URI), 16_000)
		require.Equal(t, http.StatusOK, r.Status)
	}
}

// Keys that differ only in case are two records.
func TestStoryKeysThatDifferInCase(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	place(t, w, "aB-1")
	ids := fileAll(t, w, []string{"Ab-1", "aB-1"}, second)
	run := w.Finished(t, w.RunIDs(t, nil, ids...))
	requireCounts(t, run["reconciliation"].(apptest.Doc), map[string]int{"updated": 1, "created": 1})
	require.NotEqual(t, apptest.Outcome(w.Entry(t, ids[0]))["record_id"], apptest.Outcome(w.Entry(t, ids[1]))["record_id"])
}

// A rich text is given back rewritten; what we wrote still counts as ours, and as equal (C3).
func TestStoryRichText(t *testing.T) {
	t.Parallel()
	seed := apptest.SeedWith(`
- name: Letters
  primary: Letter ID
  fields:
    - {name: Letter ID, type: singleLineText}
    - {name: Body, type: richText}
    - {name: Body Changed At, type: lastModifiedTime, watches: [Body]}
    - {name: Version, type: dateTime}
  records:
    - {_id: recLtr00000000001, Letter ID: L-1, Body: "old", Version: 2026-09-30T08:00:00Z}
`)
	config := apptest.ConfigWith(t, apptest.Rules{
		Targets: `Letters: {base: orders, table: Letters, key: Letter ID, version: {field: Version}, fields: {Body: {shared: Body Changed At}}}`,
		Sources: `letter-system: {target: Letters, sends: full, id: letter.id, version: updated_at, fields: {Body: letter.body}}`,
	})
	w := apptest.New(t, apptest.Options{Seed: seed, Config: config})
	send := func(version string, body any) apptest.Doc {
		return w.Replay(t, w.File(t, apptest.Payload("letter", "L-1", version, apptest.Doc{"body": body}), apptest.Doc{"source_system": "letter-system"}), nil)
	}
	apptest.RequireOutcome(t, send(second, "# head\n* one"), "replayed", "")
	apptest.RequireOutcome(t, send(third, "# head\n* two"), "replayed", "")
	apptest.RequireOutcome(t, send("2026-10-04T08:00:00Z", "# head\n* two"), "replayed", "")
	require.Len(t, w.CellChanges("recLtr00000000001", "Body"), 2)
	apptest.RequireOutcome(t, send("2026-10-05T08:00:00Z", nil), "replayed", "")
	apptest.RequireOutcome(t, send("2026-10-06T08:00:00Z", nil), "replayed", "")
	require.Len(t, w.CellChanges("recLtr00000000001", "Body"), 3, "cleared once")
}
