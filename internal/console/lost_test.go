package console_test

import (
	"net/http"
	"regexp"
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// On a narrow screen every row can be opened, that of an entry without a readable ID too.
func TestNarrowListOpensEveryRow(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	id := w.FileBytes(t, []byte("not JSON at all"), nil)
	p := newBrowser(t).open(t, w.URLs[0], screen{width: 390, height: 844})
	p.logIn(w.Token, "Ann")
	p.visit("/entries?status=pending_review")
	p.at("/entries")
	require.Equal(t, "ID not readable", p.text("[data-open]"))
	p.click("[data-open]")
	p.at("/entries/" + id)
	p.sound()
}

func TestUnknownPathIsAPageForABrowserAlone(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	for _, c := range []struct {
		path, accept, media string
		status              int
	}{
		{"/nope", browser, "text/html; charset=utf-8", http.StatusNotFound},
		{"/nope/deeper", browser, "text/html; charset=utf-8", http.StatusNotFound},
		{"/nope", "*/*", "application/problem+json", http.StatusNotFound},
		{"/v1/nope", browser, "application/problem+json", http.StatusNotFound},
		{"/openapi.yaml", browser, "application/yaml", http.StatusOK},
		{"/healthz", browser, "application/json", http.StatusOK},
	} {
		a := p.send(http.MethodGet, c.path, nil, "Accept", c.accept)
		require.Equal(t, c.status, a.status, c.path)
		require.Equal(t, c.media, a.header.Get("Content-Type"), c.path)
	}
	require.Contains(t, p.send(http.MethodGet, "/nope", nil, "Accept", browser).words(), "There is no page at this address.")
}

// A press that failed says for which entry it was and why, and the filter by reason offers what it can find.
func TestRunSaysWhatItWasAboutAndWhyItFailed(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	p := loggedIn(t, w.URLs[0], w.Token)
	id := w.File(t, order("O-404", "Shipped", "2026-10-05"), nil)
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replay_failed", "no_match")
	runs := p.visit("/runs")
	require.Contains(t, runs.words(), "Press O-404 Orders")
	require.Equal(t, "/entries/"+id, link(t, runs, "O-404"))
	page := p.visit(link(t, runs, "Press"))
	require.Contains(t, page.words(), "1 Replay Failed : No record has this ID no_match")
	why := regexp.MustCompile(`(?s)<ul class="plain why">.*?</ul>`).FindString(page.body)
	require.Equal(t, []string{id}, rows(p.visit(link(t, answer{body: why}, "Replay Failed"))))

	list := p.visit("/entries")
	require.Contains(t, list.body, `<option value="transient_exhausted">`)
	require.NotContains(t, list.body, `<option value="no_match"`)
	require.Contains(t, p.visit("/entries?reason=no_match").body, `<option value="no_match" selected>`)
}

// The page names every input variable that the script reads.
func TestConnectNamesTheInputsOfItsScript(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	page := loggedIn(t, w.URLs[0], w.Token).visit("/connect")
	read := regexp.MustCompile(`\binputs\.(\w+)`).FindAllStringSubmatch(page.body, -1)
	require.NotEmpty(t, read)
	for _, m := range read {
		require.Contains(t, page.body, "<dt>input "+m[1]+"</dt>")
	}
}
