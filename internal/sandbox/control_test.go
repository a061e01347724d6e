package sandbox_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

func TestChangesTellEveryCellThatChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.api("PATCH", order1, `{"fields":{"Status":"Delivered","Qty":2,"Account":["recAcme0000000001"]}}`).fields()
	w.pass(time.Second)
	id := w.control("POST", "/"+baseID+"/Orders", `{"fields":{"Order ID":"H-1","Notes":null},"by":"Ada"}`).json()["id"].(string)
	empty := w.api("POST", "/Orders", `{"fields":{}}`).json()["id"].(string)
	w.api("DELETE", "/Orders/"+id, "")
	first := sandbox.Change{At: start, Base: baseID, Table: "Orders", Record: "recOrder000000001", Kind: "update", By: "patSandbox", Request: 1}
	change := func(of sandbox.Change, field string, old, now any) sandbox.Change {
		of.Field, of.Old, of.New = field, old, now
		return of
	}
	other := first
	other.Table, other.Record = "Accounts", "recAcme0000000001"
	hand := sandbox.Change{At: start.Add(time.Second), Base: baseID, Table: "Orders", Record: id, Kind: "create", By: "Ada"}
	blank := sandbox.Change{At: start.Add(time.Second), Base: baseID, Table: "Orders", Record: empty, Kind: "create", By: "patSandbox", Request: 2}
	gone := sandbox.Change{At: start.Add(time.Second), Base: baseID, Table: "Orders", Record: id, Kind: "delete", By: "patSandbox", Request: 3}
	want := []sandbox.Change{
		change(first, "Qty", nil, 2.0),
		change(first, "Account", nil, []string{"recAcme0000000001"}),
		change(other, "Orders", []string{"recOrder000000002"}, []string{"recOrder000000002", "recOrder000000001"}),
		change(hand, "Order ID", nil, "H-1"),
		blank,
		change(gone, "Order ID", "H-1", nil),
	}
	require.Empty(t, cmp.Diff(want, w.box.Changes(), cmpopts.IgnoreFields(sandbox.Change{}, "Seq", "FieldID")))
	list := w.control("GET", "/changes?after=4", "").json()["changes"].([]any)
	require.Len(t, list, 2)
	require.Equal(t, number("5"), list[0].(map[string]any)["seq"])
	require.Nil(t, list[1].(map[string]any)["new"])
	require.Contains(t, list[1], "new")
}

func TestRequestsAreLogged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	body := `{"records":[{"id":"recOrder000000001","fields":{"Qty":1}},{"id":"recOrder000000002","fields":{"Qty":2}}]}`
	w.api("PATCH", "/Orders?x=%27y%27", body)
	w.api("GET", "/Orders", "")
	w.api("POST", "/Orders/listRecords", `{"pageSize":1}`)
	w.api("DELETE", "/Orders?records[]=recOrder000000001&records[]=recOrder000000002", "")
	w.send("GET", "/v0/appNope/Orders", "", "Authorization", "Bearer patOther.secret")
	log := w.control("GET", "/requests", "").json()["requests"].([]any)
	require.Len(t, log, 5)
	first := log[0].(map[string]any)
	require.Equal(t, map[string]any{"id": number("1"), "at": "2026-10-04T12:00:00Z", "method": "PATCH", "path": "/v0/" + baseID + "/Orders",
		"uri": "/v0/" + baseID + "/Orders?x=%27y%27", "query": "x=%27y%27", "base": baseID, "table": "Orders", "status": number("200"),
		"records": number("2"), "token": "patSandbox", "body": body}, first)
	var counts []json.Number
	for _, entry := range log {
		counts = append(counts, entry.(map[string]any)["records"].(json.Number))
	}
	require.Equal(t, []json.Number{"2", "0", "0", "2", "0"}, counts)
	last := log[4].(map[string]any)
	require.Equal(t, number("401"), last["status"])
	require.Equal(t, "patOther", last["token"])
	require.Len(t, w.control("GET", "/requests?after=3", "").json()["requests"], 2)
	w.control("DELETE", "/requests", "")
	require.Empty(t, w.box.Requests())
	w.api("GET", "/Orders", "")
	require.Equal(t, 6, w.box.Requests()[0].ID)
}

func TestHandEdits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	for _, c := range []struct {
		method, path, body string
		status             int
		reason             string
	}{
		{"PATCH", "/" + baseID + "/Orders/recNope", `{"fields":{}}`, 404, `table \"Orders\" has no record \"recNope\"`},
		{"GET", "/appNope/Orders", ``, 404, `base: there is none with the ID \"appNope\"`},
		{"GET", "/" + baseID + "/Nope", ``, 404, `has no table \"Nope\"`},
		{"POST", "/" + baseID + "/Orders", `{"fields":{"Label":"x"}}`, 422, "because the field is computed"},
		{"POST", "/" + baseID + "/Orders", `{"fields":{"Nope":"x"}}`, 422, "UNKNOWN_FIELD_NAME"},
		{"POST", "/" + baseID + "/Orders", `{}`, 422, "fields: an object"},
		{"POST", "/" + baseID + "/Orders", `{"fields":{},"att":1}`, 400, "unknown field"},
		{"GET", "/changes?after=x", ``, 400, "after:"},
	} {
		a := w.send(c.method, "/_sandbox"+c.path, c.body)
		require.Equal(t, c.status, a.status, a.body)
		require.Contains(t, a.body, c.reason)
	}
	require.Empty(t, w.box.Changes())
	w.control("DELETE", "/"+baseID+order1, "")
	require.Len(t, w.control("GET", "/"+baseID+"/Orders", "").records(), 1)
	bases := w.control("GET", "/bases", "").json()["bases"].([]any)
	require.Equal(t, "Orders", bases[0].(map[string]any)["name"])
	require.Contains(t, w.send("GET", "/", "").body, `<span class="tab-name">Orders</span> <span class="count">1</span>`)
}

func TestRenamedAndDeletedFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.control("POST", "/fields", `{"base":"`+baseID+`","table":"Orders","field":"Status","rename_to":"State"}`)
	w.api("PATCH", order1, `{"fields":{"Status":"Pending"}}`).fails(422, "UNKNOWN_FIELD_NAME", `Unknown field name: "Status"`)
	w.api("GET", "/Orders?filterByFormula=%7BStatus%7D%3D1", "").fails(422, "INVALID_FILTER_BY_FORMULA",
		"The formula for filtering records is invalid: Unknown field names: status")
	w.api("GET", "/Orders?fields[]=Status", "").fails(422, "UNKNOWN_FIELD_NAME", `Unknown field name: "Status"`)
	got := w.api("GET", order1, "").fields()
	require.Equal(t, "Delivered", got["State"], "the cells stay")
	require.Equal(t, "O-1/Delivered", got["Label"], "formulas follow a rename")
	w.control("POST", "/fields", `{"base":"`+baseID+`","table":"Orders","field":"State","delete":true}`)
	got = w.api("GET", order1, "").fields()
	require.NotContains(t, got, "State")
	require.Equal(t, map[string]any{"error": "#ERROR!"}, got["Label"])
	require.NoError(t, w.box.RenameField(baseID, "Orders", dateGuard, "Elsewhere"))
	w.api("GET", "/Orders?fields[]=Delivery%20Date%20Changed%20At", "").fails(422, "UNKNOWN_FIELD_NAME", "")
	require.NoError(t, w.box.DeleteField(baseID, "Orders", "Account"))
	require.Equal(t, []any{map[string]any{"error": "#ERROR!"}}, w.api("GET", "/Orders/recOrder000000002", "").fields()["Account Name"])
	require.ErrorContains(t, w.box.DeleteField(baseID, "Orders", "Order ID"), "primary field")
	require.ErrorContains(t, w.box.RenameField(baseID, "Orders", "Qty", "Price"), "already")
	for _, order := range []string{`"field":"Nope","delete":true`, `"field":"Qty"`, `"field":"Qty","delete":true,"rename_to":"x"`} {
		require.GreaterOrEqual(t, w.send("POST", "/_sandbox/fields", `{"base":"`+baseID+`","table":"Orders",`+order+`}`).status, 400)
	}
}

func TestFieldsAddedByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.control("POST", "/fields", `{"base":"`+baseID+`","table":"Orders","field":"Qty Changed At","create":{"type":"lastModifiedTime","watches":["Qty"]}}`)
	w.pass(time.Minute)
	require.Equal(t, "2026-10-04T12:01:00.000Z", w.api("PATCH", order1, `{"fields":{"Qty":3}}`).fields()["Qty Changed At"])
	a := w.send("POST", "/_sandbox/fields", `{"base":"`+baseID+`","table":"Orders","field":"Bad","create":{"type":"lastModifiedTime","watches":["Label"]}}`)
	require.Equal(t, 422, a.status)
	require.Contains(t, a.body, "is computed")
	require.NotContains(t, w.api("GET", order1, "").fields(), "Bad")
}

func TestRenamedAndDeletedTables(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.control("POST", "/tables", `{"base":"`+baseID+`","table":"Accounts","rename_to":"Customers"}`)
	require.Equal(t, 403, w.api("GET", "/Accounts", "").status)
	require.Equal(t, 200, w.api("GET", "/Customers", "").status)
	w.control("POST", "/tables", `{"base":"`+baseID+`","table":"Customers","delete":true}`)
	require.Equal(t, 403, w.api("GET", "/Customers", "").status)
	require.NotContains(t, w.api("GET", "/Orders/recOrder000000002", "").fields(), "Account")
}

func TestTokenStates(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	set := func(body string) int { return w.send("POST", "/_sandbox/tokens", body).status }
	require.Equal(t, 200, set(`{"token":"patSandbox.full","state":"revoked"}`))
	w.api("GET", "/Orders", "").fails(401, "AUTHENTICATION_REQUIRED", "Authentication required")
	require.Equal(t, 200, set(`{"token":"patSandbox","state":"forbidden"}`))
	require.Equal(t, http.StatusForbidden, w.api("GET", "/Orders", "").status)
	require.Equal(t, 200, set(`{"token":"patSandbox","state":"valid"}`))
	require.Equal(t, http.StatusOK, w.api("GET", "/Orders", "").status)
	require.Equal(t, 422, set(`{"token":"patSandbox","state":"gone"}`))
	require.Equal(t, 404, set(`{"token":"patNope","state":"valid"}`))
}

func TestOptionsAreCheckedAndTakenOverWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	before := w.box.Options()
	for body, reason := range map[string]string{
		`{"penalty":"-1s"}`:                             "penalty",
		`{"rate":3,"rate_limit_envelope":"both"}`:       "rate_limit_envelope: \\\"both\\\" is none of plural, singular",
		`{"stamp_ahead":"2s"}`:                          "stamp_ahead",
		`{"bad_body_status":500,"long_url_status":200}`: "bad_body_status: 500 is none of [400 422]\\nlong_url_status",
		`{"multi_match_error":""}`:                      "multi_match_error",
		`{"nope":1}`:                                    "unknown field",
		`{"same_value_bumps":"yes"}`:                    "same_value_bumps",
	} {
		a := w.send("PATCH", "/_sandbox/options", body)
		require.GreaterOrEqual(t, a.status, 400, body)
		require.Contains(t, a.body, reason)
	}
	require.Equal(t, before, w.box.Options())
	got := w.control("PATCH", "/options", `{"penalty":15,"same_value_bumps":true}`).json()
	require.Equal(t, "15s", got["penalty"])
	require.Equal(t, true, w.control("GET", "/options", "").json()["same_value_bumps"])
	require.Equal(t, "plural", got["rate_limit_envelope"], "what is not named stays")
}
