package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// hostile is text that would run a script wherever a page took it for markup, a script or a link.
const hostile = `"'><img src=x onerror="pwned=1"><script>pwned=1</script></textarea></title><svg onload=pwned=1>{{.}}` + "`${pwned=1}`" + `javascript:pwned=1`

// TestHostileTextStaysText puts hostile text into everything that people and services may fill in.
func TestHostileTextStaysText(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	p := newBrowser(t).open(t, w.URLs[0], wide)
	p.logIn(w.Token, hostile[:60])
	note, err := json.Marshal(hostile)
	require.NoError(t, err)
	payload := fmt.Sprintf(`{"order":{"id":"O-1","status":"Shipped","delivery_date":"2026-10-05","note":%s},"updated_at":"2026-10-01T08:00:00Z", %s: %s}`, note, note, note)
	w.Hand(t, "Orders", "recOrd00000000001", apptest.Failed, apptest.Doc{"Note": hostile + hostile})
	id := w.File(t, payload, apptest.Doc{"error_detail": hostile, "assigned_owner": hostile[:120]})
	stranger := w.File(t, hostile, apptest.Doc{
		"source_system": hostile[:120], "target_table": hostile[:120], "target_id": hostile, "error_detail": hostile, "source_version": hostile[:90],
	})
	w.Press(t, stranger, apptest.Doc{"requested_by": hostile, "reason": hostile})
	w.Settled(t, stranger)
	status, run := w.Call(t, 0, "POST", "/v1/runs", apptest.Doc{"selector": apptest.Doc{"owner": hostile[:120]}, "dry_run": true, "note": hostile, "requested_by": hostile})
	require.Equal(t, http.StatusAccepted, status, "%v", run)
	w.Finished(t, run["id"].(string))

	seen := func(path, ready string) {
		t.Helper()
		p.visit(path)
		p.until(`'ready' in document.documentElement.dataset && (` + ready + `)`)
		require.Equal(t, "undefined", ask[string](p, `typeof window.pwned`), path)
		require.Empty(t, ask[[]string](p, `[...document.querySelectorAll('img, script:not([src^="/assets/"]), svg[onload], a[href^="javascript:"]')].map(node => node.outerHTML)`), path)
		require.True(t, ask[bool](p, `document.body.innerText.includes('onerror="pwned=1"') || [...document.querySelectorAll('input, textarea')].some(node => node.value.includes('onerror='))`), "%s shows the text as text", path)
		p.sound()
	}
	for path, ready := range map[string]string{
		"/": "true", "/entries": "document.querySelectorAll('[data-row]').length === 2",
		"/entries/" + id: "document.querySelector('#decide .fields')", "/entries/" + stranger: "document.querySelector('#account')",
		"/entries/" + id + "/payload": "true", "/runs": "true", "/runs/" + run["id"].(string): "document.querySelector('#forecast-title')",
	} {
		seen(path, ready)
	}
	w.Replay(t, id, nil)
	seen("/entries/"+id, "document.querySelector('#account')")
	w.Call(t, 0, "POST", "/v1/bases/orders/halt", apptest.Doc{"reason": hostile})
	seen("/", "document.querySelector('.base.bad')")

	p.visit("/entries/" + stranger + "/payload")
	p.until(`'ready' in document.documentElement.dataset`)
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector('textarea').value += '</del><script>pwned=1</script>'`))
	p.click("button[value=compare]")
	p.until(`document.querySelector('.diff ins')`)
	require.Equal(t, "undefined", ask[string](p, `typeof window.pwned`))
	p.sound()

	link := loggedIn(t, w.URLs[0], w.Token).visit("/entries?" + "owner=" + strings.NewReplacer(" ", "+", "<", "%3C", ">", "%3E", `"`, "%22", "{", "%7B", "}", "%7D", "`", "%60", "$", "%24").Replace(hostile[:120]))
	require.NotContains(t, link.body, "<img")
	require.NotContains(t, link.body, "<script>pwned")
}
