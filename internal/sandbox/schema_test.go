package sandbox_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// schemaOf gives the table as the schema API shows it, its fields by name.
func (w *world) schemaOf(table string) (string, map[string]map[string]any) {
	w.t.Helper()
	for _, raw := range w.send("GET", "/v0/meta/bases/"+baseID+"/tables", "").json()["tables"].([]any) {
		tj := raw.(map[string]any)
		if tj["name"] != table {
			continue
		}
		fields := map[string]map[string]any{}
		for _, f := range tj["fields"].([]any) {
			fields[f.(map[string]any)["name"].(string)] = f.(map[string]any)
		}
		return tj["id"].(string), fields
	}
	w.t.Fatalf("no table %s", table)
	return "", nil
}

func TestSchemaDescribesEveryField(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	accounts, accountFields := w.schemaOf("Accounts")
	_, fields := w.schemaOf("Orders")
	require.NotContains(t, fields["Notes"], "options", "plain types have none")
	require.Equal(t, "multilineText", fields["Notes"]["type"])
	status := fields["Status"]["options"].(map[string]any)["choices"].([]any)
	require.Len(t, status, 3)
	require.Equal(t, "Pending", status[0].(map[string]any)["name"])
	require.Regexp(t, `^sel[0-9A-Za-z]{14}$`, status[0].(map[string]any)["id"])
	require.Empty(t, cmp.Diff(map[string]any{"linkedTableId": accounts, "isReversed": false, "prefersSingleRecordLink": false,
		"inverseLinkFieldId": accountFields["Orders"]["id"]}, fields["Account"]["options"]))
	guard := fields["Delivery Date Changed At"]
	require.Equal(t, "lastModifiedTime", guard["type"])
	require.Equal(t, []any{fields["Delivery Date"]["id"]}, guard["options"].(map[string]any)["referencedFieldIds"])
	require.Equal(t, []any{}, fields["Changed"]["options"].(map[string]any)["referencedFieldIds"], "none: any editable field")
	require.Equal(t, "{"+fields["Order ID"]["id"].(string)+"} & '/' & {"+fields["Status"]["id"].(string)+"}",
		fields["Label"]["options"].(map[string]any)["formula"])
	lookup := fields["Account Name"]["options"].(map[string]any)
	require.Equal(t, fields["Account"]["id"], lookup["recordLinkFieldId"])
	require.Equal(t, accountFields["Name"]["id"], lookup["fieldIdInLinkedTable"])
	require.Equal(t, "America/Los_Angeles", fields["Local Time"]["options"].(map[string]any)["timeZone"])
	require.Equal(t, number("5"), fields["Stars"]["options"].(map[string]any)["max"])
	visible := w.send("GET", "/v0/meta/bases/"+baseID+"/tables?include[]=visibleFieldIds", "").json()["tables"].([]any)[0].(map[string]any)
	require.Len(t, visible["views"].([]any)[0].(map[string]any)["visibleFieldIds"], len(accountFields))
	require.Equal(t, accountFields["Account ID"]["id"], visible["primaryFieldId"])
}

func TestIDsStayFromOneStartToTheNext(t *testing.T) {
	t.Parallel()
	first, second := newWorld(t, noLimits()), newWorld(t, noLimits())
	a, _ := first.schemaOf("Orders")
	b, _ := second.schemaOf("Orders")
	require.Equal(t, a, b)
}

func TestFieldsAreCreatedThroughTheSchemaAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	orders, _ := w.schemaOf("Orders")
	accounts, _ := w.schemaOf("Accounts")
	path := "/v0/meta/bases/" + baseID + "/tables/" + orders + "/fields"
	got := w.send("POST", path, `{"name":"Weight","type":"number","description":"kg","options":{"precision":3}}`).json()
	require.Equal(t, map[string]any{"id": got["id"], "name": "Weight", "type": "number", "description": "kg", "options": map[string]any{"precision": number("3")}}, got)
	require.Equal(t, number("1.5"), w.api("PATCH", order1, `{"fields":{"Weight":1.5}}`).fields()["Weight"])
	w.send("POST", path, `{"name":"Kind","type":"singleSelect","options":{"choices":[{"name":"a","color":"redBright"},{"name":"b"}]}}`).json()
	require.Equal(t, "b", w.api("PATCH", order1, `{"fields":{"Kind":"b"}}`).fields()["Kind"])
	w.send("POST", path, `{"name":"Payer","type":"multipleRecordLinks","options":{"linkedTableId":"`+accounts+`"}}`).json()
	w.api("PATCH", order1, `{"fields":{"Payer":["recAcme0000000001"]}}`).fields()
	require.Equal(t, []any{"recOrder000000001"}, w.api("GET", "/Accounts/recAcme0000000001", "").fields()["Orders 2"], "the other end is made, under a free name")

	for _, kind := range []string{"formula", "createdTime", "lastModifiedTime", "autoNumber", "rollup", "multipleLookupValues", "count", "button"} {
		w.send("POST", path, `{"name":"New","type":"`+kind+`"}`).fails(http.StatusUnprocessableEntity, "UNSUPPORTED_FIELD_TYPE_FOR_CREATE", "")
	}
	for body, kind := range map[string]string{
		`{"name":"Qty","type":"number"}`:              "DUPLICATE_OR_EMPTY_FIELD_NAME",
		`{"name":"New","type":"nonsense"}`:            "INVALID_REQUEST_UNKNOWN",
		`{"type":"number"}`:                           "INVALID_REQUEST_UNKNOWN",
		`{"name":"New","type":"multipleRecordLinks"}`: "INVALID_REQUEST_UNKNOWN",
		`{"name":"New","type":"singleSelect","options":{"choices":[{"name":"a"},{"name":"a"}]}}`: "INVALID_REQUEST_UNKNOWN",
	} {
		w.send("POST", path, body).fails(http.StatusUnprocessableEntity, kind, "")
	}
	_, fields := w.schemaOf("Orders")
	require.NotContains(t, fields, "New")
}

func TestFieldsAreChangedThroughTheSchemaAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	orders, fields := w.schemaOf("Orders")
	status := fields["Status"]
	path := "/v0/meta/bases/" + baseID + "/tables/" + orders + "/fields/" + status["id"].(string)
	delivered := status["options"].(map[string]any)["choices"].([]any)[2].(map[string]any)["id"].(string)
	got := w.send("PATCH", path, `{"name":"State","description":"d","options":{"choices":[{"id":"`+delivered+`","name":"Done"},{"name":"Open"}]}}`)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Equal(t, "Done", w.api("GET", order1, "").fields()["State"], "an option keeps its cells under a new name")
	require.NotContains(t, w.api("GET", "/Orders/recOrder000000002", "").fields(), "State", "an option that is gone takes them along")
	w.send("PATCH", path, `{}`).fails(http.StatusUnprocessableEntity, "INVALID_REQUEST_UNKNOWN", "")
	w.send("PATCH", path, `{"name":"Qty"}`).fails(http.StatusUnprocessableEntity, "DUPLICATE_OR_EMPTY_FIELD_NAME", "")
	require.Equal(t, http.StatusForbidden, w.send("PATCH", path[:len(path)-3]+"AAA", `{"name":"x"}`).status)
}

func TestTablesAreCreatedAndRenamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	path := "/v0/meta/bases/" + baseID + "/tables"
	got := w.send("POST", path, `{"name":"Extra","fields":[{"name":"Name","type":"singleLineText"},{"name":"On","type":"checkbox","options":{"icon":"check","color":"greenBright"}}]}`)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Equal(t, true, w.api("POST", "/Extra", `{"fields":{"On":true}}`).fields()["On"])
	require.Equal(t, http.StatusOK, w.send("PATCH", path+"/"+got.json()["id"].(string), `{"name":"More"}`).status)
	require.Len(t, w.api("GET", "/More", "").records(), 1)
	w.send("POST", path, `{"name":"More","fields":[{"name":"Name","type":"singleLineText"}]}`).fails(http.StatusUnprocessableEntity, "DUPLICATE_TABLE_NAME", "")
	w.send("POST", path, `{"name":"Bad","fields":[{"name":"Name","type":"formula"}]}`).fails(http.StatusUnprocessableEntity, "UNSUPPORTED_FIELD_TYPE_FOR_CREATE", "")
	require.Equal(t, http.StatusForbidden, w.api("GET", "/Bad", "").status)
}
