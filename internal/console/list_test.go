package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// rows are the IDs of the entries that a list shows.
func rows(a answer) []string {
	var out []string
	for _, m := range regexp.MustCompile(`href="/entries/([0-9a-f-]{36})" data-open`).FindAllStringSubmatch(a.body, -1) {
		out = append(out, m[1])
	}
	return out
}

// link is where the link with a text leads.
func link(t *testing.T, a answer, text string) string {
	t.Helper()
	m := regexp.MustCompile(`<a [^>]*href="([^"]*)"[^>]*>\s*` + regexp.QuoteMeta(text) + `\s*<`).FindStringSubmatch(a.body)
	require.NotNil(t, m, "no link %q in %s", text, a.words())
	return html.UnescapeString(m[1])
}

func TestListNarrowsByEveryFilterOfItsAddress(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	file := func(minute int, more apptest.Doc) string {
		doc := apptest.Doc{"first_attempt_at": day.Add(time.Duration(minute) * time.Minute).Format(time.RFC3339)}
		for k, v := range more {
			doc[k] = v
		}
		return w.File(t, order(fmt.Sprintf("X-%d", minute), "Shipped", "2026-10-05"), doc)
	}
	a := file(0, nil)
	b := file(60, apptest.Doc{"reason_code": "no_match", "assigned_owner": "Ben & <Co>"})
	c := file(120, apptest.Doc{"error_detail": "needle in the hay"})
	d := w.File(t, `{"account":{"id":"A-9","name":"Nine"},"updated_at":"2026-10-01T08:00:00Z"}`, apptest.Doc{"source_system": "account-system", "first_attempt_at": day.Add(3 * time.Hour).Format(time.RFC3339)})
	for query, want := range map[string][]string{
		"":                                      {d, c, b, a},
		"status=pending_review":                 {d, c, b, a},
		"status=ignored":                        nil,
		"reason=no_match":                       {b},
		"source=account-system":                 {d},
		"target=Orders":                         {c, b, a},
		"target_id=X-60":                        {b},
		"owner=Ben+%26+%3CCo%3E":                {b},
		"q=needle":                              {c},
		"first_attempt_from=2026-10-02T01%3A00": {d, c, b},
		"first_attempt_to=2026-10-02T01%3A00Z":  {a},
		"first_attempt_from=2026-10-02T01:00:00Z&first_attempt_to=2026-10-02T02:00:01Z&target=Orders": {c, b},
	} {
		page := p.visit("/entries?" + query)
		require.Equal(t, http.StatusOK, page.status, query)
		require.Equal(t, want, rows(page), query)
	}
	page := p.visit("/entries?owner=Ben+%26+%3CCo%3E&reason=no_match")
	require.Contains(t, page.words(), "Owner Ben & <Co> ×")
	require.NotContains(t, page.body, "<Co>", "escaped")
	require.Equal(t, "/entries?owner=Ben+%26+%3CCo%3E", link(t, answer{body: strings.ReplaceAll(page.body, `<span class="chip-name">Reason</span>`, "")}, "no_match"), "each filter can be taken off")

	for query, fault := range map[string]string{
		"status=lost": "status must be one of", "first_attempt_from=yesterday": "first_attempt_from must be a time", "run=x": "run must be an ID",
		"limit=-1": "limit must be a whole number", "limit=0": "limit must be", "limit=abc": "limit must be", "cursor=x": "cursor",
	} {
		page := p.visit("/entries?" + query)
		require.Equal(t, http.StatusUnprocessableEntity, page.status, query)
		require.Contains(t, page.words(), fault, query)
	}
}

func TestListGoesOnPageByPage(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	var all []string
	for i := range 7 {
		all = append([]string{w.File(t, order(fmt.Sprintf("X-%d", i), "Shipped", "2026-10-05"), apptest.Doc{"first_attempt_at": day.Add(time.Duration(i) * time.Minute).Format(time.RFC3339)})}, all...)
	}
	var got []string
	page := p.visit("/entries?limit=3&status=pending_review")
	require.Contains(t, page.words(), "Entries 7", "the count is of the filter, not of the page")
	for {
		got = append(got, rows(page)...)
		if !strings.Contains(page.body, "Next page") {
			break
		}
		page = p.visit(link(t, page, "Next page"))
	}
	require.Equal(t, all, got)
	require.Equal(t, "/entries?limit=3&status=pending_review", link(t, page, "First page"))
}

func TestOrdersOnTickedEntries(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	a, b := w.File(t, order("O-1", "Shipped", "2026-10-05"), nil), w.File(t, order("O-2", "Shipped", "2026-10-05"), nil)
	here := "/entries?status=pending_review"

	page := p.submit("/entries", "here", here, "do", "ignore")
	require.Equal(t, http.StatusUnprocessableEntity, page.status)
	require.Contains(t, page.words(), "No entry is ticked.")
	require.ElementsMatch(t, []string{a, b}, rows(page), "the list stays on the screen")

	page = p.submit("/entries", "here", here, "do", "assign", "owner", "Ben", "id", a, "id", b)
	require.Contains(t, page.words(), "2 entries assigned to Ben.")
	require.Equal(t, "Ben", w.Entry(t, a)["assigned_owner"])

	page = p.submit("/entries", "here", here, "do", "ignore", "reason", "a test", "id", a)
	require.Contains(t, page.words(), "1 entry ignored.")
	require.Equal(t, []string{b}, rows(page))
	page = p.submit("/entries", "here", here, "do", "ignore", "reason", "again", "id", a, "id", b)
	require.Contains(t, page.words(), "1 entry ignored. Left as they are:")
	require.Equal(t, "ignored", w.Entry(t, b)["status"])

	page = p.submit("/entries", "here", "https://evil.example/entries", "do", "reopen", "id", a, "id", b)
	require.Equal(t, http.StatusUnprocessableEntity, page.status, "reopening needs a reason")
	page = p.submit("/entries", "here", here, "do", "reopen", "reason", "needed after all", "id", a, "id", b)
	require.Contains(t, page.words(), "2 entries reopened.")
	require.Equal(t, http.StatusUnprocessableEntity, p.submit("/entries", "do", "burn", "id", a).status)

	page = p.submit("/entries", "here", here, "do", "replay", "id", a, "id", b)
	require.Equal(t, "/runs/new", page.path)
	require.Contains(t, page.words(), "Replay 2 entries")
	page = p.submit("/runs", "id", a, "id", b, "do", "start", "note", "both")
	require.Regexp(t, `^/runs/[0-9a-f-]{36}$`, page.path)
	require.Equal(t, "replaying", w.Entry(t, a)["status"])

	// Case B94: a refused run leaves the person where they were.
	page = p.submit("/runs", "id", a, "do", "start")
	require.Equal(t, http.StatusUnprocessableEntity, page.status)
	require.Contains(t, page.words(), "Nothing is selected, no run was started")
	require.Equal(t, a, page.field(t, "id"))
}

// Case B88: a run says 0 of 3 before anybody has begun, and a run over nothing is refused.
func TestRunIsNotCompleteBeforeItBegan(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	var form []string
	for i := range 3 {
		form = append(form, "id", w.File(t, order(fmt.Sprintf("O-%d", i+1), "Shipped", "2026-10-05"), nil))
	}
	page := p.submit("/runs", append(form, "do", "start")...)
	require.Contains(t, page.words(), "Queued")
	require.Contains(t, page.words(), "0 of 3")
	require.NotContains(t, page.words(), "Completed")
	require.NotContains(t, page.words(), "Yes: every entry")
	require.Contains(t, page.body, `<progress max="3" value="0"`)

	empty := p.visit("/runs/new")
	require.Equal(t, http.StatusUnprocessableEntity, empty.status)
	require.Contains(t, empty.words(), "Nothing is selected for the run.")
	empty = p.submit("/runs", "reason", "no_match", "do", "start")
	require.Equal(t, http.StatusUnprocessableEntity, empty.status)
	require.Contains(t, empty.words(), "Nothing to replay")
	require.NotContains(t, empty.body, `value="start"`, "there is nothing to start")
	require.Equal(t, "/entries?reason=no_match", link(t, empty, "What matches in any status"))

	cancelled := p.submit(page.path+"/cancel", "reason", "not now")
	require.Contains(t, cancelled.words(), "Cancelled")
	require.Contains(t, cancelled.words(), "Given back 3")
	require.Contains(t, cancelled.words(), "3 Given back : Its run was cancelled cancelled")
	require.Contains(t, cancelled.words(), "3 = 0 replayed + 0 partially + 0 superseded + 0 to review + 0 failed + 3 given back")
	again := p.submit(page.path+"/cancel", "reason", "not now")
	require.Equal(t, http.StatusConflict, again.status)
}

func TestForecastThenRunThenEvidence(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	p := loggedIn(t, w.URLs[0], w.Token)
	hand := edited(t, w)
	clean := w.File(t, order("O-2", "Shipped", "2026-10-05"), nil)
	page := p.submit("/runs", "reason", "transient_exhausted", "do", "forecast", "mode", "checked")
	require.Contains(t, page.words(), "Forecast 2 entries")
	w.Finished(t, page.path[len("/runs/"):])
	page = p.visit(page.path)
	require.Contains(t, page.words(), "2 of 2 looked at")
	require.Contains(t, page.words(), "Replayed 1")
	require.Contains(t, page.words(), "Needs Review 1")
	require.Contains(t, page.words(), "1 Edited by hand after the failure shared_field_changed")
	require.Empty(t, w.WriteRequests())
	require.Equal(t, "pending_review", w.Entry(t, clean)["status"])

	page = p.submit("/runs", "reason", page.field(t, "reason"), "mode", page.field(t, "mode"), "do", "start")
	id := page.path[len("/runs/"):]
	w.Finished(t, id)
	page = p.visit(page.path)
	require.Contains(t, page.words(), "Completed")
	require.Contains(t, page.words(), "2 of 2")
	require.Contains(t, page.words(), "Yes: every entry that was claimed has an outcome or went back")
	require.Equal(t, []string{hand}, rows(p.visit("/entries?"+url.Values{"run": {id}, "outcome": {"needs_review"}}.Encode())))
	require.Contains(t, page.words(), "1 Needs Review : Edited by hand after the failure shared_field_changed")
	require.Contains(t, page.body, `<b class="num">1</b> <a href="/entries?run=`+id+`&amp;outcome=needs_review">Needs Review</a>`)
	csv := p.visit(page.path + "/evidence?format=csv")
	require.Equal(t, `attachment; filename="run-`+id+`.csv"`, csv.header.Get("Content-Disposition"))
	require.Contains(t, csv.body, hand)
	require.Contains(t, p.visit(page.path+"/evidence?format=json").body, clean)
	require.Equal(t, http.StatusUnprocessableEntity, p.visit(page.path+"/evidence?format=xml").status)
}

func TestRunThatDoesNotAddUpSaysSoLoudly(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	p := loggedIn(t, w.URLs[0], w.Token)
	run := w.Press(t, w.File(t, order("O-1", "Shipped", "2026-10-05"), nil), nil)
	w.Finished(t, run)
	other := w.Press(t, w.File(t, order("O-2", "Shipped", "2026-10-05"), nil), nil)
	apptest.Eventually(t, func() bool { return w.Read(t, "/v1/runs/"+other)["finished_at"] != nil }, "the run is over")
	_, err := w.DB.Pool.Exec(t.Context(), `UPDATE run SET claimed = 5, id = gen_random_uuid() WHERE id = $1`, other)
	require.NoError(t, err)
	var broken string
	require.NoError(t, w.DB.Pool.QueryRow(t.Context(), `SELECT id::text FROM run WHERE claimed = 5`).Scan(&broken))
	page := p.visit("/runs/" + broken)
	require.Contains(t, page.words(), "No. The numbers of this run do not add up.")
	require.Contains(t, page.body, `<div class="alert bad" role="alert">`)
	require.Contains(t, p.visit("/runs/"+run).words(), "Yes: every entry")
}
