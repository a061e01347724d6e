package app_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// Values that Airtable would refuse are refused before the call, with one set of rules for live
// writes, presses and runs (mission P3).

func TestB16NumberSentAsAString(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	requireRefused(t, w, `{"Qty":"113034809"}`, "invalid_value", "Qty", "number", `"113034809"`)

	// Where the call is made all the same, Airtable's own words are kept.
	w.Fault(t, apptest.Answer(422, `{"error":{"type":"INVALID_VALUE_FOR_COLUMN","message":"Field \"Notes\" cannot accept the provided value"}}`))
	w.Make(t, "Things", apptest.Doc{"Thing ID": "T-9", "Version": "2026-09-30T08:00:00Z"})
	got := w.Send(t, apptest.Pressed, "thing-system", thing("T-9", `{"Notes":"new"}`))
	require.Equal(t, "invalid_value", got.Reason)
	require.Contains(t, apptest.Outcome(got.Entry)["error_detail"], `INVALID_VALUE_FOR_COLUMN: Field "Notes" cannot accept the provided value`)
	require.Equal(t, "422", number(apptest.Outcome(got.Entry)["status_code"]))
}

func TestB17MoneyObjectInsteadOfANumber(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	requireRefused(t, w, `{"Amount":{"cents":132325,"currency":"USD"}}`, "invalid_value", "Amount", "object")
	requireRefused(t, w, `{"Amount":"$1,323.25"}`, "invalid_value", "Amount", "$1,323.25")
}

func TestB21ComputedFieldsInThePayload(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	requireRefused(t, w, `{"Status":"Done","Full Name":"A B","Created":"2026-01-01T00:00:00.000Z"}`, "computed_field", "Full Name", "Created")
}

func TestB23OptionSpelledDifferently(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	for payload, near := range map[string]string{
		`"Paid "`:         `"Paid·"`,
		`"paid"`:          `"Paid"`,
		`"Owner’s share"`: `"Owner's share"`,
		`"Paid\u00a0"`:    `"Paid⍽"`,
	} {
		requireRefused(t, w, `{"Status":`+payload+`}`, "invalid_option", "Status", near)
	}
}

// No way mints an option: typecast is in no request, and Airtable's refusal, were it to come to that,
// is about one payload and halts nothing.
func TestB24TypecastOnNoPath(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	requireSent(t, w, `{"Status":"Paid"}`)
	w.Make(t, "Things", apptest.Doc{"Thing ID": "T-9", "Version": "2026-09-30T08:00:00Z"})
	w.Fault(t, apptest.Answer(422, `{"error":{"type":"INVALID_MULTIPLE_CHOICE_OPTIONS","message":"Insufficient permissions to create new select option \"\"Done\"\""}}`))
	got := w.Send(t, apptest.Pressed, "thing-system", thing("T-9", `{"Status":"Done"}`))
	require.Equal(t, "invalid_option", got.Reason)
	require.Equal(t, "running", w.Read(t, "/v1/bases")["bases"].([]any)[0].(apptest.Doc)["state"])
	for _, r := range w.Sandbox.Requests() {
		require.NotContains(t, r.Body+r.URI, "typecast")
	}
	requireRefused(t, w, `{"Status":"Blue"}`, "invalid_option", "Blue")
}

func TestB26LinkFieldGivenForeignIDs(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	requireRefused(t, w, `{"Owner":"recAAAAAAAAAAAAAA"}`, "invalid_value", "Owner")
	requireRefused(t, w, `{"Owner":["user_42"]}`, "invalid_value", "Owner", "user_42")

	w.Make(t, "Things", apptest.Doc{"Thing ID": "T-9", "Owner": []string{"recAcc00000000001"}, "Version": "2026-09-30T08:00:00Z"})
	id := w.File(t, thing("T-9", `{"Owner":[]}`), apptest.Doc{"source_system": "thing-system"})
	preview := w.Read(t, "/v1/entries/"+id+"/preview")
	require.Equal(t, "replayed", preview["outcome"])
	field := preview["fields"].([]any)[0].(apptest.Doc)
	require.Equal(t, "write", field["action"])
	require.Equal(t, []any{"recAcc00000000001"}, field["current"])
	require.Equal(t, []any{}, field["incoming"], "shown as a clear")
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
	require.NotContains(t, thingCells(t, w, "T-9"), "Owner")
}

func TestB27AttachmentsGivenAsStrings(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	requireRefused(t, w, `{"Invoice PDF":["https://files.example.test/a.pdf"]}`, "invalid_value", "Invoice PDF", `{"url": "https://…"`)
}

// Three different payloads, three different outcomes: refused, cleared, left alone.
func TestB30EmptyStringForADate(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	requireSent(t, w, `{"Notes":"new"}`)
	for _, id := range []string{"T-1", "T-2", "T-3"} {
		require.Equal(t, "2026-09-01", thingCells(t, w, id)["Paid On"])
	}
	w = newThings(t, apptest.Options{})
	requireSent(t, w, `{"Paid On":null}`)
	for _, id := range []string{"T-1", "T-2", "T-3"} {
		require.NotContains(t, thingCells(t, w, id), "Paid On")
	}
	requireRefused(t, w, `{"Paid On":""}`, "invalid_value", "Paid On", "send null")
}

func TestB32NothingButTheStoredKeysIsSent(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	requireSent(t, w, `{"Status":"Paid"}`)
	for _, id := range []string{"T-1", "T-2", "T-3"} {
		cells := thingCells(t, w, id)
		require.Equal(t, "old", cells["Notes"])
		require.Contains(t, cells, "Owner")
	}
}

func TestB34UpsertHasNoIDKey(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	for i, way := range apptest.Ways() {
		require.True(t, w.Send(t, way, "thing-system", thing("N-"+string(way), `{"Notes":"new"}`)).Written, way)
		writes := w.WriteRequests()
		require.Len(t, writes, i+1)
		for _, record := range sent(t, writes[i]) {
			require.NotContains(t, record, "id")
		}
		require.Contains(t, writes[i].Body, `"performUpsert":{"fieldsToMergeOn":["Thing ID"]}`)
	}
}

// Text is counted in UTF-16 code units, and never cut.
func TestB35LongText(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	requireRefused(t, w, `{"Notes":"`+strings.Repeat("a", 100_001)+`"}`, "payload_too_large", "Notes", "100001")
	requireRefused(t, w, `{"Notes":"`+strings.Repeat("😀", 60_000)+`"}`, "payload_too_large", "Notes", "120000")
	for _, text := range []string{strings.Repeat("a", 100_000), strings.Repeat("😀", 50_000)} {
		id := "N-" + strconv.Itoa(len(text))
		got := w.Send(t, apptest.Pressed, "thing-system", thing(id, `{"Notes":"`+text+`"}`))
		require.True(t, got.Written, got.Note)
		require.Equal(t, text, thingCells(t, w, id)["Notes"])
	}
}

func TestB37CalendarDateStaysItsDay(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	requireSent(t, w, `{"Due":"2026-05-10"}`)
	require.Equal(t, "2026-05-10", thingCells(t, w, "T-1")["Due"])
	later := `{"id":"T-1","updated_at":"2026-10-03T08:00:00Z","fields":{"Due":"2026-05-10"}}`
	id := w.File(t, later, apptest.Doc{"source_system": "thing-system"})
	preview := w.Read(t, "/v1/entries/"+id+"/preview")
	require.Equal(t, "same", preview["fields"].([]any)[0].(apptest.Doc)["action"], "%v", preview)
	run := w.Press(t, id, nil)
	apptest.RequireOutcome(t, w.Settled(t, id), "replayed", "")
	require.Equal(t, "2026-05-10", thingCells(t, w, "T-1")["Due"])
	require.Equal(t, later, w.Entry(t, id)["raw_payload"])
	require.Len(t, w.CellChanges("recThg00000000001", "Due"), 1)
	requireCounts(t, w.Finished(t, run)["reconciliation"].(apptest.Doc), map[string]int{"unchanged": 1, "updated": 0})
}

// A field renamed while the entry waited is named, and nothing is written through the rename.
func TestB38RenamedField(t *testing.T) {
	t.Parallel()
	for _, read := range []bool{true, false} {
		t.Run(map[bool]string{true: "the schema was read before", false: "never read"}[read], func(t *testing.T) {
			t.Parallel()
			w := newThings(t, apptest.Options{})
			if read {
				requireSent(t, w, `{"Notes":"before"}`)
			}
			require.NoError(t, w.Sandbox.RenameField(apptest.BaseID, "Things", "Status", "State"))
			for _, way := range apptest.Ways() {
				id := "T-" + string(way)
				w.Make(t, "Things", apptest.Doc{"Thing ID": id, "State": "Done", "Version": "2026-09-30T08:00:00Z"})
				writes := w.Writes()
				got := w.Send(t, way, "thing-system", thing(id, `{"Status":"Paid","Notes":"new"}`))
				require.Equal(t, "unknown_field", got.Reason, got.Note)
				require.Contains(t, got.Note, `no field "Status"`)
				if read {
					require.Contains(t, got.Note, `is now "State"`)
				}
				require.Equal(t, writes, w.Writes(), "no half write")
				require.Equal(t, "Done", thingCells(t, w, id)["State"])
			}
		})
	}
}

func TestB45EmptyPayload(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	for _, payload := range []string{`{}`, `{"fields":{}}`, ``, `{"id":"T-1","updated_at":"2026-10-02T08:00:00Z","fields":{}}`} {
		id := w.File(t, payload, apptest.Doc{"source_system": "thing-system"})
		e := w.Replay(t, id, nil)
		apptest.RequireOutcome(t, e, "replay_failed", "validation_failed")
		require.Contains(t, strings.ToLower(apptest.Outcome(e)["notes"].(string)), "nothing to write")
		require.Equal(t, payload, e["raw_payload"])
		status, e := w.Call(t, 0, "POST", "/v1/entries/"+id+"/ignore", apptest.Doc{"reason": "empty"})
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "ignored", e["status"])
	}
	require.Zero(t, w.Writes())
	list := w.Read(t, "/v1/entries?source=thing-system")
	require.Len(t, list["entries"], 4)
}
