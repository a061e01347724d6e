package sandbox_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

// ping is a notification as its receiver sees it.
type ping struct{ body, mac string }

// pingServer answers pings with the statuses in turn, then with 204.
func pingServer(t *testing.T, statuses ...int) (string, <-chan ping) {
	t.Helper()
	pings := make(chan ping, 100)
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		status := http.StatusNoContent
		if n < len(statuses) {
			status = statuses[n]
		}
		n++ // pings of one webhook come one after the other
		rw.WriteHeader(status)
		pings <- ping{string(raw), r.Header.Get("X-Airtable-Content-MAC")}
	}))
	t.Cleanup(server.Close)
	return server.URL, pings
}

const allData = `"specification":{"options":{"filters":{"dataTypes":["tableData"]}}}`

// listenForPings makes a webhook of the base and returns a channel of its pings.
func (w *world) listenForPings() <-chan ping {
	w.t.Helper()
	target, pings := pingServer(w.t)
	w.makeHook(`{"notificationUrl":"` + target + `",` + allData + `}`)
	return pings
}

func (w *world) makeHook(body string) map[string]any {
	w.t.Helper()
	a := w.send("POST", "/v0/bases/"+baseID+"/webhooks", body)
	require.Equal(w.t, http.StatusOK, a.status, a.body)
	return a.json()
}

func (w *world) hook(method, id, rest, body string) answer {
	w.t.Helper()
	return w.send(method, "/v0/bases/"+baseID+"/webhooks/"+id+rest, body)
}

// payloads are all that a webhook has recorded.
func (w *world) payloads(id string) []map[string]any {
	w.t.Helper()
	var out struct{ Payloads []map[string]any }
	a := w.hook("GET", id, "/payloads", "")
	require.Equal(w.t, http.StatusOK, a.status, a.body)
	require.NoError(w.t, json.Unmarshal([]byte(a.body), &out))
	return out.Payloads
}

func TestWebhookPayloadCarriesPreviousValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	table, fields := w.schemaOf("Orders")
	id := func(name string) string { return fields[name]["id"].(string) }
	hook := w.makeHook(fmt.Sprintf(`{"specification":{"options":{
		"filters":{"dataTypes":["tableData"],"recordChangeScope":%q,"changeTypes":["update"],"watchDataInFieldIds":[%q]},
		"includes":{"includePreviousCellValues":true,"includeCellValuesInFieldIds":[%q]}}}}`, table, id("Status"), id("Order ID")))["id"].(string)
	w.api("PATCH", order1, `{"fields":{"Qty":1}}`).fields() // not watched
	w.api("PATCH", order1, `{"fields":{"Status":"Shipped"}}`).fields()
	_, err := w.box.Edit(editStatus("Pending"))
	require.NoError(t, err)
	got := w.hook("GET", hook, "/payloads", "").json()
	require.Equal(t, number("3"), got["cursor"])
	require.Equal(t, false, got["mightHaveMore"])
	payloads := got["payloads"].([]any)
	require.Len(t, payloads, 2)
	shipped := payloads[0].(map[string]any)
	require.Equal(t, "publicApi", shipped["actionMetadata"].(map[string]any)["source"])
	require.Equal(t, "client", payloads[1].(map[string]any)["actionMetadata"].(map[string]any)["source"])
	record := shipped["changedTablesById"].(map[string]any)[table].(map[string]any)["changedRecordsById"].(map[string]any)["recOrder000000001"].(map[string]any)
	option := func(part string) any {
		return record[part].(map[string]any)["cellValuesByFieldId"].(map[string]any)[id("Status")].(map[string]any)["name"]
	}
	require.Equal(t, "Shipped", option("current"))
	require.Equal(t, "Delivered", option("previous"))
	require.Empty(t, cmp.Diff(map[string]any{"cellValuesByFieldId": map[string]any{id("Order ID"): "O-1"}}, record["unchanged"]))
}

func TestWebhookPayloadOfCreationsAndDeletions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	table, fields := w.schemaOf("Orders")
	accounts, accountFields := w.schemaOf("Accounts")
	hook := w.makeHook(`{` + allData + `}`)["id"].(string)
	created := w.api("POST", "/Orders", `{"fields":{"Order ID":"O-7","Account":["recBolt0000000001"]}}`).json()
	w.api("DELETE", "/Orders/"+created["id"].(string), "")
	payloads := w.hook("GET", hook, "/payloads", "").json()["payloads"].([]any)
	tables := payloads[0].(map[string]any)["changedTablesById"].(map[string]any)
	require.Empty(t, cmp.Diff(map[string]any{"createdRecordsById": map[string]any{created["id"].(string): map[string]any{
		"createdTime": created["createdTime"], "cellValuesByFieldId": map[string]any{
			fields["Order ID"]["id"].(string): "O-7",
			fields["Account"]["id"].(string):  []any{map[string]any{"id": "recBolt0000000001", "name": "A-2"}}}}}}, tables[table]))
	require.Contains(t, tables[accounts].(map[string]any)["changedRecordsById"].(map[string]any)["recBolt0000000001"].(map[string]any)["current"].(map[string]any)["cellValuesByFieldId"],
		accountFields["Orders"]["id"])
	tables = payloads[1].(map[string]any)["changedTablesById"].(map[string]any)
	require.Equal(t, map[string]any{"destroyedRecordIds": []any{created["id"]}}, tables[table])
}

func TestWebhookPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	hook := w.makeHook(`{` + allData + `}`)["id"].(string)
	for i := range 7 {
		w.api("PATCH", order1, fmt.Sprintf(`{"fields":{"Qty":%d}}`, i+1)).fields()
	}
	page := func(query string) (int, any, any) {
		got := w.hook("GET", hook, "/payloads"+query, "").json()
		return len(got["payloads"].([]any)), got["cursor"], got["mightHaveMore"]
	}
	n, cursor, more := page("?limit=5")
	require.Equal(t, []any{5, number("6"), true}, []any{n, cursor, more})
	n, cursor, more = page("?cursor=6&limit=5")
	require.Equal(t, []any{2, number("8"), false}, []any{n, cursor, more})
	n, cursor, more = page("?cursor=8")
	require.Equal(t, []any{0, number("8"), false}, []any{n, cursor, more})
	for _, bad := range []string{"?cursor=0", "?cursor=x", "?cursor=99", "?limit=51", "?limit=0"} {
		require.Equal(t, 422, w.hook("GET", hook, "/payloads"+bad, "").status)
	}
}

func TestPingIsSignedAndHoldsNoData(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	target, pings := pingServer(t)
	hook := w.makeHook(`{"notificationUrl":"` + target + `",` + allData + `}`)
	w.api("PATCH", order1, `{"fields":{"Qty":1}}`).fields()
	p := <-pings
	require.Equal(t, fmt.Sprintf(`{"base":{"id":%q},"webhook":{"id":%q},"timestamp":"2026-10-04T12:00:00.000Z"}`, baseID, hook["id"]), p.body)
	secret, err := base64.StdEncoding.DecodeString(hook["macSecretBase64"].(string))
	require.NoError(t, err)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(p.body))
	require.Equal(t, "hmac-sha256="+hex.EncodeToString(mac.Sum(nil)), p.mac)
}

func TestFailedPingsAreRetriedAndAtLastSwitchedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	statuses := make([]int, 13)
	for i := range statuses {
		statuses[i] = 500
	}
	target, pings := pingServer(t, statuses...)
	w.makeHook(`{"notificationUrl":"` + target + `",` + allData + `}`)
	w.api("PATCH", order1, `{"fields":{"Qty":1}}`).fields()
	for i := range statuses {
		<-pings
		hook := w.awaitPing(i)
		require.Equal(t, i < 12, hook["areNotificationsEnabled"])
		require.Equal(t, i < 12, hook["lastNotificationResult"].(map[string]any)["willBeRetried"])
		w.pass(4 * time.Hour)
	}
	w.api("PATCH", order1, `{"fields":{"Qty":2}}`).fields()
	hooks := w.send("GET", "/v0/bases/"+baseID+"/webhooks", "").json()["webhooks"].([]any)
	require.Equal(t, number("3"), hooks[0].(map[string]any)["cursorForNextPayload"], "payloads are still recorded")
	require.Empty(t, pings)
}

// awaitPing waits until the result of the try of that number is noted.
func (w *world) awaitPing(try int) map[string]any {
	w.t.Helper()
	var hook map[string]any
	w.await(func() bool {
		rec := serve(w.box, "GET", "/v0/bases/"+baseID+"/webhooks", "")
		hook = answer{t: w.t, status: rec.Code, body: rec.Body.String()}.json()["webhooks"].([]any)[0].(map[string]any)
		last, ok := hook["lastNotificationResult"].(map[string]any)
		return ok && last["retryNumber"] == number(fmt.Sprint(try))
	})
	return hook
}

func TestWebhooksLapseAfterSevenDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	made := w.makeHook(`{` + allData + `}`)
	hook := made["id"].(string)
	require.Equal(t, "2026-10-11T12:00:00.000Z", made["expirationTime"])
	w.api("PATCH", order1, `{"fields":{"Qty":1}}`).fields()
	w.pass(6 * 24 * time.Hour)
	require.Equal(t, map[string]any{"expirationTime": "2026-10-17T12:00:00.000Z"}, w.hook("POST", hook, "/refresh", "").json())
	w.pass(6 * 24 * time.Hour)
	require.Equal(t, 0, len(w.hook("GET", hook, "/payloads", "").json()["payloads"].([]any)), "payloads live seven days")
	w.pass(6 * 24 * time.Hour)
	w.api("PATCH", order1, `{"fields":{"Qty":2}}`).fields()
	w.pass(24 * time.Hour)
	require.Len(t, w.hook("GET", hook, "/payloads", "").json()["payloads"], 1, "reading extends it, and after that it is only readable")
	w.pass(6 * 24 * time.Hour)
	w.api("PATCH", order1, `{"fields":{"Qty":3}}`).fields()
	listed := w.send("GET", "/v0/bases/"+baseID+"/webhooks", "").json()["webhooks"].([]any)[0].(map[string]any)
	require.Equal(t, false, listed["isHookEnabled"])
	require.Equal(t, number("3"), listed["cursorForNextPayload"], "nothing is recorded any more")
	w.hook("POST", hook, "/refresh", "").fails(422, "INVALID_HOOK", "The webhook has expired")
	w.pass(24 * time.Hour)
	require.Equal(t, 403, w.hook("GET", hook, "/payloads", "").status)
}

func TestWebhookRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	path := "/v0/bases/" + baseID + "/webhooks"
	for _, body := range []string{`{}`, `{"specification":{"options":{"filters":{"dataTypes":[]}}}}`, `{"notificationUrl":"nowhere",` + allData + `}`,
		`{"specification":{"options":{"filters":{"dataTypes":["cells"]}}}}`, `{"specification":{"options":{"filters":{"dataTypes":["tableData"],"changeTypes":["edit"]}}}}`} {
		require.Equal(t, 422, w.send("POST", path, body).status, body)
	}
	w.send("POST", path, `{"specification":{"options":{"filters":{"dataTypes":["tableData"],"recordChangeScope":"Orders"}}}}`).
		fails(422, "INVALID_FILTERS", "recordChangeScope Orders is no table or view of the base")
	var last string
	for range 10 {
		last = w.makeHook(`{` + allData + `}`)["id"].(string)
	}
	w.send("POST", path, `{`+allData+`}`).fails(422, "TOO_MANY_WEBHOOKS_IN_BASE", "")
	require.Equal(t, 200, w.hook("DELETE", last, "", "").status)
	require.Equal(t, 403, w.hook("DELETE", last, "", "").status)
	w.makeHook(`{` + allData + `}`)
}

func TestNotificationsCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	target, pings := pingServer(t)
	hook := w.makeHook(`{"notificationUrl":"` + target + `",` + allData + `}`)["id"].(string)
	require.Equal(t, 200, w.hook("POST", hook, "/enableNotifications", `{"enable":false}`).status)
	w.api("PATCH", order1, `{"fields":{"Qty":1}}`).fields()
	require.Equal(t, 200, w.hook("POST", hook, "/enableNotifications", `{"enable":true}`).status)
	require.Equal(t, 422, w.hook("POST", hook, "/enableNotifications", `{}`).status)
	w.api("PATCH", order1, `{"fields":{"Qty":2}}`).fields()
	<-pings
	require.Len(t, w.hook("GET", hook, "/payloads", "").json()["payloads"], 2)
}

func editStatus(status string) sandbox.Edit {
	return sandbox.Edit{Base: baseID, Table: "Orders", Record: "recOrder000000001", Fields: map[string]any{"Status": status}}
}
