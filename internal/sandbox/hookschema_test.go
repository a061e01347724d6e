package sandbox_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

// watch makes a webhook with these filters and includes, and returns its ID.
func (w *world) watch(filters, includes string) string {
	w.t.Helper()
	return w.makeHook(`{"specification":{"options":{"filters":{` + filters + `},"includes":{` + includes + `}}}}`)["id"].(string)
}

// told is the last payload of a webhook without what stands in every one.
func (w *world) told(hook string) map[string]any {
	w.t.Helper()
	payloads := w.payloads(hook)
	require.NotEmpty(w.t, payloads)
	last := payloads[len(payloads)-1]
	for _, key := range []string{"timestamp", "baseTransactionNumber", "payloadFormat", "actionMetadata"} {
		require.Contains(w.t, last, key)
		delete(last, key)
	}
	return last
}

func (w *world) meta(method, path, body string) map[string]any {
	w.t.Helper()
	a := w.send(method, "/v0/meta/bases/"+baseID+"/tables"+path, body)
	require.Equal(w.t, http.StatusOK, a.status, a.body)
	return a.json()
}

func TestWebhooksTellOfFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	table := w.tableID("Orders")
	hook := w.watch(`"dataTypes":["tableFields"]`, `"includePreviousFieldDefinitions":true`)
	plain := w.watch(`"dataTypes":["tableFields"],"changeTypes":["update"]`, "")
	change := func(key string, value any) map[string]any {
		return map[string]any{"changedTablesById": map[string]any{table: map[string]any{key: value}}}
	}

	id := w.meta("POST", "/"+table+"/fields", `{"name":"Colour","type":"singleSelect","options":{"choices":[{"name":"red"}]}}`)["id"].(string)
	require.Empty(t, cmp.Diff(change("createdFieldsById", map[string]any{id: map[string]any{"name": "Colour", "type": "singleSelect"}}), w.told(hook)))
	require.Empty(t, w.payloads(plain))

	w.meta("PATCH", "/"+table+"/fields/"+id, `{"name":"Color"}`)
	require.Empty(t, cmp.Diff(change("changedFieldsById", map[string]any{id: map[string]any{
		"current":  map[string]any{"name": "Color", "type": "singleSelect"},
		"previous": map[string]any{"name": "Colour", "type": "singleSelect"}}}), w.told(hook)))
	require.Empty(t, cmp.Diff(change("changedFieldsById", map[string]any{id: map[string]any{
		"current": map[string]any{"name": "Color", "type": "singleSelect"}}}), w.told(plain)))

	w.meta("PATCH", "/"+table+"/fields/"+id, `{"description":"of the box"}`)
	require.Len(t, w.payloads(hook), 3, "a description is part of a field")
	w.api("POST", "/Orders", `{"typecast":true,"fields":{"Color":"blue"}}`).fields()
	require.Len(t, w.payloads(hook), 4, "and so are the options that typecast adds")

	w.control("POST", "/fields", `{"base":"`+baseID+`","table":"Orders","field":"Color","rename_to":"Tint"}`)
	require.Equal(t, "client", w.payloads(hook)[4]["actionMetadata"].(map[string]any)["source"], "by hand")
	require.NoError(t, w.box.DeleteField(baseID, "Orders", "Tint"))
	require.Empty(t, cmp.Diff(change("destroyedFieldIds", []any{id}), w.told(hook)))
	require.Len(t, w.payloads(hook), 6)

	require.Error(t, w.box.DeleteField(baseID, "Orders", "Order ID"))
	w.send("PATCH", "/v0/meta/bases/"+baseID+"/tables/"+table+"/fields/Qty", `{"name":"Status"}`).fails(422, "DUPLICATE_OR_EMPTY_FIELD_NAME", "")
	w.api("POST", "/Orders", `{"fields":{"Qty":1}}`).fields()
	require.Len(t, w.payloads(hook), 6, "what was refused, and cells, are nothing to it")
}

func TestWebhooksTellOfBothEndsOfALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	hook := w.watch(`"dataTypes":["tableFields"]`, "")
	w.meta("POST", "/Orders/fields", `{"name":"Payer","type":"multipleRecordLinks","options":{"linkedTableId":"`+w.tableID("Accounts")+`"}}`)
	tables := w.told(hook)["changedTablesById"].(map[string]any)
	for _, name := range []string{"Orders", "Accounts"} {
		require.Len(t, tables[w.tableID(name)].(map[string]any)["createdFieldsById"], 1, name)
	}
}

func TestWebhooksTellOfTables(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	both := w.watch(`"dataTypes":["tableMetadata","tableFields"]`, "")
	metadata := w.watch(`"dataTypes":["tableMetadata"]`, "")
	orders := w.watch(`"dataTypes":["tableMetadata","tableFields"],"recordChangeScope":"`+w.tableID("Orders")+`"`, "")
	made := w.meta("POST", "", `{"name":"Notes","description":"of the day","fields":[{"name":"Title","type":"singleLineText"}]}`)
	id, title := made["id"].(string), made["primaryFieldId"].(string)
	info := map[string]any{"name": "Notes", "description": "of the day"}
	require.Empty(t, cmp.Diff(map[string]any{"createdTablesById": map[string]any{id: map[string]any{
		"metadata": info, "fieldsById": map[string]any{title: map[string]any{"name": "Title", "type": "singleLineText"}}}}}, w.told(both)))
	require.Empty(t, cmp.Diff(map[string]any{"createdTablesById": map[string]any{id: map[string]any{"metadata": info}}}, w.told(metadata)))

	w.meta("PATCH", "/"+id, `{"name":"Minutes"}`)
	renamed := map[string]any{"changedTablesById": map[string]any{id: map[string]any{"changedMetadata": map[string]any{
		"current": map[string]any{"name": "Minutes", "description": "of the day"}, "previous": info}}}}
	require.Empty(t, cmp.Diff(renamed, w.told(both)))
	require.Empty(t, cmp.Diff(renamed, w.told(metadata)))
	w.control("POST", "/tables", `{"base":"`+baseID+`","table":"Minutes","delete":true}`)
	require.Empty(t, cmp.Diff(map[string]any{"destroyedTableIds": []any{id}}, w.told(metadata)))
	require.Empty(t, w.payloads(orders), "another table is out of its scope")
	w.meta("PATCH", "/Orders", `{"description":"all of them"}`)
	require.Len(t, w.payloads(orders), 1)
}

func TestWebhookFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	orders, fields := w.schemaOf("Orders")
	accounts := w.tableID("Accounts")
	qty, status := fields["Qty"]["id"].(string), fields["Status"]["id"].(string)
	hooks := map[string]string{}
	for name, filters := range map[string]string{
		"data":     `"dataTypes":["tableData"]`,
		"fields":   `"dataTypes":["tableFields"]`,
		"all":      `"dataTypes":["tableData","tableFields","tableMetadata"]`,
		"orders":   `"dataTypes":["tableData"],"recordChangeScope":"` + orders + `"`,
		"accounts": `"dataTypes":["tableData"],"recordChangeScope":"` + accounts + `"`,
		"people":   `"dataTypes":["tableData"],"fromSources":["client"]`,
		"api":      `"dataTypes":["tableData","tableFields"],"fromSources":["publicApi","automation"]`,
		"adds":     `"dataTypes":["tableData"],"changeTypes":["add"]`,
		"qty":      `"dataTypes":["tableData"],"watchDataInFieldIds":["` + qty + `"]`,
		"shape":    `"dataTypes":["tableFields"],"watchSchemasOfFieldIds":["` + status + `"]`,
	} {
		hooks[name] = w.watch(filters, "")
	}
	counts := map[string]int{}
	heard := func(names ...string) {
		t.Helper()
		var got []string
		for name, id := range hooks {
			n := len(w.payloads(id))
			if n > counts[name] {
				got = append(got, name)
			}
			counts[name] = n
		}
		require.ElementsMatch(t, names, got)
	}
	w.api("PATCH", order1, `{"fields":{"Qty":3}}`).fields()
	heard("data", "all", "orders", "api", "qty")
	w.api("PATCH", order1, `{"fields":{"Notes":"x"}}`).fields()
	heard("data", "all", "orders", "api")
	_, err := w.box.Edit(sandbox.Edit{Base: baseID, Table: "Orders", Record: "recOrder000000001", Fields: map[string]any{"Qty": 4}})
	require.NoError(t, err)
	heard("data", "all", "orders", "people", "qty")
	w.send("POST", "/v0/"+baseID+"/Accounts", `{"fields":{"Account ID":"A-9"}}`).fields()
	heard("data", "all", "accounts", "api", "adds", "qty")
	w.meta("PATCH", "/Orders/fields/"+status, `{"name":"State"}`)
	heard("fields", "all", "api", "shape")
	require.NoError(t, w.box.RenameField(baseID, "Orders", "Notes", "Remarks"))
	heard("fields", "all")
}

// A webhook of a view hears of the records that stand in it, and is told so
// under the view.
func TestWebhookOfAView(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	table, view := w.tableID("Orders"), ""
	for _, raw := range w.meta("GET", "", "")["tables"].([]any) {
		for _, v := range raw.(map[string]any)["views"].([]any) {
			if v.(map[string]any)["name"] == "Shipped" {
				view = v.(map[string]any)["id"].(string)
			}
		}
	}
	hook := w.watch(`"dataTypes":["tableData"],"recordChangeScope":"`+view+`"`, "")
	w.api("PATCH", order1, `{"fields":{"Qty":1}}`).fields()
	require.Empty(t, w.payloads(hook))
	w.api("PATCH", order1, `{"fields":{"Status":"Shipped"}}`).fields()
	tables := w.told(hook)["changedTablesById"].(map[string]any)
	views := tables[table].(map[string]any)["changedViewsById"].(map[string]any)
	require.Contains(t, views[view].(map[string]any)["changedRecordsById"], "recOrder000000001")
	require.NotContains(t, tables[table], "changedRecordsById")
	w.api("DELETE", order1, "")
	require.Empty(t, cmp.Diff(map[string]any{"changedTablesById": map[string]any{table: map[string]any{"changedViewsById": map[string]any{
		view: map[string]any{"destroyedRecordIds": []any{"recOrder000000001"}}}}}}, w.told(hook)))
}

// Filters name what there is, by its ID; what goes away later breaks them.
func TestWebhookFiltersMustHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	for _, bad := range []string{
		`"dataTypes":[]`, `"dataTypes":["tableViews"]`, `"dataTypes":["tableData"],"changeTypes":["rename"]`,
		`"dataTypes":["tableData"],"fromSources":["nobody"]`,
	} {
		w.send("POST", "/v0/bases/"+baseID+"/webhooks", `{"specification":{"options":{"filters":{`+bad+`}}}}`).fails(422, "INVALID_REQUEST_UNKNOWN", "")
	}
	for _, missing := range []string{
		`"recordChangeScope":"Orders"`, `"recordChangeScope":"tblAAAAAAAAAAAAAA"`, `"watchDataInFieldIds":["Qty"]`, `"watchSchemasOfFieldIds":["fldAAAAAAAAAAAAAA"]`,
	} {
		w.send("POST", "/v0/bases/"+baseID+"/webhooks", `{"specification":{"options":{"filters":{"dataTypes":["tableData"],`+missing+`}}}}`).fails(422, "INVALID_FILTERS", "")
	}
	_, fields := w.schemaOf("Orders")
	hook := w.watch(fmt.Sprintf(`"dataTypes":["tableData"],"watchDataInFieldIds":[%q]`, fields["Qty"]["id"]), "")
	require.NoError(t, w.box.DeleteField(baseID, "Orders", "Qty"))
	w.api("PATCH", order1, `{"fields":{"Notes":"x"}}`).fields()
	payloads := w.payloads(hook)
	require.Len(t, payloads, 1)
	require.Equal(t, []any{true, "INVALID_FILTERS"}, []any{payloads[0]["error"], payloads[0]["code"]})
	listed := w.send("GET", "/v0/bases/"+baseID+"/webhooks", "").json()["webhooks"].([]any)
	require.Equal(t, false, listed[0].(map[string]any)["isHookEnabled"])
	w.api("PATCH", order1, `{"fields":{"Notes":"y"}}`).fields()
	require.Len(t, w.payloads(hook), 1, "it records nothing more")
}
