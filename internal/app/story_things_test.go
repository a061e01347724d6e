package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// Things has a field of every kind that the stories about values need.
const thingsTable = `
- name: Things
  primary: Thing ID
  fields:
    - {name: Thing ID, type: singleLineText}
    - {name: Status, type: singleSelect, choices: [Paid, Done, "Owner's share"]}
    - {name: Qty, type: number}
    - {name: Amount, type: currency}
    - {name: Active, type: checkbox}
    - {name: Tags, type: multipleSelects, choices: [red, blue]}
    - {name: Notes, type: multilineText}
    - {name: Owner, type: multipleRecordLinks, linked_table: Accounts}
    - {name: Invoice PDF, type: multipleAttachments}
    - {name: Paid On, type: date}
    - {name: Due, type: date}
    - {name: Full Name, type: formula, formula: "{Notes} & '!'"}
    - {name: Created, type: createdTime}
    - {name: Version, type: dateTime}
  records:
    - {_id: recThg00000000001, Thing ID: T-1, ...}
    - {_id: recThg00000000002, Thing ID: T-2, ...}
    - {_id: recThg00000000003, Thing ID: T-3, ...}
`

// thingRecord is what the three things hold.
const thingRecord = `Status: Done, Qty: 1, Amount: 10, Active: true, Tags: [red], Notes: old, Owner: [recAcc00000000001], Paid On: 2026-09-01, Due: 2026-09-02, Version: 2026-09-30T08:00:00Z`

var thingRules = apptest.Rules{
	Targets: `
Things:
  base: orders
  table: Things
  key: Thing ID
  version: {field: Version, kind: timestamp}
  fields: {Status: {}, Qty: {}, Amount: {}, Active: {}, Tags: {}, Notes: {}, Owner: {}, Invoice PDF: {}, Paid On: {}, Due: {}, Full Name: {}, Created: {}}
`,
	Sources: `
thing-system:
  target: Things
  sends: full
  id: id
  version: updated_at
  fields: {Status: fields.Status, Qty: fields.Qty, Amount: fields.Amount, Active: fields.Active, Tags: fields.Tags, Notes: fields.Notes, Owner: fields.Owner, Invoice PDF: fields.Invoice PDF, Paid On: fields.Paid On, Due: fields.Due, Full Name: fields.Full Name, Created: fields.Created}
`,
}

func newThings(t *testing.T, o apptest.Options) *apptest.World {
	t.Helper()
	o.Seed = apptest.SeedWith(strings.ReplaceAll(thingsTable, "...", thingRecord))
	o.Config = apptest.ConfigWith(t, thingRules)
	return apptest.New(t, o)
}

// thing is a payload of the thing system; fields is the text of a JSON object, sent as it stands.
func thing(id, fields string) string {
	return fmt.Sprintf(`{"id":%q,"updated_at":"2026-10-02T08:00:00Z","fields":%s}`, id, fields)
}

func thingCells(t *testing.T, w *apptest.World, id string) apptest.Doc {
	t.Helper()
	return w.Cells(t, "Things", "Thing ID", id)
}

// requireRefused sends fields by all three ways: each refuses them with the reason and the texts before
// any write, and leaves the record as it is.
func requireRefused(t *testing.T, w *apptest.World, fields, reason string, texts ...string) {
	t.Helper()
	for i, way := range apptest.Ways() {
		id := fmt.Sprintf("T-%d", i+1)
		before := thingCells(t, w, id)
		writes := w.Writes()
		got := w.Send(t, way, "thing-system", thing(id, fields))
		require.False(t, got.Written, "%s of %s", way, fields)
		require.Equal(t, reason, got.Reason, "%s of %s: %s", way, fields, got.Note)
		for _, text := range texts {
			require.Contains(t, got.Note, text, "%s of %s", way, fields)
		}
		require.Equal(t, "pending_review", got.Entry["status"])
		require.Equal(t, writes, w.Writes(), "%s of %s", way, fields)
		require.Equal(t, before, thingCells(t, w, id))
		require.Equal(t, thing(id, fields), got.Entry["raw_payload"])
	}
}

// requireSent sends fields by all three ways: each writes exactly them, with the same bytes.
func requireSent(t *testing.T, w *apptest.World, fields string) {
	t.Helper()
	var want map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(fields), &want))
	for i, way := range apptest.Ways() {
		got := w.Send(t, way, "thing-system", thing(fmt.Sprintf("T-%d", i+1), fields))
		require.True(t, got.Written, "%s of %s: %s %s", way, fields, got.Reason, got.Note)
		writes := w.WriteRequests()
		last := writes[len(writes)-1]
		require.Equal(t, "PATCH", last.Method, "never PUT, which clears what it does not name")
		requireBody(t, last, want)
	}
}

// requireBody holds a write of one record to its fields, the version beside them.
func requireBody(t *testing.T, r sandbox.Request, want map[string]json.RawMessage) {
	t.Helper()
	records := sent(t, r)
	require.Len(t, records, 1)
	var got map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(records[0]["fields"], &got))
	require.JSONEq(t, `"2026-10-02T08:00:00.000Z"`, string(got["Version"]))
	delete(got, "Version")
	require.Equal(t, texts(want), texts(got))
}

func texts(fields map[string]json.RawMessage) map[string]string {
	out := map[string]string{}
	for name, value := range fields {
		out[name] = string(value)
	}
	return out
}
