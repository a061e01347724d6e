package sandbox_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

const forbiddenText = "Invalid permissions, or the requested model was not found. Check that both your user and your token have the required permissions, and that the model names and/or ids are correct."

const scopedYAML = `
bases:
  - id: appOrdersSandbox01
    tokens: [patSandbox.full, {token: patRead.er, scopes: ["data.records:read"]}, {token: patSchema.er, scopes: ["schema.bases:read", "user.email:read"]}]
    tables: [{name: Orders, fields: [{name: A, type: singleLineText}]}]
  - id: appOpen
    tables: [{name: Orders, fields: [{name: A, type: singleLineText}]}]
  - id: appOther
    tokens: [patOther.full]
    tables: [{name: Orders, fields: [{name: A, type: singleLineText}]}]
`

func TestTokensAndScopes(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, scopedYAML, noLimits())
	as := func(token, method, path, body string) answer {
		return w.send(method, "/v0/"+path, body, "Authorization", token)
	}
	for _, bad := range []string{"", "Bearer", "Bearer patNope.x", "Basic patSandbox.full", "patSandbox.full"} {
		as(bad, "GET", baseID+"/Orders", "").fails(http.StatusUnauthorized, "AUTHENTICATION_REQUIRED", "Authentication required")
	}
	as("", "GET", baseID+"/Orders?api_key=patSandbox.full", "").fails(http.StatusUnauthorized, "AUTHENTICATION_REQUIRED", "Authentication required")
	require.Equal(t, 200, as("Bearer patRead.er", "GET", baseID+"/Orders", "").status)
	require.Equal(t, 200, as("bearer patRead.er", "POST", baseID+"/Orders/listRecords", "{}").status)
	for _, c := range [][3]string{
		{"Bearer patRead.er", "POST", baseID + "/Orders"}, {"Bearer patRead.er", "GET", "meta/bases/" + baseID + "/tables"},
		{"Bearer patRead.er", "GET", "meta/bases"}, {"Bearer patRead.er", "GET", "bases/" + baseID + "/webhooks"},
		{"Bearer patSchema.er", "GET", baseID + "/Orders"}, {"Bearer patSandbox.full", "GET", "appOther/Orders"},
		{"Bearer patSandbox.full", "GET", "appAAAAAAAAAAAAAA/Orders"}, {"Bearer patSandbox.full", "GET", baseID + "/Nope"},
		{"Bearer patSandbox.full", "GET", baseID + "/tblAAAAAAAAAAAAAA"},
	} {
		as(c[0], c[1], c[2], `{"fields":{}}`).fails(http.StatusForbidden, "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND", forbiddenText)
	}
}

func TestUndefinedRoutes(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, scopedYAML, noLimits())
	for _, c := range [][2]string{{"GET", "/v0/meta/bases/junk/tables"}, {"GET", "/v0/junk/Orders"}, {"GET", "/v0"}, {"GET", "/v0/" + baseID},
		{"POST", "/v0/meta/whoami"}, {"PATCH", "/v0/" + baseID + "/Orders/recAAAAAAAAAAAAAA/comments"}, {"GET", "/v0/" + baseID + "/Orders/listRecords"}} {
		w.send(c[0], c[1], "{}").is(http.StatusNotFound, `{"error":"NOT_FOUND"}`)
	}
}

func TestBaseWithoutTokensIsOpenUnlessTokensAreRequired(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, scopedYAML, noLimits())
	require.Equal(t, 200, w.send("POST", "/v0/appOpen/Orders", `{"fields":{"A":"x"}}`, "Authorization", "").status)
	require.Equal(t, 200, w.send("GET", "/v0/appOpen/Orders", "").status, "also with a token of another base")
	require.Equal(t, "anonymous", w.box.Changes()[0].By)
	cfg := noLimits()
	cfg.RequireToken = true
	w = seededWorld(t, scopedYAML, cfg)
	require.Equal(t, 401, w.send("GET", "/v0/appOpen/Orders", "", "Authorization", "").status)
	require.Equal(t, 403, w.send("GET", "/v0/appOpen/Orders", "").status)
}

func TestWhoami(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, scopedYAML, noLimits())
	whoami := func(token string) map[string]any {
		return w.send("GET", "/v0/meta/whoami", "", "Authorization", "Bearer "+token).json()
	}
	got := whoami("patRead.er")
	require.Len(t, got, 1)
	require.Regexp(t, `^usr[0-9A-Za-z]{14}$`, got["id"])
	require.Equal(t, "patSchema@sandbox.invalid", whoami("patSchema.er")["email"])
	w.set(func(o *sandbox.Options) { o.WhoamiScopes = true })
	require.Equal(t, []any{"data.records:read"}, whoami("patRead.er")["scopes"])
	require.Equal(t, []any{map[string]any{"id": baseID, "name": baseID, "permissionLevel": "create"}},
		w.send("GET", "/v0/meta/bases", "", "Authorization", "Bearer patSchema.er").json()["bases"])
}

func TestLongURLsAndBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	long := "/Orders?filterByFormula=" + url.QueryEscape("'"+strings.Repeat("a", longFormula)+"'")
	require.Equal(t, http.StatusRequestURITooLong, w.api("GET", long, "").status)
	w.set(func(o *sandbox.Options) { o.LongURLStatus = 422 })
	require.Equal(t, 422, w.api("GET", long, "").status)
	require.Equal(t, 200, w.api("GET", long[:15_000]+"%27", "").status)
	require.Equal(t, 200, w.api("POST", "/Orders/listRecords", `{"filterByFormula":"'`+strings.Repeat("a", longFormula)+`'"}`).status)
	w.set(func(o *sandbox.Options) { o.BodyLimit = 100 })
	w.api("POST", "/Orders", `{"fields":{"Notes":"`+strings.Repeat("a", 100)+`"}}`).fails(http.StatusRequestEntityTooLarge, "REQUEST_TOO_LARGE", "")
}

const longFormula = 16_000

func TestBodySwitches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.set(func(o *sandbox.Options) {
		o.BadBodyStatus, o.UnknownBodyKeys, o.SelectErrorQuotes, o.BatchDeleteMissing = 422, "refuse", "single", 422
		o.RichtextRewrite, o.TextLimit, o.TextOverflow = false, 3, "truncate"
	})
	w.api("POST", "/Orders", "{").fails(422, "INVALID_REQUEST_BODY", "Could not parse request body")
	w.api("POST", "/Orders", `{"fields":{},"unheard":1}`).fails(422, "INVALID_REQUEST_UNKNOWN", "")
	w.api("POST", "/Orders", `{"fields":{"Status":"Foo"}}`).fails(422, "INVALID_MULTIPLE_CHOICE_OPTIONS", `Insufficient permissions to create new select option "Foo"`)
	w.api("DELETE", "/Orders?records[]=recAAAAAAAAAAAAAA", "").fails(422, "ROW_DOES_NOT_EXIST", "Record ID recAAAAAAAAAAAAAA does not exist in this table")
	got := w.api("POST", "/Orders", `{"fields":{"Story":"* a","Notes":"abcdef"}}`).fields()
	require.Equal(t, "* a", got["Story"])
	require.Equal(t, "abc", got["Notes"])
}
