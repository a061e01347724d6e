package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// Case B20: the screen shows and copies exact digits, and an untouched form changes nothing.
func TestBigNumbersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	payload := `{"id":1970670598291982290,"order":{"id":"O-1","status":"Shipped","quantity":123456789012345678901234567890.10},"updated_at":"2026-10-01T08:00:00Z"}`
	id := w.File(t, payload, nil)
	page := p.visit("/entries/" + id)
	require.Contains(t, page.words(), "1970670598291982290")
	require.Contains(t, page.words(), "123456789012345678901234567890.10")

	form := p.visit("/entries/" + id + "/payload")
	require.Contains(t, form.field(t, "payload"), `"id": 1970670598291982290,`)
	a := p.submit("/entries/"+id+"/payload", "payload", form.field(t, "payload"), "revision", form.field(t, "revision"), "do", "save")
	require.Equal(t, http.StatusOK, a.status, a.words())
	e := w.Entry(t, id)
	require.Equal(t, payload, e["raw_payload"])
	require.Equal(t, "0", fmt.Sprint(e["payload_revision"]))
	require.Equal(t, payload, p.visit("/entries/"+id+"/raw").body)
}

// An untouched form brings back every payload, whatever line breaks browsers make of it.
func TestUntouchedFormChangesNothing(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	for i, payload := range []string{
		"", "\n", "\r\n{}\r\n", "{\r\n\"a\":1\n}", "\n\n{\"a\": \"</textarea><b>\"}\n", "  {} ", "not JSON at all: é ✓ \u2028 \t", "{\"a\":\"\u00a0\"}", "\r",
		"bytes \x00 and \xff", `{"due":"2026-05-10"}`, `&lt;&amp;`,
	} {
		id := w.FileBytes(t, []byte(payload), apptest.Doc{"first_attempt_at": fmt.Sprintf("2026-10-02T09:%02d:00Z", i)})
		form := p.visit("/entries/" + id + "/payload")
		sent := form.field(t, "payload")
		asBrowser := strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(sent, "\r\n", "\n"), "\r", "\n"), "\n", "\r\n")
		for _, do := range []string{"compare", "save"} {
			a := p.submit("/entries/"+id+"/payload", "payload", asBrowser, "revision", form.field(t, "revision"), "do", do)
			require.Equal(t, http.StatusOK, a.status, "%q: %s", payload, a.words())
			if do == "compare" {
				require.Contains(t, a.words(), "Nothing is changed.", "%q", payload)
			}
		}
		require.Equal(t, "0", fmt.Sprint(w.Entry(t, id)["payload_revision"]), "%q", payload)
		require.Equal(t, payload, p.visit("/entries/"+id+"/raw").body)
	}
}

// Case B37: a date stays the date that it is, however often the form is saved.
func TestDatesNeverSlide(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	p := loggedIn(t, w.URLs[0], w.Token)
	id := w.File(t, order("O-1", "Shipped", "2026-05-10"), nil)
	for i := range 3 {
		form := p.visit("/entries/" + id + "/payload")
		text := strings.Replace(form.field(t, "payload"), `"updated_at":`, fmt.Sprintf(`"save-%d":true,"updated_at":`, i), 1)
		a := p.submit("/entries/"+id+"/payload", "payload", text, "revision", form.field(t, "revision"), "reason", "again", "do", "save")
		require.Equal(t, "/entries/"+id, a.path, a.words())
		require.Contains(t, a.words(), `"delivery_date": "2026-05-10"`)
	}
	preview := p.visit("/entries/" + id + "?preview=1").words()
	require.Contains(t, preview, "2026-05-10")
	require.Contains(t, preview, "2026-10-01", "as Airtable has it")
	require.NotContains(t, preview, "2026-05-09")
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
	require.Equal(t, "2026-05-10", w.OrderCells(t, "O-1")["Delivery Date"])
}

func TestEditShowsWhatChangesAndKeepsEveryRevision(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	first := order("O-1", "Sent", "2026-10-05")
	second := order("O-1", "Shipped", "2026-10-05")
	id := w.File(t, first, nil)
	a := p.submit("/entries/"+id+"/payload", "payload", second, "revision", "0", "do", "compare")
	require.Contains(t, a.body, `<del>    &#34;status&#34;: &#34;Sent&#34;,</del>`)
	require.Contains(t, a.body, `<ins>    &#34;status&#34;: &#34;Shipped&#34;,</ins>`)
	require.Contains(t, a.words(), "The rules accept it: Orders O-1")
	require.Equal(t, first, w.Entry(t, id)["raw_payload"], "comparing saves nothing")

	a = p.submit("/entries/"+id+"/payload", "payload", second, "revision", "0", "do", "save")
	require.Equal(t, http.StatusUnprocessableEntity, a.status)
	require.Contains(t, a.words(), "reason is required")
	a = p.submit("/entries/"+id+"/payload", "payload", second, "revision", "0", "do", "save", "reason", "a typo")
	require.Equal(t, "/entries/"+id, a.path)
	require.Contains(t, a.words(), "Revision 1, edited by Ann (tester)")
	require.Contains(t, a.words(), "a typo")
	require.Contains(t, a.words(), "As filed by tester")

	a = p.submit("/entries/"+id+"/payload", "payload", first, "revision", "0", "do", "save", "reason", "in another tab")
	require.Equal(t, http.StatusConflict, a.status, "somebody has edited it meanwhile: %s", a.words())
	require.Equal(t, second, w.Entry(t, id)["raw_payload"])

	a = p.submit("/entries/"+id+"/payload", "payload", `{"order":{"id":"O-1","status":"Lost"},"updated_at":"2026-10-01T08:00:00Z"}`, "revision", "1", "do", "compare")
	require.Contains(t, a.words(), "The rules do not accept it yet:")
	require.Contains(t, a.words(), "Status")
}

// Case B45: an empty payload is listed, opened, refused with what is wrong, and can be dismissed.
func TestEmptyPayloads(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	p := loggedIn(t, w.URLs[0], w.Token)
	for i, payload := range []string{`{}`, `{"order":{}}`, ``} {
		id := w.FileBytes(t, []byte(payload), apptest.Doc{"first_attempt_at": fmt.Sprintf("2026-10-02T09:%02d:00Z", i)})
		require.Contains(t, p.visit("/entries").body, "/entries/"+id)
		page := p.visit("/entries/" + id + "?preview=1")
		require.Equal(t, http.StatusOK, page.status)
		require.Contains(t, page.words(), "Replay Failed")
		a := p.submit("/entries/"+id+"/ignore", "reason", "nothing in it")
		require.Equal(t, http.StatusOK, a.status)
		require.Contains(t, a.words(), "nothing in it")
		require.Equal(t, "ignored", w.Entry(t, id)["status"])
	}
	require.Empty(t, w.WriteRequests())
}

// Case B84: a press on a closed entry says so, and shows the state that it is in.
func TestPressOnAClosedEntry(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	p := loggedIn(t, w.URLs[0], w.Token)
	id := w.File(t, order("O-1", "Shipped", "2026-10-05"), nil)
	old := p.visit("/entries/" + id + "?preview=1")
	w.Replay(t, id, nil)
	writes := w.Writes()
	a := p.submit("/entries/"+id+"/replay", "mode", "checked", "expect", old.field(t, "expect"))
	require.Equal(t, http.StatusConflict, a.status)
	require.Regexp(t, `This entry was already settled at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC by .*: replayed\.`, a.words())
	require.Contains(t, a.words(), "Resolved Replayed", "the page has the state as it is now")
	require.NotContains(t, a.body, "data-press")
	require.Equal(t, writes, w.Writes())
}

// Case B87: a press that starts nothing says so; one that waits shows for what.
func TestPressWhileTheBaseIsHaltedOrNobodyWorks(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	id := w.File(t, order("O-1", "Shipped", "2026-10-05"), nil)
	a := p.submit("/bases/orders/halt", "reason", "the token was revoked")
	require.Contains(t, a.words(), "orders Halted")
	require.Contains(t, a.words(), "The token was revoked. Halted just now by Ann (tester).")
	a = p.submit("/entries/"+id+"/replay", "mode", "checked")
	require.Equal(t, http.StatusConflict, a.status)
	require.Contains(t, a.words(), "Base orders is halted, nothing was started: the token was revoked")
	a = p.visit("/entries/" + id + "?preview=1")
	require.Contains(t, a.words(), "Base orders is halted")
	a = p.submit("/runs", "id", id, "do", "start")
	require.Equal(t, http.StatusConflict, a.status)
	require.Contains(t, a.words(), "nothing was started")

	require.Contains(t, p.submit("/bases/orders/resume").words(), "orders Running")
	require.Equal(t, http.StatusConflict, p.submit("/bases/orders/resume").status)
	a = p.submit("/entries/"+id+"/replay", "mode", "checked")
	require.Equal(t, http.StatusOK, a.status)
	require.Contains(t, a.words(), "Queued Asked for by Ann (tester) just now , both checks.")
	require.Contains(t, a.words(), "No worker has taken base orders yet")

	_, err := w.DB.Pool.Exec(t.Context(), `UPDATE base SET paused_until = replay_now() + interval '1 minute', pause_reason = 'Airtable answered 429' WHERE name = 'orders'`)
	require.NoError(t, err)
	require.Regexp(t, `Base orders is paused until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d.* UTC: Airtable answered 429\.`, p.visit("/entries/"+id).words())
	require.Regexp(t, `orders Paused until \d\d:\d\d:\d\d UTC`, p.visit("/").words(), "case B111")
}

// Case B90: until it is freed, the page of an entry that nobody finishes shows who holds it since when.
func TestAHeldEntryShowsWhoHoldsIt(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	id := w.File(t, order("O-1", "Shipped", "2026-10-05"), nil)
	w.Press(t, id, apptest.Doc{"requested_by": "Ben"})
	_, err := w.DB.Pool.Exec(t.Context(), `UPDATE base SET lease_holder = 'host-7/4711', lease_until = replay_now() + interval '30 seconds' WHERE name = 'orders'`)
	require.NoError(t, err)
	page := p.visit("/entries/" + id)
	require.Contains(t, page.words(), "Asked for by Ben just now")
	require.Contains(t, page.words(), "Base orders is worked on by host-7/4711")
	_, err = w.DB.Pool.Exec(t.Context(), `UPDATE base SET lease_until = replay_now() - interval '30 seconds' WHERE name = 'orders'`)
	require.NoError(t, err)
	a := p.submit("/entries/"+id+"/reset", "reason", "host-7 is gone")
	require.Equal(t, http.StatusOK, a.status, a.words())
	require.Contains(t, a.words(), "Reset → Pending Review by Ann (tester)")
	require.Contains(t, a.words(), "host-7 is gone")
}

// Case B91: what was tried is on the page, dated, with actor and outcome, in order.
func TestHistoryIsOnThePage(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	p := loggedIn(t, w.URLs[0], w.Token)
	id := w.File(t, order("O-1", "Lost", "2026-10-05"), nil)
	press := func() {
		require.Equal(t, http.StatusOK, p.submit("/entries/"+id+"/replay", "mode", "checked").status)
		w.Settled(t, id)
	}
	edit := func(status, revision string) {
		a := p.submit("/entries/"+id+"/payload", "payload", order("O-1", status, "2026-10-05"), "revision", revision, "do", "save", "reason", "no such status as "+status)
		require.Equal(t, "/entries/"+id, a.path, a.words())
	}
	press()
	edit("Gone", "0")
	press() // case B85: and again
	edit("Shipped", "1")
	press()
	page := p.visit("/entries/" + id)
	_, history, ok := strings.Cut(page.words(), " History ")
	require.True(t, ok)
	require.Regexp(t, `Filed .* by tester .*`+
		`Replay asked for → Replaying by Ann \(tester\) .*Settled Replay Failed → Pending Review .*`+
		`Payload edited by Ann \(tester\) .*no such status as Gone.*`+
		`Replay asked for .*Settled Replay Failed .*`+
		`Payload edited .*no such status as Shipped.*`+
		`Replay asked for .*Settled Replayed → Resolved`, history)
	require.GreaterOrEqual(t, strings.Count(page.body[strings.Index(page.body, `id="history"`):], "<time "), 9)
	require.Equal(t, "Shipped", w.OrderCells(t, "O-1")["Status"])
}

// Case B95: an error page of two megabytes leaves the entry's page small.
func TestLongErrorsStaySmall(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	id := w.File(t, order("O-1", "Shipped", "2026-10-05"), apptest.Doc{"error_detail": strings.Repeat("<html>", 15_000)})
	require.Less(t, len(p.visit("/entries/"+id).body), 100_000)
	require.Less(t, len(p.visit("/entries").body), 60_000)
}

// Case B72: whether a record was created or updated is told, and which one.
func TestCreatedOrUpdatedIsTold(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	p := loggedIn(t, w.URLs[0], w.Token)
	created := w.File(t, order("O-77", "Shipped", "2026-10-05"), apptest.Doc{"operation": "upsert"})
	updated := w.File(t, order("O-1", "Shipped", "2026-10-05"), apptest.Doc{"operation": "upsert"})
	w.Finished(t, w.RunIDs(t, nil, created, updated))
	page := p.visit("/entries/" + created)
	require.Contains(t, page.words(), "The record was created by it.")
	require.Contains(t, page.words(), "Record "+apptest.Outcome(w.Entry(t, created))["record_id"].(string))
	page = p.visit("/entries/" + updated)
	require.NotContains(t, page.words(), "was created by it")
	require.Contains(t, page.words(), "Record recOrd00000000001")
	require.Equal(t, []string{updated}, rows(p.visit(link(t, page, "All entries of this record"))))
}

func TestStuckEntriesAreShownAndReset(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	p := loggedIn(t, w.URLs[0], w.Token)
	id := w.File(t, order("O-1", "Shipped", "2026-10-05"), nil)
	w.Press(t, id, nil)
	require.NotContains(t, p.visit("/").words(), "stuck")
	_, err := w.DB.Pool.Exec(t.Context(), `UPDATE base SET asked_at = replay_now() - interval '1 hour', progress_at = replay_now() - interval '1 hour' WHERE name = 'orders'`)
	require.NoError(t, err)
	_, err = w.DB.Pool.Exec(t.Context(), `UPDATE entry SET due_at = replay_now() - interval '1 hour', requested_at = replay_now() - interval '1 hour'`)
	require.NoError(t, err)
	require.Contains(t, p.visit("/").words(), "1 entry is stuck : being replayed, but nobody works on it any more.")
	require.NotContains(t, p.submit("/stuck/reset").words(), "stuck")
	require.Equal(t, "pending_review", w.Entry(t, id)["status"])
}
