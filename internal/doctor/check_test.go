package doctor_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"airtable-replay/internal/doctor"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

func TestGoodOrderIsToldLineByLine(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	r := b.check()
	requireGolden(t, "good", steady(b.text(r.Findings)))
	require.Zero(t, r.Count(doctor.Fault)+r.Count(doctor.Warning))
	require.Empty(t, b.box.Changes(), "a check changes nothing")
}

// Each way in which the Airtable side can be broken is found and comes with its fix (mission T4).
func TestBrokenThingsAreFound(t *testing.T) {
	t.Parallel()
	field := func(name string, more map[string]any) func(b *bundle) {
		return func(b *bundle) {
			body := map[string]any{"base": baseID, "table": "Orders", "field": name}
			for k, v := range more {
				body[k] = v
			}
			b.control("fields", body)
		}
	}
	remade := func(name string, as map[string]any) func(b *bundle) {
		return func(b *bundle) {
			field(name, map[string]any{"delete": true})(b)
			field(name, map[string]any{"create": as})(b)
		}
	}
	scopes := func(list string) setting {
		return setting{seed: change(t, "tokens: [patSandbox.full]", "tokens: [{token: patSandbox.full, scopes: ["+list+"]}]")}
	}
	for name, c := range map[string]struct {
		setting setting
		spoil   func(b *bundle)
	}{
		"token-revoked":   {spoil: func(b *bundle) { b.control("tokens", map[string]any{"token": secret, "state": "revoked"}) }},
		"token-forbidden": {spoil: func(b *bundle) { b.control("tokens", map[string]any{"token": secret, "state": "forbidden"}) }},
		"scope-schema":    {setting: scopes(`"data.records:read", "data.records:write"`)},
		"scope-read":      {setting: scopes(`"schema.bases:read", "data.records:write"`)},
		"scope-write":     {setting: scopes(`"schema.bases:read", "data.records:read"`)},
		"scopes-told": {setting: scopes(`"schema.bases:read", "data.records:read"`), spoil: func(b *bundle) {
			require.NoError(t, b.box.SetOptions(func(o *sandbox.Options) { o.WhoamiScopes = true }))
		}},
		"base-unknown": {setting: setting{config: change(t, "appOrdersSandbox01", "appOrdersSandbox02")}},
		"unreachable":  {setting: setting{config: func(text string) string { return addressOf.ReplaceAllString(text, "api_url: http://127.0.0.1:1") }}},
		"table-renamed": {spoil: func(b *bundle) {
			b.control("tables", map[string]any{"base": baseID, "table": "Orders", "rename_to": "Deliveries"})
		}},
		"key-renamed":      {spoil: field("Order ID", map[string]any{"rename_to": "Order Number"})},
		"key-double":       {setting: setting{seed: change(t, "Order ID: O-2", "Order ID: O-1")}},
		"field-renamed":    {spoil: field("Status", map[string]any{"rename_to": "State"})},
		"field-wrong-type": {spoil: remade("Delivery Date", map[string]any{"type": "formula", "formula": "1"})},
		"version-renamed":  {spoil: field("Source Updated At", map[string]any{"rename_to": "Updated"})},
		"version-type":     {spoil: remade("Source Updated At", map[string]any{"type": "checkbox"})},
		"stamp-missing":    {spoil: field("Replay Stamp", map[string]any{"delete": true})},
		"guard-missing":    {spoil: field("Delivery Date Changed At", map[string]any{"delete": true})},
		"guard-no-time":    {spoil: remade("Delivery Date Changed At", map[string]any{"type": "dateTime"})},
		"guard-all":        {spoil: remade("Delivery Date Changed At", map[string]any{"type": "lastModifiedTime"})},
		"guard-other":      {spoil: remade("Delivery Date Changed At", map[string]any{"type": "lastModifiedTime", "watches": []string{"Status"}})},
		"guard-more":       {spoil: remade("Delivery Date Changed At", map[string]any{"type": "lastModifiedTime", "watches": []string{"Delivery Date", "Status"}})},
		"guard-day":        {spoil: remade("Delivery Date Changed At", map[string]any{"type": "lastModifiedTime", "watches": []string{"Delivery Date"}, "result": "date"})},
		"link-elsewhere":   {setting: setting{seed: change(t, "{name: Account, type: multipleRecordLinks, linked_table: Accounts}", "{name: Account, type: multipleRecordLinks, linked_table: Dead Letter Queue}")}},
		"option-missing":   {setting: setting{seed: change(t, "choices: [Pending, Shipped, On Hold]", "choices: [Pending, Shipped]")}},
		"mirror-missing": {spoil: func(b *bundle) {
			b.control("tables", map[string]any{"base": baseID, "table": "Dead Letter Queue", "delete": true})
		}},
		"mirror-renamed": {spoil: func(b *bundle) {
			b.control("tables", map[string]any{"base": baseID, "table": "Dead Letter Queue", "rename_to": "Failed Writes"})
		}},
		"mirror-no-id":     {setting: setting{config: change(t, "table: Dead Letter Queue", "table: tblNoSuchTable0001"), seed: withoutMirror}},
		"mirror-held":      {spoil: func(b *bundle) { holdMirror(t, b) }},
		"mirror-fields":    {setting: setting{seed: mirrorFaults(t)}},
		"webhook-missing":  {setting: hooked(t)},
		"webhook-scope":    {setting: hooked(t, `"data.records:read", "data.records:write", "schema.bases:read"`)},
		"webhook-untold":   {setting: hooked(t, `"data.records:read", "data.records:write", "schema.bases:read"`), spoil: tellScopes},
		"webhook-pings":    {setting: hooked(t), spoil: func(b *bundle) { b.hook(b.url + "/nowhere") }},
		"notify-plain":     {setting: setting{config: change(t, "https://ops.example/hook", "http://ops.example/hook")}},
		"nobody-told":      {setting: setting{config: change(t, "    alert: [ops]\n", "")}},
		"halted":           {spoil: func(b *bundle) { halt(t, b) }},
		"no-database":      {setting: setting{noDatabase: true}},
		"database-down":    {setting: setting{noDatabase: true}, spoil: func(b *bundle) { b.conf.StoreErr = errors.New("connect to database: connection refused") }},
		"database-old":     {setting: setting{noDatabase: true}, spoil: func(b *bundle) { b.conf.StoreErr = errors.New("the database is not migrated") }},
		"clock-ahead":      {spoil: func(b *bundle) { shift(t, b, time.Hour) }},
		"clock-behind":     {spoil: func(b *bundle) { shift(t, b, -time.Hour) }},
		"rate-limited":     {spoil: func(b *bundle) { fault(t, b, sandbox.Fault{Status: http.StatusTooManyRequests, Times: -1}) }},
		"airtable-in-pain": {spoil: func(b *bundle) { fault(t, b, sandbox.Fault{Status: http.StatusServiceUnavailable, Times: -1}) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, c.setting)
			if c.spoil != nil {
				c.spoil(b)
			}
			found := bad(b.check())
			require.NotEmpty(t, found)
			for _, f := range found {
				require.NotEmpty(t, f.Fix, "%v", f)
			}
			text := steady(b.text(found))
			require.NotContains(t, text, secret)
			requireGolden(t, name, text)
			require.Empty(t, written(b), "a check changes nothing")
		})
	}
}

func TestAWebhookThatWorksIsToldSo(t *testing.T) {
	t.Parallel()
	pinged := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(pinged.Close)
	b := setup(t, hooked(t))
	b.hook(pinged.URL + "/v1/airtable/notifications")
	r := b.check()
	require.Empty(t, bad(r))
	require.Regexp(t, `ok \| dead letters \| Dead Letter Queue: webhook \| is alive until 20\S+Z\n`, b.text(r.Findings))
}
