package sandbox_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

const rolesYAML = `
bases:
  - id: appOrdersSandbox01
    tokens:
      - {token: patNone.x, permission: none}
      - {token: patRead.x, permission: read}
      - {token: patComment.x, permission: comment}
      - {token: patEdit.x, permission: edit}
      - {token: patCreate.x, permission: create}
      - {token: patSilent.x}
    tables:
      - name: Orders
        fields: [{name: A, type: singleLineText}, {name: B, type: number}, {name: S, type: singleSelect, choices: [x]}]
        records: [{_id: recOrder000000001, A: one}]
  - id: appOther
    tokens: [{token: patEdit.x, permission: read}]
    tables: [{name: Orders, fields: [{name: A, type: singleLineText}]}]
`

func (w *world) as(token, method, path, body string) answer {
	w.t.Helper()
	return w.send(method, "/v0/"+path, body, "Authorization", "Bearer "+token+".x")
}

// Whoever may not write is told what it is that he may not, in the three
// documented forms, and nothing is changed.
func TestReadersAndCommentersCannotWrite(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, rolesYAML, noLimits())
	table := w.tableID("Orders")
	fieldB := w.fieldIDs("Orders")["B"]
	anything := "You are not permitted to perform this operation"
	cellB := "You are not permitted to write cell values in field B (" + fieldB + ")"
	creation := "You are not permitted to create records in table Orders (" + table + ")"
	for _, token := range []string{"patRead", "patComment"} {
		require.Equal(t, http.StatusOK, w.as(token, "GET", baseID+"/Orders", "").status)
		require.Equal(t, http.StatusOK, w.as(token, "POST", baseID+"/Orders/listRecords", "{}").status)
		require.Equal(t, http.StatusOK, w.as(token, "GET", baseID+"/Orders/recOrder000000001", "").status)
		require.Equal(t, http.StatusOK, w.as(token, "GET", "meta/bases/"+baseID+"/tables", "").status)
		for _, c := range []struct{ method, path, body, message string }{
			{"POST", "/Orders", `{"fields":{"A":"x"}}`, creation},
			{"POST", "/" + table, `{"records":[{"fields":{"Nope":"x"}}]}`, creation},
			{"PATCH", "/Orders/recOrder000000001", `{"fields":{"B":1,"A":"x"}}`, cellB},
			{"PUT", "/Orders/recOrder000000001", `{"fields":{"` + fieldB + `":1}}`, cellB},
			{"PATCH", "/Orders", `{"records":[{"id":"recOrder000000001","fields":{"B":1}}]}`, cellB},
			{"PATCH", "/Orders", `{"records":[{"id":"recOrder000000001","fields":{}}]}`, anything},
			{"PATCH", "/Orders", `{"records":[{"id":"recOrder000000001","fields":{"Nope":1}}]}`, anything},
			{"PATCH", "/Orders", `{`, anything},
			{"PATCH", "/Orders", upsertBody(`{"fields":{"A":"one"}}`, `"A"`), anything},
			{"DELETE", "/Orders/recOrder000000001", "", anything},
			{"DELETE", "/Orders?records[]=recOrder000000001", "", anything},
		} {
			w.as(token, c.method, baseID+c.path, c.body).fails(http.StatusForbidden, "INVALID_PERMISSIONS", c.message)
		}
	}
	require.Empty(t, w.box.Changes())
}

// fieldIDs are those of a table by name.
func (w *world) fieldIDs(table string) map[string]string {
	w.t.Helper()
	ids := map[string]string{}
	for _, raw := range w.send("GET", "/v0/meta/bases/"+baseID+"/tables", "", "Authorization", "Bearer patCreate.x").json()["tables"].([]any) {
		if tj := raw.(map[string]any); tj["name"] == table {
			for _, f := range tj["fields"].([]any) {
				ids[f.(map[string]any)["name"].(string)] = f.(map[string]any)["id"].(string)
			}
		}
	}
	return ids
}

func TestEditorsWriteRecordsAndCreatorsTheSchema(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, rolesYAML, noLimits())
	field, hook := `{"name":"N","type":"singleLineText"}`, `{"specification":{"options":{"filters":{"dataTypes":["tableData"]}}}}`
	for _, token := range []string{"patEdit", "patCreate", "patSilent"} {
		require.Equal(t, http.StatusOK, w.as(token, "POST", baseID+"/Orders", `{"fields":{"A":"x"}}`).status)
		require.Equal(t, http.StatusOK, w.as(token, "PATCH", baseID+"/Orders", upsertBody(`{"fields":{"A":"x","B":1}}`, `"B"`)).status)
	}
	for _, c := range [][3]string{
		{"POST", "meta/bases/" + baseID + "/tables", `{"name":"T","fields":[` + field + `]}`},
		{"PATCH", "meta/bases/" + baseID + "/tables/Orders", `{"description":"x"}`},
		{"POST", "meta/bases/" + baseID + "/tables/Orders/fields", field},
		{"PATCH", "meta/bases/" + baseID + "/tables/Orders/fields/A", `{"description":"x"}`},
		{"GET", "bases/" + baseID + "/webhooks", ""},
		{"POST", "bases/" + baseID + "/webhooks", hook},
	} {
		w.as("patEdit", c[0], c[1], c[2]).fails(http.StatusForbidden, "INVALID_PERMISSIONS", "You are not permitted to perform this operation")
		require.Equal(t, http.StatusOK, w.as("patCreate", c[0], c[1], c[2]).status, c[1])
	}
}

func TestWhoWasRemovedFromABaseSeesNothingThere(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, rolesYAML, noLimits())
	for _, c := range [][2]string{{"GET", baseID + "/Orders"}, {"POST", baseID + "/Orders"}, {"GET", "meta/bases/" + baseID + "/tables"}} {
		w.as("patNone", c[0], c[1], `{"fields":{}}`).fails(http.StatusForbidden, "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND", forbiddenText)
	}
	require.Equal(t, []any{}, w.as("patNone", "GET", "meta/bases", "").json()["bases"])
	require.Equal(t, []any{
		map[string]any{"id": baseID, "name": baseID, "permissionLevel": "edit"},
		map[string]any{"id": "appOther", "name": "appOther", "permissionLevel": "read"},
	}, w.as("patEdit", "GET", "meta/bases", "").json()["bases"])
	w.as("patEdit", "POST", "appOther/Orders", `{"fields":{}}`).fails(http.StatusForbidden, "INVALID_PERMISSIONS", "")
}

func TestARoleChangesWhileTheSandboxRuns(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, rolesYAML, noLimits())
	write := func() int {
		return w.as("patCreate", "PATCH", baseID+"/Orders/recOrder000000001", `{"fields":{"A":"x"}}`).status
	}
	require.Equal(t, http.StatusOK, write())
	w.control("POST", "/tokens", `{"token":"patCreate","permission":"read"}`)
	require.Equal(t, http.StatusForbidden, write())
	w.control("POST", "/tokens", `{"token":"patCreate.x","permission":"edit","base":"appOrdersSandbox01"}`)
	require.Equal(t, http.StatusOK, write())
	w.control("POST", "/tokens", `{"token":"patCreate","state":"revoked"}`)
	require.Equal(t, http.StatusUnauthorized, write())
	for body, complaint := range map[string]string{
		`{"token":"patCreate","permission":"boss"}`:                    "none, read, comment, edit, create",
		`{"token":"patNobody","permission":"read"}`:                    "the seed lists none of that name",
		`{"token":"patCreate","permission":"read","base":"appOther"}`:  "the seed lists none of that name",
		`{"token":"patCreate","permission":"read","state":"valid"}`:    "exactly one of them",
		`{"token":"patCreate"}`:                                        "exactly one of them",
		`{"token":"patCreate","state":"valid","base":"appOther"}`:      "exactly one of them",
		`{"token":"patCreate","permission":"read","base":["appWho"]}`:  "body",
		`{"token":"patCreate","permission":"read","table":"Orders 1"}`: "unknown field",
	} {
		a := w.send("POST", "/_sandbox/tokens", body)
		require.GreaterOrEqual(t, a.status, 400, body)
		require.Contains(t, a.body, complaint, body)
	}
}

func TestTypecastAddsOptionsOnlyForTheRoleThatMay(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, rolesYAML, noLimits())
	mint := func(token, option string) answer {
		return w.as(token, "POST", baseID+"/Orders", fmt.Sprintf(`{"typecast":true,"fields":{"S":%q}}`, option))
	}
	require.Equal(t, http.StatusOK, mint("patEdit", "new").status)
	w.set(func(o *sandbox.Options) { o.TypecastRole = "create" })
	mint("patEdit", "newer").fails(422, "INVALID_MULTIPLE_CHOICE_OPTIONS", `Insufficient permissions to create new select option ""newer""`)
	require.Equal(t, http.StatusOK, mint("patEdit", "x").status, "an option that is there")
	require.Equal(t, http.StatusOK, mint("patCreate", "newer").status)
}

// A change says at which level its author stood.
func TestPayloadsTellTheAuthorsRole(t *testing.T) {
	t.Parallel()
	w := seededWorld(t, rolesYAML, noLimits())
	made := w.as("patCreate", "POST", "bases/"+baseID+"/webhooks", `{"specification":{"options":{"filters":{"dataTypes":["tableData"]}}}}`)
	hook := made.json()["id"].(string)
	require.Equal(t, http.StatusOK, w.as("patEdit", "PATCH", baseID+"/Orders/recOrder000000001", `{"fields":{"A":"x"}}`).status)
	payloads := w.as("patCreate", "GET", "bases/"+baseID+"/webhooks/"+hook+"/payloads", "").json()["payloads"].([]any)
	require.Equal(t, map[string]any{"source": "publicApi", "sourceMetadata": map[string]any{"user": map[string]any{
		"id":    payloads[0].(map[string]any)["actionMetadata"].(map[string]any)["sourceMetadata"].(map[string]any)["user"].(map[string]any)["id"],
		"email": "patEdit@sandbox.invalid", "name": "patEdit", "permissionLevel": "edit",
	}}}, payloads[0].(map[string]any)["actionMetadata"])
}

func TestAnUnknownPermissionIsAFaultOfTheSeed(t *testing.T) {
	t.Parallel()
	_, err := sandbox.ParseSeed([]byte("bases:\n  - id: appA\n    tokens:\n      - {token: patA.x, permission: owner}\n" +
		"    tables: [{name: T, fields: [{name: A, type: singleLineText}]}]\n"))
	require.EqualError(t, err, `line 4: bases[0].tokens[0].permission: unknown permission level "owner"; known are none, read, comment, edit, create`)
}
