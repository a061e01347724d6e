package sandbox_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func TestCreateAnswersOKWithTheWholeRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	a := w.api("POST", "/Orders", `{"fields":{"Order ID":"O-3","Status":"Pending","Qty":4}}`)
	require.Equal(t, http.StatusOK, a.status)
	require.True(t, strings.HasPrefix(a.body, `{"id":"rec`), a.body)
	got := a.json()
	require.Equal(t, "2026-10-04T12:00:00.000Z", got["createdTime"])
	require.Empty(t, cmp.Diff(map[string]any{
		"Order ID": "O-3", "Status": "Pending", "Qty": number("4"), "Number": number("3"), "Label": "O-3/Pending",
		"Ratio": number("0.25"), "Accounts Held": number("0"),
		"Created": "2026-10-04T12:00:00.000Z", "Changed": "2026-10-04T12:00:00.000Z",
		"Delivery Date Changed At": "2026-10-04T12:00:00.000Z",
		"Changed By":               got["fields"].(map[string]any)["Changed By"],
		"Open":                     map[string]any{"label": "Open", "url": "https://shop.example/O-3"},
	}, got["fields"]))
}

func TestCreateBatchKeepsTheOrderOfTheRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	var items []string
	for i := range 10 {
		items = append(items, fmt.Sprintf(`{"fields":{"Order ID":"B-%d"}}`, i))
	}
	body := `{"records":[` + strings.Join(items, ",") + `]}`
	for i, r := range w.api("POST", "/Orders", body).records() {
		require.Equal(t, fmt.Sprintf("B-%d", i), r["fields"].(map[string]any)["Order ID"])
	}
	eleven := `{"records":[` + strings.Join(append(items, items[0]), ",") + `]}`
	w.api("POST", "/Orders", eleven).fails(http.StatusUnprocessableEntity, "INVALID_RECORDS",
		"A maximum of 10 records can be created per request but you have provided 11.")
	require.Len(t, w.api("GET", "/Orders", "").records(), 12)
}

func TestPatchTouchesOnlyWhatItNamesAndPutClearsTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	got := w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"Qty":7}}`).fields()
	require.Equal(t, "Delivered", got["Status"])
	require.Equal(t, number("7"), got["Qty"])
	got = w.api("PUT", "/Orders/recOrder000000001", `{"fields":{"Order ID":"O-1","Qty":8}}`).fields()
	require.NotContains(t, got, "Status")
	require.NotContains(t, got, "Delivery Date")
	require.Equal(t, number("8"), got["Qty"])
}

func TestTablesAndFieldsAreNamedByNameOrID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	tables := w.send("GET", "/v0/meta/bases/"+baseID+"/tables", "").json()["tables"].([]any)
	orders := tables[1].(map[string]any)
	qty := orders["fields"].([]any)[3].(map[string]any)["id"].(string)
	body := fmt.Sprintf(`{"fields":{%q:3,"Status":"Shipped"},"returnFieldsByFieldId":true}`, qty)
	got := w.api("PATCH", "/"+orders["id"].(string)+"/recOrder000000001/?", body).fields()
	require.Equal(t, number("3"), got[qty])
	require.NotContains(t, got, "Qty")
}

func TestTableNameWithASlash(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Institution/Location", "Q4/2026 Pipeline", "What? #1", "100%"} {
		w := seededWorld(t, fmt.Sprintf("bases: [{id: %s, tokens: [%s], tables: [{name: %q, fields: [{name: A, type: singleLineText}]}]}]", baseID, token, name), noLimits())
		escaped := strings.NewReplacer("%", "%25", "/", "%2F", " ", "%20", "?", "%3F", "#", "%23").Replace(name)
		require.Equal(t, "x", w.api("POST", "/"+escaped, `{"fields":{"A":"x"}}`).fields()["A"])
		require.Len(t, w.control("GET", "/"+baseID+"/"+escaped, "").records(), 1)
		require.Equal(t, name, w.box.Requests()[0].Table)
	}
}

// A batch is all or nothing, and a refused one uses no autoNumber.
func TestOneBadRecordFailsTheBatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.api("POST", "/Orders", `{"records":[{"fields":{"Order ID":"good"}},{"fields":{"Order ID":"bad","Qty":"5"}}]}`).
		fails(http.StatusUnprocessableEntity, "INVALID_VALUE_FOR_COLUMN", `Field "Qty" cannot accept the provided value`)
	w.api("PATCH", "/Orders", `{"typecast":true,"records":[{"id":"recOrder000000001","fields":{"Status":"Brand New","Account":["Fresh"]}},{"id":"recOrder000000002","fields":{"Label":"x"}}]}`).
		fails(http.StatusUnprocessableEntity, "INVALID_VALUE_FOR_COLUMN", `Field "Label" cannot accept a value because the field is computed`)
	require.Empty(t, w.box.Changes())
	require.Len(t, w.api("GET", "/Accounts", "").records(), 2, "typecast created nothing")
	require.Equal(t, number("3"), w.api("POST", "/Orders", `{"fields":{}}`).fields()["Number"])
	w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"Status":"Brand New"}}`).
		fails(http.StatusUnprocessableEntity, "INVALID_MULTIPLE_CHOICE_OPTIONS", `Insufficient permissions to create new select option ""Brand New""`)
}

func TestBatchUpdateRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	const wording = `You must provide an array of up to 10 record objects, each with an "id" ID field and a "fields" object for cell values.`
	for _, body := range []string{
		`{"records":[]}`, `{"records":{}}`, `{}`, `{"records":[{"fields":{}}]}`, `{"records":[{"id":"recOrder000000001"}]}`,
		`{"records":[{"id":null,"fields":{}}]}`, `{"records":[{"id":"recOrder000000001","fields":[]}]}`,
		`{"records":[` + strings.Repeat(`{"id":"recOrder000000001","fields":{}},`, 10) + `{"id":"recOrder000000001","fields":{}}]}`,
	} {
		w.api("PATCH", "/Orders", body).fails(http.StatusUnprocessableEntity, "INVALID_RECORDS", wording)
	}
	w.api("PATCH", "/Orders", `{"records":[{"id":"recAAAAAAAAAAAAAA","fields":{}}]}`).
		fails(http.StatusUnprocessableEntity, "ROW_DOES_NOT_EXIST", "Record ID recAAAAAAAAAAAAAA does not exist in this table")
	w.api("PATCH", "/Orders", `{"records":[{"id":"recOrder000000001","fields":{"Qty":1}},{"id":"recOrder000000001","fields":{"Qty":2}}]}`).
		fails(http.StatusUnprocessableEntity, "INVALID_RECORDS", "You cannot update the same record multiple times in a single request.")
	require.Empty(t, w.box.Changes())
}

func TestBodyRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.api("POST", "/Orders", `{"fields":`).fails(http.StatusBadRequest, "INVALID_REQUEST_BODY", "Could not parse request body")
	w.api("POST", "/Orders", `[]`).fails(http.StatusBadRequest, "INVALID_REQUEST_BODY", "Could not parse request body")
	w.api("POST", "/Orders", `{}`).fails(http.StatusUnprocessableEntity, "INVALID_REQUEST_MISSING_FIELDS", `Could not find field "fields" in the request body`)
	w.api("POST", "/Orders", ``).fails(http.StatusUnprocessableEntity, "INVALID_REQUEST_MISSING_FIELDS", `Could not find field "fields" in the request body`)
	w.api("POST", "/Orders", `{"fields":{},"typecast":"yes"}`).fails(http.StatusUnprocessableEntity, "INVALID_REQUEST_UNKNOWN", "")
	w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"Statuss":"x","Qty":"bad"}}`).
		fails(http.StatusUnprocessableEntity, "UNKNOWN_FIELD_NAME", `Unknown field name: "Statuss"`)
	require.Equal(t, "a", w.api("POST", "/Orders", `{"fields":{"Order ID":"a"},"unheard":1}`).fields()["Order ID"])
}

func TestTypecastBelongsInTheBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.api("PATCH", "/Orders/recOrder000000001?typecast=true", `{"fields":{"Status":"Blue"}}`).
		fails(http.StatusUnprocessableEntity, "INVALID_MULTIPLE_CHOICE_OPTIONS", `Insufficient permissions to create new select option ""Blue""`)
	require.Equal(t, "Blue", w.api("PATCH", "/Orders/recOrder000000001", `{"typecast":true,"fields":{"Status":"Blue"}}`).fields()["Status"])
	require.Equal(t, "Blue", w.api("PATCH", "/Orders/recOrder000000002", `{"fields":{"Status":"Blue"}}`).fields()["Status"], "the option is there to stay")
}

func TestTypecastCreatesLinkedRecordsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	got := w.api("PATCH", "/Orders", `{"typecast":true,"records":[
		{"id":"recOrder000000001","fields":{"Account":["A-9","A-2"],"Tags":"new"}},{"id":"recOrder000000002","fields":{"Account":"A-9"}}]}`).records()
	first := got[0]["fields"].(map[string]any)["Account"].([]any)
	require.Equal(t, "recBolt0000000001", first[1])
	require.Equal(t, []any{first[0]}, got[1]["fields"].(map[string]any)["Account"])
	accounts := w.api("GET", "/Accounts", "").records()
	require.Len(t, accounts, 3)
	require.Equal(t, "A-9", accounts[2]["fields"].(map[string]any)["Account ID"])
	require.Equal(t, []any{"recOrder000000001", "recOrder000000002"}, accounts[2]["fields"].(map[string]any)["Orders"])
}

func TestDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.api("DELETE", "/Orders/recOrder000000002", "").is(http.StatusOK, `{"deleted":true,"id":"recOrder000000002"}`)
	require.NotContains(t, w.api("GET", "/Accounts/recAcme0000000001", "").fields(), "Orders", "links to it go with it")
	w.api("DELETE", "/Orders/recOrder000000002", "").fails(http.StatusNotFound, "MODEL_ID_NOT_FOUND", "Record not found")
	id := w.api("POST", "/Orders", `{"fields":{"Order ID":"O-2"}}`).json()["id"].(string)
	require.NotEqual(t, "recOrder000000002", id, "ids are never used again")
	w.api("DELETE", "/Orders?records[]="+id+"&records[]=recAAAAAAAAAAAAAA", "").fails(http.StatusNotFound, "MODEL_ID_NOT_FOUND", "Record not found")
	w.api("DELETE", "/Orders?records[]="+id+"&records[]=recOrder000000001", "").
		is(http.StatusOK, `{"records":[{"deleted":true,"id":"`+id+`"},{"deleted":true,"id":"recOrder000000001"}]}`)
	w.api("DELETE", "/Orders", "").fails(http.StatusUnprocessableEntity, "INVALID_RECORDS", "You must provide an array of up to 10 record IDs.")
}

func TestLinksMirrorEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	orders := func(id string) any { return w.api("GET", "/Accounts/"+id, "").fields()["Orders"] }
	w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"Account":["recAcme0000000001"]}}`).fields()
	require.Equal(t, []any{"recOrder000000002", "recOrder000000001"}, orders("recAcme0000000001"))
	w.api("PATCH", "/Orders/recOrder000000002", `{"fields":{"Account":["recBolt0000000001"]}}`).fields()
	require.Equal(t, []any{"recOrder000000001"}, orders("recAcme0000000001"))
	require.Equal(t, []any{"recOrder000000002"}, orders("recBolt0000000001"))
	w.api("PATCH", "/Accounts/recBolt0000000001", `{"fields":{"Orders":[]}}`).fields()
	got := w.api("GET", "/Orders/recOrder000000002", "").fields()
	require.NotContains(t, got, "Account")
	require.NotContains(t, got, "Account Name")
	require.Equal(t, number("0"), got["Accounts Held"])
}
