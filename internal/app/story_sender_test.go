package app_test

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

const timestamps = "{field: Version}"

// A newer change to one field says nothing about the others: an entry of a sender of changed fields is
// never superseded by a version alone (C1).
func TestStorySenderOfChangedFields(t *testing.T) {
	t.Parallel()
	config := stock{version: timestamps, source: "sends: changed_fields, version: at"}
	w := newStock(t, config, apptest.Options{})
	old := item(t, "S-1", apptest.Doc{"at": "2026-09-29T08:00:00Z", "price": 11, "shelf": "B"})
	live := w.Send(t, apptest.Live, "stock-system", old)
	require.Equal(t, "dead_lettered", live.Outcome)
	require.Equal(t, "out_of_order", live.Reason)
	id := live.Entry["id"].(string)
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "needs_review", "newer_from_sender")
	require.Zero(t, w.Writes())

	// The reviewer insists: only what a guard shows to be unchanged is written.
	e := w.Replay(t, id, apptest.Doc{"mode": "unchanged_fields"})
	apptest.RequireOutcome(t, e, "partially_replayed", "newer_from_sender")
	require.Equal(t, map[string]any{"Price": "newer_from_sender"}, skippedBy(e))
	cells := stockCells(t, w, "S-1")
	require.Equal(t, "B", cells["Shelf"])
	require.Equal(t, "10", number(cells["Price"]))
	require.Equal(t, "2026-09-30T08:00:00.000Z", cells["Version"], "never lowered")

	for i, way := range apptest.Ways() {
		got := w.Send(t, way, "stock-system", item(t, "S-1", apptest.Doc{"at": fmt.Sprintf("2026-10-0%dT08:00:00Z", i+1), "price": 11 + i}))
		require.True(t, got.Written, got.Note)
	}
	cells = stockCells(t, w, "S-1")
	require.Equal(t, "13", number(cells["Price"]))
	require.Equal(t, "B", cells["Shelf"], "not in the payloads, not touched")
}

// Versions beyond 2^53 are told apart to the last digit where the field is text.
func TestStoryBigNumberVersions(t *testing.T) {
	t.Parallel()
	w := newStock(t, stock{version: "{field: Serial, kind: number, text: true}", source: "sends: full, version: serial"}, apptest.Options{})
	send := func(serial string, price int) apptest.Doc {
		id := fileItem(t, w, item(t, "S-1", apptest.Doc{"serial": json.Number(serial), "price": price}))
		require.Equal(t, serial, w.Entry(t, id)["source_version"])
		return w.Replay(t, id, nil)
	}
	apptest.RequireOutcome(t, send("9007199254740992", 11), "superseded", "newer_from_sender")
	apptest.RequireOutcome(t, send("9007199254740993", 12), "replayed", "")
	require.Equal(t, "9007199254740993", stockCells(t, w, "S-1")["Serial"])
	apptest.RequireOutcome(t, send("9007199254740993", 13), "superseded", "newer_from_sender")
	require.Equal(t, "12", number(stockCells(t, w, "S-1")["Price"]))
}

func TestStoryTieBreak(t *testing.T) {
	t.Parallel()
	w := newStock(t, stock{version: "{field: Version, tie_break: {field: Sequence}}", source: "sends: full, version: at, tie_break: seq"}, apptest.Options{})
	for _, c := range []struct {
		at      string
		seq     int
		outcome string
	}{
		{"2026-09-30T08:00:00Z", 4, "superseded"},
		{"2026-09-30T08:00:00Z", 5, "superseded"},
		{"2026-09-30T08:00:00Z", 6, "replayed"},
		{"2026-09-29T08:00:00Z", 9, "superseded"},
		{"2026-10-01T08:00:00Z", 1, "replayed"},
	} {
		e := w.Replay(t, fileItem(t, w, item(t, "S-1", apptest.Doc{"at": c.at, "seq": c.seq, "price": 20 + c.seq})), nil)
		require.Equal(t, c.outcome, apptest.Outcome(e)["outcome"], "%v", c)
	}
	cells := stockCells(t, w, "S-1")
	require.Equal(t, "1", number(cells["Sequence"]), "that of the newest, though it is lower")
	require.Equal(t, "21", number(cells["Price"]))
}

// An append-only target is keyed by the event; a row that is there is never written again (C7).
func TestStoryAppendOnly(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{"by ID": "id: sku", "by content": "id: {sha256: payload}"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := apptest.SeedWith(stockTable)
			config := apptest.ConfigWith(t, apptest.Rules{
				Targets: "Stock: {base: orders, table: Stock, key: SKU, append_only: true, fields: {Price: {}}}",
				Sources: "stock-system: {target: Stock, sends: full, " + source + ", fields: {Price: price}}",
			})
			w := apptest.New(t, apptest.Options{Seed: seed, Config: config})
			event := item(t, "E-1", apptest.Doc{"price": 11})
			require.True(t, w.Send(t, apptest.Live, "stock-system", event).Written)
			for way, outcome := range map[apptest.Way]string{apptest.Live: "stale", apptest.Batched: "superseded"} {
				got := w.Send(t, way, "stock-system", event)
				require.Equal(t, outcome, got.Outcome)
				require.Equal(t, "already_landed", got.Reason)
			}
			require.Equal(t, 1, w.Writes())
			require.Len(t, records(t, w, "Stock"), 3)

			other := item(t, "E-2", apptest.Doc{"price": 12})
			first := w.File(t, other, apptest.Doc{"source_system": "stock-system", "operation": "upsert"})
			second := w.File(t, other, apptest.Doc{"source_system": "stock-system", "operation": "upsert", "first_attempt_at": apptest.Failed.Add(time.Hour).Format(time.RFC3339)})
			run := w.Finished(t, w.RunIDs(t, nil, first, second))
			requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"replayed": 1, "superseded": 1})
			require.Len(t, records(t, w, "Stock"), 4)
		})
	}
}

// A missing version is never guessed (C5). S-2 has none on its record.
func TestStoryMissingVersions(t *testing.T) {
	t.Parallel()
	versioned := stock{version: timestamps, source: "sends: full, version: at"}
	allowed := stock{version: timestamps, target: "allow_blank_version: true,", source: "sends: full, version: at"}
	versionless := stock{version: timestamps, source: "sends: full"}
	at := apptest.Doc{"at": "2026-10-02T08:00:00Z", "price": 11, "shelf": "B"}
	none := apptest.Doc{"price": 11, "shelf": "B"}
	for name, c := range map[string]struct {
		config  stock
		sku     string
		members apptest.Doc
		reason  string // of the review; empty: the entry is replayed
		live    string // the live write's outcome
	}{
		"record without":          {versioned, "S-2", at, "blank_version", "written"},
		"record without, allowed": {allowed, "S-2", at, "", "written"},
		"payload without":         {versioned, "S-1", none, "no_version", "dead_lettered"},
		"sender without":          {versionless, "S-1", none, "no_version", "written"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newStock(t, c.config, apptest.Options{})
			id := fileItem(t, w, item(t, c.sku, c.members))
			e := w.Replay(t, id, nil)
			if c.reason == "" {
				apptest.RequireOutcome(t, e, "replayed", "")
				require.Equal(t, "2026-10-02T08:00:00.000Z", stockCells(t, w, c.sku)["Version"])
			} else {
				apptest.RequireOutcome(t, e, "needs_review", c.reason)
				require.Zero(t, w.Writes())
				e = w.Replay(t, id, apptest.Doc{"mode": "unchanged_fields"})
				apptest.RequireOutcome(t, e, "partially_replayed", c.reason)
				require.Equal(t, "B", stockCells(t, w, c.sku)["Shelf"])
				require.Equal(t, "10", number(stockCells(t, w, c.sku)["Price"]), "no guard shows that it is unchanged")
			}
			fresh := apptest.Doc{"SKU": "S-9", "Price": 10, "Shelf": "A"}
			if c.sku == "S-1" {
				fresh["Version"] = "2026-09-30T08:00:00Z"
			}
			w.Make(t, "Stock", fresh)
			require.Equal(t, c.live, w.Send(t, apptest.Live, "stock-system", item(t, "S-9", c.members)).Outcome)
		})
	}
}

// Unlike kinds of version are never compared (C1).
func TestStoryVersionsOfUnlikeKinds(t *testing.T) {
	t.Parallel()
	t.Run("payload", func(t *testing.T) {
		t.Parallel()
		w := newStock(t, stock{version: timestamps, source: "sends: full, version: at"}, apptest.Options{})
		e := w.Replay(t, fileItem(t, w, item(t, "S-1", apptest.Doc{"at": 1790928000, "price": 11})), nil)
		apptest.RequireOutcome(t, e, "replay_failed", "version_kind_mismatch")
		require.Zero(t, w.Writes())
	})
	t.Run("record", func(t *testing.T) {
		t.Parallel()
		w := newStock(t, stock{version: "{field: Serial, kind: number, text: true}", source: "sends: full, version: serial"}, apptest.Options{})
		w.Hand(t, "Stock", stockRecord, apptest.Failed.Add(-time.Hour), apptest.Doc{"Serial": "2026-09-30T08:00:00Z"})
		for _, way := range apptest.Ways() {
			got := w.Send(t, way, "stock-system", item(t, "S-1", apptest.Doc{"serial": 7, "price": 11, "way": way}))
			require.Equal(t, "version_kind_mismatch", got.Reason, got.Note)
			require.False(t, got.Written)
			status, _ := w.Call(t, 0, "POST", "/v1/entries/"+got.Entry["id"].(string)+"/ignore", apptest.Doc{"reason": "next"})
			require.Equal(t, http.StatusOK, status)
		}
		require.Zero(t, w.Writes())
	})
}

// Every write of ours marks the stamp field, so that one which landed unanswered is told for certain,
// whatever else was edited since and whether or not a version tells.
func TestStoryStampTellsALandedWrite(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"sends: full", "sends: full, version: at"} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			var w *apptest.World
			answered := onceAtAnswer(func() {
				w.Hand(t, "Stock", stockRecord, w.Sandbox.Now(), apptest.Doc{"Price": 99})
			})
			w = newStock(t, stock{version: timestamps, target: "stamp: Stamp,", source: source}, apptest.Options{Probe: answered})
			w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Status: 503, AfterApply: true})
			members := apptest.Doc{"price": 11}
			if source != "sends: full" {
				members["at"] = "2026-10-02T08:00:00Z"
			}
			got := w.Send(t, apptest.Live, "stock-system", item(t, "S-1", members))
			require.True(t, got.Written, got.Note)
			require.Equal(t, 1, w.Writes())
			cells := stockCells(t, w, "S-1")
			require.Equal(t, "99", number(cells["Price"]), "the person's value stays")
			require.Len(t, cells["Stamp"], 36, "the intent's ID")
		})
	}
}

// Two senders feed one record, each with a clock of its own: what one sent says nothing of the other.
func TestStoryTwoSendersOfOneRecord(t *testing.T) {
	t.Parallel()
	w := newStock(t, stock{
		version: timestamps, source: "sends: changed_fields, version: at",
		more: "shelf-system: {target: Stock, sends: full, id: sku, version: serial, version_field: {field: Serial, kind: number, text: true}, fields: {Shelf: shelf}}",
	}, apptest.Options{})
	price := fileItem(t, w, item(t, "S-1", apptest.Doc{"at": "2026-10-02T08:00:00Z", "price": 11}))
	shelf := w.File(t, item(t, "S-1", apptest.Doc{"serial": json.Number("9007199254740993"), "shelf": "B"}), apptest.Doc{"source_system": "shelf-system"})
	run := w.Finished(t, w.RunIDs(t, nil, price, shelf))
	requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"claimed": 2, "replayed": 2})
	cells := stockCells(t, w, "S-1")
	require.Equal(t, "11", number(cells["Price"]))
	require.Equal(t, "B", cells["Shelf"])
	require.Equal(t, "2026-10-02T08:00:00.000Z", cells["Version"])
	require.Equal(t, "9007199254740993", cells["Serial"])

	old := w.File(t, item(t, "S-1", apptest.Doc{"serial": json.Number("9007199254740992"), "shelf": "C"}), apptest.Doc{"source_system": "shelf-system"})
	apptest.RequireOutcome(t, w.Replay(t, old, nil), "superseded", "newer_from_sender")
	newer := fileItem(t, w, item(t, "S-1", apptest.Doc{"at": "2026-10-03T08:00:00Z", "price": 12}))
	apptest.RequireOutcome(t, w.Replay(t, newer, nil), "replayed", "")
}

// An invalid payload goes back with every fault named, the same that validation names beforehand (P3).
func TestStoryInvalidPayloadNamesEveryFault(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	payload := apptest.Order("O-3", "2026-10-02T08:00:00Z", apptest.Doc{"delivery_date": "soon", "quantity": "5", "note": 7})
	status, check := w.Call(t, 0, "POST", "/v1/validate", apptest.Doc{"source_system": "order-system", "payload": payload})
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, false, check["valid"])
	e := w.Replay(t, w.File(t, payload, nil), nil)
	apptest.RequireOutcome(t, e, "replay_failed", "invalid_value")
	require.Len(t, check["errors"], 4)
	for _, fault := range check["errors"].([]any) {
		f := fault.(apptest.Doc)
		require.Contains(t, apptest.Outcome(e)["notes"], fmt.Sprintf("%s: %s", f["field"], f["detail"]))
	}
	require.Empty(t, w.Requests("Orders"), "not even a read")
	only := w.File(t, apptest.Account("A-1", "2026-10-02T08:00:00Z", ""), apptest.Doc{"source_system": "account-system"})
	apptest.RequireOutcome(t, w.Replay(t, only, nil), "replay_failed", "validation_failed")
}
