package sandbox_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

// TestCellsRoundTrip writes each value and wants what reads back; null stands
// for an absent key.
func TestCellsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ field, written, read string }{
		{"Notes", `"  as sent ’ "`, `"  as sent ’ "`},
		{"Notes", `""`, `null`},
		{"Notes", `null`, `null`},
		{"Mail", `"not checked"`, `"not checked"`},
		{"Order ID", `"1970670598291982290"`, `"1970670598291982290"`},
		{"Story", `"#header\n* bullet"`, `"#header\n- bullet\n"`},
		{"Qty", `0`, `0`},
		{"Qty", `-0`, `0`},
		{"Qty", `9007199254740993`, `9007199254740992`},
		{"Qty", `540.8333333333334`, `540.8333333333334`},
		{"Qty", `1e3`, `1000`},
		{"Qty", `null`, `null`},
		{"Share", `33.3`, `33.3`},
		{"Share", `0`, `0`},
		{"Wait", `90.5`, `90.5`},
		{"Price", `12.345`, `12.345`},
		{"Stars", `5`, `5`},
		{"Active", `true`, `true`},
		{"Active", `false`, `null`},
		{"Active", `null`, `null`},
		{"Status", `"Shipped"`, `"Shipped"`},
		{"Status", `null`, `null`},
		{"Tags", `["blue","red"]`, `["blue","red"]`},
		{"Tags", `["red","red"]`, `["red"]`},
		{"Tags", `[]`, `null`},
		{"Delivery Date", `"2026-05-10"`, `"2026-05-10"`},
		{"Delivery Date", `"2026-05-10T23:30:00Z"`, `"2026-05-10"`},
		{"Source Updated At", `"2026-01-02T03:04:05.678Z"`, `"2026-01-02T03:04:05.678Z"`},
		{"Source Updated At", `"2026-01-02T03:04:05.6789Z"`, `"2026-01-02T03:04:05.678Z"`},
		{"Source Updated At", `"2026-01-02T03:04:05+02:00"`, `"2026-01-02T01:04:05.000Z"`},
		{"Source Updated At", `"2026-01-02"`, `"2026-01-02T00:00:00.000Z"`},
		{"Source Updated At", `1640520000000`, `"2021-12-26T12:00:00.000Z"`},
		{"Local Time", `"2026-07-01T00:00:00"`, `"2026-07-01T07:00:00.000Z"`},
		{"Code", `{"text":"0123","type":"ean13"}`, `{"text":"0123","type":"ean13"}`},
		{"Code", `{"text":"0123"}`, `{"text":"0123"}`},
		{"Owner", `{"id":"usrAAAAAAAAAAAAAA"}`, `{"id":"usrAAAAAAAAAAAAAA"}`},
		{"Team", `[{"email":"a@example.com"}]`, `[{"id":"usr3kAnIYyQL5XGZM","email":"a@example.com"}]`},
		{"Account", `["recBolt0000000001","recBolt0000000001"]`, `["recBolt0000000001"]`},
		{"Account", `[]`, `null`},
		{"Files", `[]`, `null`},
	} {
		t.Run(c.field+" "+c.written, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, noLimits())
			a := w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"`+c.field+`":`+c.written+`}}`)
			require.Equal(t, http.StatusOK, a.status, a.body)
			var got struct{ Fields map[string]json.RawMessage }
			require.NoError(t, json.Unmarshal([]byte(a.body), &got))
			read, present := got.Fields[c.field]
			if c.read == "null" {
				require.False(t, present, "an empty cell has no key: %s", read)
				return
			}
			if c.field == "Team" {
				require.Contains(t, string(read), `"email":"a@example.com"`)
				return
			}
			require.Equal(t, c.read, string(read))
		})
	}
}

func TestCellsRefuseWhatAirtableRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	before, err := w.box.Records(baseID, "Orders")
	require.NoError(t, err)
	refused := func(field, value, kind, message string) {
		t.Helper()
		w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"`+field+`":`+value+`}}`).fails(http.StatusUnprocessableEntity, kind, message)
	}
	for field, values := range map[string][]string{
		"Notes": {`5`, `true`, `["x"]`, `{}`}, "Story": {`5`},
		"Qty": {`"113034809"`, `{"cents":132325,"currency":"USD"}`, `true`, `""`}, "Price": {`"$1,323.25"`}, "Share": {`"5%"`}, "Wait": {`"1:30"`},
		"Stars": {`0`, `6`, `1.5`, `"3"`}, "Active": {`"true"`, `1`}, "Status": {`["Shipped"]`, `5`}, "Tags": {`"red"`, `[5]`},
		"Delivery Date": {`""`, `"10/5/2026"`, `5`, `"2026-02-30"`}, "Source Updated At": {`""`, `"yesterday"`, `true`, `1e30`},
		"Code": {`"0123"`, `{}`, `{"text":5}`}, "Owner": {`"usrAAAAAAAAAAAAAA"`, `{}`}, "Team": {`{}`, `[5]`},
	} {
		for _, value := range values {
			refused(field, value, "INVALID_VALUE_FOR_COLUMN", `Field "`+field+`" cannot accept the provided value`)
		}
	}
	for _, field := range []string{"Account Name", "Accounts Held", "Account Names", "Label", "Number", "Created", "Changed", "Changed By", "Open"} {
		for _, value := range []string{`"x"`, `null`} {
			refused(field, value, "INVALID_VALUE_FOR_COLUMN", `Field "`+field+`" cannot accept a value because the field is computed`)
		}
	}
	for _, option := range []string{"Paid ", "shipped", "Shipped\u00a0", "Owner’s share", ""} {
		refused("Status", `"`+option+`"`, "INVALID_MULTIPLE_CHOICE_OPTIONS", `Insufficient permissions to create new select option ""`+option+`""`)
	}
	refused("Tags", `["red","pink"]`, "INVALID_MULTIPLE_CHOICE_OPTIONS", `Insufficient permissions to create new select option ""pink""`)
	for _, value := range []string{`"recAcme0000000001"`, `["user_42"]`, `[5]`, `{}`} {
		refused("Account", value, "INVALID_VALUE_FOR_COLUMN", "Value is not an array of record IDs.")
	}
	refused("Account", `["recAAAAAAAAAAAAAA"]`, "ROW_DOES_NOT_EXIST", "Record ID recAAAAAAAAAAAAAA does not exist in this table")
	for _, value := range []string{`["https://files.example.test/a.pdf"]`, `"x"`, `[{"url":"a.pdf"}]`, `[{"id":"attAAAAAAAAAAAAAA"}]`} {
		refused("Files", value, "INVALID_ATTACHMENT_OBJECT", "Invalid attachment object for field Files")
	}
	after, err := w.box.Records(baseID, "Orders")
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Empty(t, w.box.Changes())
}

func TestNullClearsEveryWritableType(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	full := `{"Order ID":"x","Status":"Pending","Tags":["red"],"Qty":1,"Price":1,"Share":1,"Wait":1,"Stars":1,"Active":true,
		"Delivery Date":"2026-01-01","Source Updated At":"2026-01-01T00:00:00Z","Local Time":"2026-01-01","Notes":"n","Story":"s",
		"Mail":"m","Files":[{"url":"https://files.example.test/a.pdf"}],"Code":{"text":"1"},"Owner":{"email":"a@b.c"},
		"Team":[{"email":"a@b.c"}],"Account":["recAcme0000000001"]}`
	got := w.api("PATCH", "/Orders/recOrder000000001", `{"fields":`+full+`}`).fields()
	var sent map[string]any
	require.NoError(t, json.Unmarshal([]byte(full), &sent))
	for name := range sent {
		require.Contains(t, got, name)
		sent[name] = nil
	}
	body, err := encodeFields(sent)
	require.NoError(t, err)
	got = w.api("PATCH", "/Orders/recOrder000000001", body).fields()
	for name := range sent {
		if name == "Story" {
			require.Equal(t, "\n", got[name], "rich text leaves a line end behind")
			continue
		}
		require.NotContains(t, got, name)
	}
}

func TestTypecastReadsText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	got := w.api("PATCH", "/Orders/recOrder000000001", `{"typecast":true,"fields":{"Qty":"1,323.25","Share":"5%","Active":"checked",
		"Notes":1970670598291982290,"Tags":"red"}}`).fields()
	require.Equal(t, number("1323.25"), got["Qty"])
	require.Equal(t, number("0.05"), got["Share"])
	require.Equal(t, true, got["Active"])
	require.Equal(t, "1970670598291982290", got["Notes"])
	require.Equal(t, []any{"red"}, got["Tags"])
}

func TestPeopleOfTheBase(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, `
bases:
  - id: appOrdersSandbox01
    tokens: [patSandbox.full]
    people: [{id: usrAda00000000001, name: Ada, email: ada@example.com}]
    tables: [{name: T, fields: [{name: A, type: singleLineText}, {name: Who, type: singleCollaborator}, {name: By, type: lastModifiedBy}]}]
`, noLimits())
	got := w.api("POST", "/T", `{"fields":{"Who":{"email":"ada@example.com"}}}`)
	require.Equal(t, map[string]any{"id": "usrAda00000000001", "name": "Ada", "email": "ada@example.com"}, got.fields()["Who"])
	w.api("POST", "/T", `{"fields":{"Who":{"id":"usrAAAAAAAAAAAAAA"}}}`).
		fails(http.StatusUnprocessableEntity, "INVALID_VALUE_FOR_COLUMN", `Field "Who" cannot accept the provided value`)
	id := got.json()["id"].(string)
	_, err := w.box.Edit(sandbox.Edit{Base: baseID, Table: "T", Record: id, Fields: map[string]any{"A": "x"}, By: "Ada"})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"id": "usrAda00000000001", "name": "Ada", "email": "ada@example.com"},
		w.api("GET", "/T/"+id, "").fields()["By"])
}

func TestTextLimitCountsUTF16Units(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	write := func(text string) answer { return w.api("POST", "/Orders", `{"fields":{"Notes":"`+text+`"}}`) }
	require.Equal(t, http.StatusOK, write(strings.Repeat("a", 100_000)).status)
	require.Equal(t, http.StatusOK, write(strings.Repeat("🙂", 50_000)).status)
	write(strings.Repeat("a", 100_001)).fails(http.StatusUnprocessableEntity, "INVALID_VALUE_FOR_COLUMN", "")
}
