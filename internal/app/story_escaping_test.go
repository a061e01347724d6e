package app_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// requireKeyFound replays an upsert for a record whose key is hard to quote, among records whose keys
// differ from it by what bad quoting would lose: the one record is found, written once, and none is made.
func requireKeyFound(t *testing.T, keys ...string) {
	t.Helper()
	w := apptest.New(t, apptest.Options{})
	strip := strings.NewReplacer(`'`, ``, `"`, ``, `\`, ``, `+`, ` `, `%`, ``, `#`, ``)
	for _, key := range keys {
		for _, decoy := range []string{strip.Replace(key), key + `\`, `\` + key, strings.ToLower(key), key + "'"} {
			if decoy != key {
				w.Make(t, "Orders", apptest.Doc{"Order ID": decoy, "Status": "Pending"})
			}
		}
		id := w.Make(t, "Orders", apptest.Doc{"Order ID": key, "Status": "Pending", "Source Updated At": "2026-09-30T08:00:00Z"})
		before := len(records(t, w, "Orders"))
		w.Sandbox.ClearRequests()

		e := w.Replay(t, w.File(t, apptest.Order(key, "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), apptest.Doc{"operation": "upsert"}), nil)
		apptest.RequireOutcome(t, e, "replayed", "")
		require.Equal(t, id, apptest.Outcome(e)["record_id"])
		require.Equal(t, "Shipped", w.OrderCells(t, key)["Status"])
		require.Len(t, records(t, w, "Orders"), before)
		require.Equal(t, 1, w.Writes())
		require.Contains(t, formulas(t, w), airtable.EqualsAny("Order ID", []string{key}), "the formula arrives as it was built")
		for _, r := range w.Sandbox.Requests() {
			require.Equal(t, http.StatusOK, r.Status, "%s %s", r.Method, r.URI)
		}
	}
}

func records(t *testing.T, w *apptest.World, table string) []sandbox.Record {
	t.Helper()
	recs, err := w.Sandbox.Records(apptest.BaseID, table)
	require.NoError(t, err)
	return recs
}

// formulas are those of the listings in the log of requests, as a server decodes them.
func formulas(t *testing.T, w *apptest.World) []string {
	t.Helper()
	var out []string
	for _, r := range w.Sandbox.Requests() {
		query, err := url.ParseQuery(r.Query)
		require.NoError(t, err)
		out = append(out, query.Get("filterByFormula"))
	}
	return out
}

func TestB01ApostropheInTheKey(t *testing.T) {
	t.Parallel()
	requireKeyFound(t, `O'Brien`, `Men's Clothing`)
}

func TestB02DoubleQuotesInTheKey(t *testing.T) {
	t.Parallel()
	requireKeyFound(t, `He said "no"`, `J. "Jay" Pete`)
}

func TestB06CharactersThatURLEncodingLeavesAlone(t *testing.T) {
	t.Parallel()
	requireKeyFound(t, `(A+B) * 100%! #1 & more`)
}

func TestB14EveryQuoteIsEscaped(t *testing.T) {
	t.Parallel()
	requireKeyFound(t, `it's Bob's 5" and 6" pipe`, `\'"\\`)
}

func TestB09TableNameWithASlash(t *testing.T) {
	t.Parallel()
	tables := []string{"Institution/Location", "Q4/2026 Pipeline", "What? #1"}
	var seed, targets, sources strings.Builder
	for i, table := range tables {
		fmt.Fprintf(&seed, "- {name: %q, primary: Key, fields: [{name: Key, type: singleLineText}, {name: Name, type: singleLineText}, {name: Version, type: dateTime}]}\n", table)
		fmt.Fprintf(&targets, "T%d: {base: orders, table: %q, key: Key, version: {field: Version}, fields: {Name: {}}}\n", i, table)
		fmt.Fprintf(&sources, "s%d: {target: T%d, sends: full, id: account.id, version: updated_at, fields: {Name: account.name}}\n", i, i)
	}
	w := apptest.New(t, apptest.Options{
		Seed: apptest.SeedWith(seed.String()), Config: apptest.ConfigWith(t, apptest.Rules{Targets: targets.String(), Sources: sources.String()}),
	})
	for n, table := range tables {
		source := fmt.Sprintf("s%d", n)
		for i, way := range apptest.Ways() {
			got := w.Send(t, way, source, apptest.Account("A-1", fmt.Sprintf("2026-10-0%dT08:00:00Z", i+2), string(way)))
			require.True(t, got.Written, "%s: %s %s", way, got.Reason, got.Note)
			require.Equal(t, string(way), w.Cells(t, table, "Key", "A-1")["Name"])
		}
		require.Len(t, records(t, w, table), 1)

		// The 404 of a wrong URL does not say that the record was deleted.
		w.Fault(t, apptest.Answer(http.StatusNotFound, `{"error":"NOT_FOUND"}`))
		got := w.Send(t, apptest.Pressed, source, apptest.Account("A-1", "2026-10-09T08:00:00Z", "new"))
		require.Equal(t, "write_failed", got.Reason)
		require.NotContains(t, got.Note, "deleted")
	}
}

// The key is a lookup field, which Airtable answers as a list of one.
func TestB12KeyIsALookup(t *testing.T) {
	t.Parallel()
	seed := apptest.SeedWith(`
- name: Slips
  primary: Slip
  fields:
    - {name: Slip, type: singleLineText}
    - {name: Order, type: multipleRecordLinks, linked_table: Orders}
    - {name: Order ID (from Order), type: multipleLookupValues, link: Order, field: Order ID}
    - {name: Packed, type: checkbox}
    - {name: Version, type: dateTime}
  records:
    - {_id: recSlp00000000001, Slip: a, Order: [recOrd00000000001], Version: 2026-09-30T08:00:00Z}
    - {_id: recSlp00000000002, Slip: b, Order: [recOrd00000000002], Version: 2026-09-30T08:00:00Z}
`)
	config := apptest.ConfigWith(t, apptest.Rules{
		Targets: `Slips: {base: orders, table: Slips, key: Order ID (from Order), version: {field: Version}, fields: {Packed: {}}}`,
		Sources: `slip-system: {target: Slips, sends: full, id: slip.id, version: updated_at, fields: {Packed: slip.packed}}`,
	})
	w := apptest.New(t, apptest.Options{Seed: seed, Config: config})
	file := func(key string) string {
		return w.File(t, apptest.Payload("slip", key, "2026-10-02T08:00:00Z", apptest.Doc{"packed": true}), apptest.Doc{"source_system": "slip-system"})
	}
	e := w.Replay(t, file("O-2"), nil)
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Equal(t, "recSlp00000000002", apptest.Outcome(e)["record_id"])
	require.Len(t, w.CellChanges("recSlp00000000002", "Packed"), 1)
	apptest.RequireOutcome(t, w.Replay(t, file("O-3"), nil), "replay_failed", "no_match")
}

// No job of ours is unique, but arbitrary characters in keys still have to survive everywhere.
func TestB116ArbitraryKeys(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	rng := rand.New(rand.NewPCG(116, 0))
	keys := make([]string, 200)
	var writes []apptest.Doc
	for i := range keys {
		keys[i] = fmt.Sprint(i, randomText(rng))
		writes = append(writes, apptest.Doc{"source_system": "order-system", "payload": apptest.Order(keys[i], second, apptest.Doc{"status": "Shipped"})})
	}
	status, answer := w.Call(t, 0, "POST", "/v1/writes", apptest.Doc{"writes": writes})
	require.Equal(t, http.StatusAccepted, status, "%v", answer)
	for i, write := range answer["writes"].([]any) {
		require.Equal(t, "written", w.Decided(t, write.(apptest.Doc)["id"].(string))["status"], "%q", keys[i])
	}
	require.Len(t, records(t, w, "Orders"), 203)
	for _, r := range w.Requests("Orders") {
		require.Equal(t, http.StatusOK, r.Status)
	}

	ids := fileAll(t, w, keys[:40], third)
	run := w.Finished(t, w.RunIDs(t, nil, ids...))
	requireCounts(t, run["reconciliation"].(apptest.Doc), map[string]int{"created": 0, "unchanged": 40})
	require.Len(t, records(t, w, "Orders"), 203)
	for i, id := range ids {
		require.Equal(t, keys[i], w.Entry(t, id)["target_id"])
	}
}

func fileAll(t *testing.T, w *apptest.World, keys []string, version string) []string {
	t.Helper()
	var ids []string
	for _, key := range keys {
		ids = append(ids, w.File(t, apptest.Order(key, version, apptest.Doc{"status": "Shipped"}), apptest.Doc{"operation": "upsert"}))
	}
	return ids
}

// randomText is a few characters of any script, with those between that quoting trips over.
func randomText(rng *rand.Rand) string {
	const tricky = `'"\{}()%+&#/?, ` + "\u00a0\u200b\u2028"
	var b strings.Builder
	for range 1 + rng.IntN(12) {
		if rng.IntN(2) == 0 {
			b.WriteRune([]rune(tricky)[rng.IntN(len([]rune(tricky)))])
			continue
		}
		if r := rune(rng.IntN(0x20000)); unicode.IsPrint(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}
