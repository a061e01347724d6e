package app_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// Keys that are numbers in Airtable are looked up, linked and created as numbers.
func TestStoryNumberKeys(t *testing.T) {
	t.Parallel()
	seed := apptest.SeedWith(`
- name: Parts
  primary: Part
  fields:
    - {name: Part, type: number}
    - {name: Name, type: singleLineText}
    - {name: Version, type: dateTime}
  records:
    - {_id: recPrt00000000001, Part: 42, Name: bolt, Version: 2026-09-30T08:00:00Z}
    - {_id: recPrt00000000002, Part: 4.2, Name: nut, Version: 2026-09-30T08:00:00Z}
- name: Boxes
  primary: Box
  fields:
    - {name: Box, type: number}
    - {name: Parts, type: multipleRecordLinks, linked_table: Parts}
    - {name: Version, type: dateTime}
`)
	config := apptest.ConfigWith(t, apptest.Rules{
		Targets: `
Parts: {base: orders, table: Parts, key: Part, version: {field: Version}, fields: {Name: {}}}
Boxes: {base: orders, table: Boxes, key: Box, version: {field: Version}, fields: {Parts: {link: Parts}}}
`,
		Sources: `
part-system: {target: Parts, sends: full, id: part.id, version: updated_at, fields: {Name: part.name}}
box-system: {target: Boxes, sends: full, id: part.id, version: updated_at, fields: {Parts: part.parts}}
`,
	})
	w := apptest.New(t, apptest.Options{Seed: seed, Config: config})
	payload := func(id any, fields apptest.Doc, day int) string {
		b, err := json.Marshal(apptest.Doc{"updated_at": fmt.Sprintf("2026-10-0%dT08:00:00Z", day), "part": merge(fields, apptest.Doc{"id": id})})
		require.NoError(t, err)
		return string(b)
	}
	for i, numbersEqualText := range []bool{false, true} {
		require.NoError(t, w.Sandbox.SetOptions(func(o *sandbox.Options) { o.NumberEqualsText = numbersEqualText }))
		for j, id := range []any{42, "42"} {
			got := w.Send(t, apptest.Pressed, "part-system", payload(id, apptest.Doc{"name": fmt.Sprint("bolt ", i, j)}, 2+2*i+j))
			require.True(t, got.Written, got.Note)
			require.Equal(t, "recPrt00000000001", apptest.Outcome(got.Entry)["record_id"])
		}
		made := w.Send(t, apptest.Live, "box-system", payload(100+i, apptest.Doc{"parts": []any{42, "4.2"}}, 2))
		require.True(t, made.Written, made.Note)
	}
	require.Len(t, records(t, w, "Parts"), 2)
	for i, r := range records(t, w, "Boxes") {
		require.Equal(t, "[recPrt00000000001 recPrt00000000002]", fmt.Sprint(r.Fields["Parts"]))
		require.Equal(t, fmt.Sprint(100+i), number(r.Fields["Box"]))
	}
	for _, id := range []any{"042", "1e2", "42.0", "forty"} {
		got := w.Send(t, apptest.Live, "part-system", payload(id, apptest.Doc{"name": "x"}, 9))
		require.Equal(t, "invalid_value", got.Reason, "%v: two spellings of one number would be two keys", id)
	}
}

func merge(docs ...apptest.Doc) apptest.Doc {
	out := apptest.Doc{}
	for _, d := range docs {
		for k, v := range d {
			out[k] = v
		}
	}
	return out
}

// A linked key that several records bear is no link at all.
func TestStoryLinkThatIsAmbiguous(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	w.Make(t, "Accounts", apptest.Doc{"Account ID": "A-1", "Name": "Acme again"})
	e := pressed(t, w, "O-1", second, apptest.Doc{"status": "Shipped", "account": "A-1"})
	apptest.RequireOutcome(t, e, "replay_failed", "multiple_matches")
	require.Contains(t, notes(e), "A-1")
	e = pressed(t, w, "O-2", second, apptest.Doc{"status": "Shipped", "account": nil})
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Zero(t, len(w.CellChanges("recOrd00000000001", "Status")))
}
