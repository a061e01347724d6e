package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

func TestPageLoadsNothingButItsOwnFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	page := w.send("GET", "/", "")
	require.Equal(t, http.StatusOK, page.status)
	require.Equal(t, "text/html; charset=utf-8", page.header.Get("Content-Type"))
	require.NotRegexp(t, `(?i)<style|<script[^>]*>[^<]|style=|\son[a-z]+=|https?://`, page.body, "nothing inline, nothing from elsewhere")
	found := regexp.MustCompile(`(?:href|src)="(/[^"]*)"`).FindAllStringSubmatch(page.body, -1)
	require.NotEmpty(t, found)
	seen := map[string]bool{}
	queue := []string{}
	for _, m := range found {
		queue = append(queue, m[1])
	}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		file := w.send("GET", path, "")
		require.Equal(t, http.StatusOK, file.status, path)
		require.NotRegexp(t, `https?://|innerHTML|insertAdjacentHTML|document\.write|eval\(`,
			strings.ReplaceAll(strings.ReplaceAll(file.body, "http://www.w3.org/2000/svg", ""), "'https://… one address per line'", ""), path)
		again := w.send("GET", path, "", "If-None-Match", file.header.Get("ETag"))
		require.Equal(t, http.StatusNotModified, again.status, path)
		for _, m := range regexp.MustCompile(`from '\./([^']+)'`).FindAllStringSubmatch(file.body, -1) {
			queue = append(queue, "/_sandbox/web/"+m[1])
		}
		requireSecured(t, file.header)
	}
	entries, err := os.ReadDir("web")
	require.NoError(t, err)
	require.Len(t, seen, len(entries)-1, "every file but the template is in use: %v", seen)
	require.Equal(t, http.StatusNotFound, w.send("GET", "/_sandbox/web/page.html", "").status, "the template is not served as it is")
	requireSecured(t, page.header)
}

func requireSecured(t *testing.T, header http.Header) {
	t.Helper()
	policy := header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "unsafe")
	require.NotContains(t, policy, "*")
	require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
}

func TestOtherSitesMayNotReachIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	body := `{"fields":{"Qty":5}}`
	path := "/_sandbox/" + baseID + "/Orders/recOrder000000001"
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://elsewhere.example"}} {
		require.Equal(t, http.StatusForbidden, w.send("PATCH", path, body, header...).status)
	}
	require.Empty(t, w.box.Changes())
	require.Equal(t, http.StatusOK, w.send("PATCH", path, body, "Sec-Fetch-Site", "same-origin").status)
	require.Equal(t, http.StatusOK, w.send("PATCH", path, body).status, "no browser")
}

// Every option has one control on the page, and that control offers exactly
// what the option takes.
func TestPageHasEverySwitch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	knobs := sandbox.Knobs()
	var options map[string]any
	require.NoError(t, json.Unmarshal([]byte(w.control("GET", "/options", "").body), &options))
	for name, value := range options {
		require.Contains(t, knobs, name)
		kind, choices := knobs[name][0], knobs[name][1:]
		set := func(v string) int {
			return w.send("PATCH", "/_sandbox/options", fmt.Sprintf(`{%q:%s}`, name, v)).status
		}
		switch kind {
		case "choice":
			for _, choice := range choices {
				if _, isText := value.(string); isText {
					choice = quote(choice)
				}
				require.Equal(t, http.StatusOK, set(choice), "%s: %s", name, choice)
			}
			require.Contains(t, choices, fmt.Sprint(value), name)
			if _, isText := value.(string); isText {
				require.NotEqual(t, http.StatusOK, set(`"none of them"`), name)
			} else {
				require.NotEqual(t, http.StatusOK, set(`999`), name)
			}
		case "flag":
			require.IsType(t, true, value, name)
		case "count":
			require.IsType(t, 1.0, value, name)
		case "time":
			require.Equal(t, http.StatusOK, set(`"1s"`), name)
			require.NotEqual(t, http.StatusOK, set(`"soon"`), name)
		case "text":
			require.IsType(t, "", value, name)
		default:
			t.Fatalf("%s: unknown kind %s", name, kind)
		}
	}
	require.Len(t, knobs, len(options))
}

func TestPageViewGivesOneInstant(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	orders := w.tableID("Orders")
	for i := range 3 {
		w.api("PATCH", "/Orders/recOrder000000001", fmt.Sprintf(`{"fields":{"Qty":%d,"Account":["recBolt0000000001"]}}`, i+1)).fields()
	}
	view := func(query string) map[string]any {
		t.Helper()
		return w.control("GET", "/view?base="+baseID+"&table="+orders+query, "").json()
	}
	all := view("")
	require.Len(t, all["requests"], 3)
	require.Len(t, all["changes"], 5)
	last := all["changes"].([]any)[0].(map[string]any)
	require.Equal(t, "O-1", last["title"])
	texts := map[any]any{}
	for _, raw := range all["changes"].([]any) {
		texts[raw.(map[string]any)["field"]] = raw.(map[string]any)["new_text"]
	}
	require.Equal(t, "A-2", texts["Account"], "links are told by name, not by ID")
	grid := all["grid"].(map[string]any)
	require.Equal(t, number("2"), grid["total"])

	require.Empty(t, view("&requests_after=3&changes_after=5")["changes"])
	require.Len(t, view("&requests_after=2")["requests"], 1)
	require.Len(t, view("&rows=1")["grid"].(map[string]any)["rows"], 1)
	require.Equal(t, number("1"), view("&find=o-2")["grid"].(map[string]any)["total"])
	require.Equal(t, number("0"), view("&find=nothing")["grid"].(map[string]any)["total"])
	require.Nil(t, w.control("GET", "/view?base=appNowhere&table=x", "").json()["grid"])
	bad := w.send("GET", "/_sandbox/view?rows=many", "")
	require.Equal(t, http.StatusBadRequest, bad.status)
	require.Contains(t, bad.body, `rows: \"many\" is no number`)
	w.box.ClearRequests()
	require.Equal(t, number("4"), view("")["first_request"], "the page drops what was cleared")
}

func TestEventsTellOfEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/_sandbox/events", nil)
	require.NoError(t, err)
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, resp.Body.Close()) }()
	require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	lines := bufio.NewScanner(resp.Body)
	told := func() {
		t.Helper()
		for lines.Scan() {
			if lines.Text() == "data: stirred" {
				return
			}
		}
		t.Fatal("the events ended: ", lines.Err())
	}
	told()
	for _, stir := range []func(){
		func() { w.api("GET", "/Orders", "") },
		func() { w.control("POST", "/faults", `{"status":500}`) },
		func() { w.control("POST", "/clock", `{"advance":"1h"}`) },
		func() { w.control("PATCH", "/options", `{"rate":3}`) },
		func() { w.control("PATCH", "/"+baseID+"/Orders/recOrder000000001", `{"fields":{"Qty":9}}`) },
	} {
		stir()
		told()
	}
	w.box.Close()
	for lines.Scan() {
		require.NotContains(t, lines.Text(), "error")
	}
	require.NoError(t, lines.Err(), "the stream ends with the sandbox")
}
