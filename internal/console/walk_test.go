package console_test

import (
	"strings"
	"testing"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// TestWalk goes the way of somebody at night: find the group, look at its window, forecast, start, watch
// to the end; then settle what needs a review, put it back, and read the history.
func TestWalk(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	for _, on := range []screen{screens[0], screens[3]} { // wide and light, narrow and dark
		t.Run(on.String(), func(t *testing.T) {
			t.Parallel()
			b.walk(t, on)
		})
	}
}

func (b *browser) walk(t *testing.T, on screen) {
	t.Helper()
	w := stocked(t, apptest.Options{})
	hand := edited(t, w)
	w.Replay(t, hand, nil)
	p := b.open(t, w.URLs[0], on)
	p.logIn(w.Token, "Ann")
	require.Contains(t, p.text("h1"), "35 dead letters wait")
	require.Contains(t, p.text(".group:first-child"), "Airtable kept failing")

	// The first two hours of the night, of sixteen that the plot shows.
	p.drag("#timeline svg", 0.01, 1.9/16)
	p.until(`location.search.includes('first_attempt_from=') && 'ready' in document.documentElement.dataset`)
	require.Contains(t, p.text("#groups-title"), "24 of 35")
	require.Equal(t, "18", p.text(".group:first-child .group-count b"))

	p.click(".group:first-child .button.primary")
	p.at("/runs/new")
	require.Equal(t, "Replay 18 entries", p.text("h1"))
	p.click("button[value=forecast]")
	p.until(`document.querySelector('button[value=start]') && document.querySelector('h1').innerText.startsWith('Forecast')`)
	require.Contains(t, p.text("#progress-title"), "18 of 18 looked at")
	require.Contains(t, p.text(".outcomes"), "Replayed")
	require.Empty(t, w.WriteRequests(), "a forecast writes nothing")

	p.click("button[value=start]")
	p.until(`document.querySelector('.alert.good')`)
	require.Contains(t, p.text(".badge"), "Completed")
	require.Equal(t, "18 of 18", p.text("#progress-title"))
	require.Contains(t, p.text("#run"), "18 = 18 replayed")

	b.settle(p, w, hand)
	p.sound()
}

// settle writes the unchanged fields of an entry at Needs Review, restores it, and reads its history.
func (b *browser) settle(p *tab, w *apptest.World, hand string) {
	t := p.t
	t.Helper()
	p.visit("/entries?outcome=needs_review")
	p.at("/entries")
	p.click("[data-open]")
	p.at("/entries/" + hand)
	p.until(`document.querySelector('.fields [name=field], #decide .fields')`)
	require.Contains(t, p.text("#decide"), "Needs Review")
	require.Contains(t, p.text("#decide .fields"), "2026-10-09")
	p.click("input[value=unchanged_fields]")
	p.until(`document.querySelector('[data-press]')?.innerText === 'Write the unchanged fields' && !document.querySelector('#preview[aria-busy]')`)
	require.Contains(t, p.text("#decide .verdict"), "Partially Replayed")
	p.click("[data-press]")
	p.until(`document.querySelector('.states')?.innerText.includes('Resolved') && 'ready' in document.documentElement.dataset`)
	require.Equal(t, "Shipped", w.OrderCells(t, "O-1")["Status"])
	require.Equal(t, "2026-10-09", w.OrderCells(t, "O-1")["Delivery Date"], "the hand edit is intact")
	require.Contains(t, p.text("#account"), "left alone")

	p.click(`a[href$="/restore"]`)
	p.at("/entries/" + hand + "/restore")
	require.Contains(t, p.text(".fields"), "put back")
	p.set("#reason", "the customer called")
	p.click("main form button.primary")
	p.until(`document.querySelector('.badge')?.innerText.includes('Completed')`)
	require.Equal(t, "Pending", w.OrderCells(t, "O-1")["Status"])
	p.until(`document.querySelector('.alert.good')`)
	require.Contains(t, p.text("#run"), "1 = 1 restored + 0 refused + 0 given back")

	p.visit("/entries/" + hand)
	p.at("/entries/" + hand)
	history := p.text("#history")
	at := -1
	for _, line := range []string{"Filed", "Needs Review", "by Ann (tester)", "Partially Replayed", "Restore asked for", "Restored"} {
		next := strings.Index(history[at+1:], line)
		require.GreaterOrEqual(t, next, 0, "%s, in order, in %s", line, history)
		at += 1 + next
	}
}

// TestKeyboardAlone uses no pointer.
func TestKeyboardAlone(t *testing.T) {
	t.Parallel()
	w := stocked(t, apptest.Options{})
	hand := edited(t, w)
	p := newBrowser(t).open(t, w.URLs[0], wide)
	p.visit("/login")
	p.until(`'ready' in document.documentElement.dataset && document.activeElement.id === 'token'`)
	p.press(w.Token, kb.Tab, "Ann", kb.Enter)
	p.at("/")
	p.reachAll()

	p.press("?")
	p.until(`document.querySelector('#help').open`)
	p.press(kb.Escape)
	p.until(`!document.querySelector('#help').open`)

	// A window by its two fields: month, day, year, hour, minute, AM or PM.
	p.focus("#from")
	p.press("10", "02", "2026", kb.Tab, "03", "00", "AM", kb.Enter)
	p.until(`location.search.includes('2026-10-02T03%3A00') && 'ready' in document.documentElement.dataset`)

	p.press("g", "e")
	p.at("/entries")
	p.press("j", "j", "x")
	require.Equal(t, "1 ticked:", p.text("[data-ticked]"))
	p.reachAll()
	p.press("/")
	p.until(`document.activeElement.matches('[data-search]')`)

	p.visit("/entries/" + hand)
	p.at("/entries/" + hand)
	p.until(`document.querySelector('#decide .fields')`)
	p.reachAll()
	p.focus("[data-mode]:checked")
	p.press(kb.ArrowDown)
	p.until(`document.querySelector('[data-press]')?.innerText === 'Write the unchanged fields' && document.activeElement.matches('[data-mode]:checked')`)
	p.focus("[data-press]")
	p.press(kb.Enter)
	p.until(`document.querySelector('.states')?.innerText.includes('Partially Replayed')`)
	for _, path := range []string{"/runs", "/runs/new?reason=transient_exhausted", "/connect", "/entries/" + hand + "/restore", "/runs/" + apptest.Outcome(w.Entry(t, hand))["run_id"].(string)} {
		p.visit(path)
		p.until(`'ready' in document.documentElement.dataset`)
		p.reachAll()
	}
	p.sound()
}

// focus goes to a control by the Tab key.
func (p *tab) focus(selector string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](`document.activeElement?.blur()`))
	for range 120 {
		p.press(kb.Tab)
		if ask[bool](p, `document.activeElement?.matches(`+quote(selector)+`) ?? false`) {
			return
		}
	}
	require.Fail(p.t, "out of reach of the Tab key", selector)
}

// reachAll wants that the Tab key reaches every control, each with a visible mark, and goes on from it.
func (p *tab) reachAll() {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](`(() => {
		window.scrollTo(0, 0);
		document.activeElement?.blur();
		window.reached = new Set();
	})()`))
	const controls = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary')].filter(node =>
		!node.disabled && node.type !== 'hidden' && node.checkVisibility() && !(node.type === 'radio' && !node.checked))`
	want := ask[int](p, controls+`.length`)
	for range want*3 + 20 { // a date field has parts
		p.press(kb.Tab)
		done := ask[bool](p, `(() => {
			const node = document.activeElement;
			if (node !== document.body && node.matches(':focus-visible') && getComputedStyle(node).outlineStyle !== 'none') window.reached.add(node);
			return `+controls+`.every(node => window.reached.has(node));
		})()`)
		if done {
			return
		}
	}
	require.Empty(p.t, ask[[]string](p, controls+`.filter(node => !window.reached.has(node)).map(node => node.outerHTML.slice(0, 160))`))
}

// TestWithoutScripts replays an entry with scripts switched off.
func TestWithoutScripts(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	hand := edited(t, w)
	p := loggedIn(t, w.URLs[0], w.Token)
	page := p.visit("/entries/" + hand)
	require.Contains(t, page.words(), "Look at it now")
	page = p.visit("/entries/" + hand + "?mode=unchanged_fields&preview=1")
	require.Contains(t, page.words(), "Partially Replayed")
	require.Contains(t, page.words(), "Status Pending Shipped write")
	page = p.submit("/entries/"+hand+"/replay", "mode", "chosen_fields", "field", "Delivery Date", "expect", page.field(t, "expect"))
	require.Equal(t, 200, page.status, page.words())
	e := w.Settled(t, hand)
	require.Equal(t, "2026-10-05", w.OrderCells(t, "O-1")["Delivery Date"], "%v", e)
	require.Equal(t, "Pending", w.OrderCells(t, "O-1")["Status"])
}

// A decision is held to what was shown: what changed since goes back to review.
func TestDecisionIsHeldToWhatWasShown(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	hand := edited(t, w)
	p := loggedIn(t, w.URLs[0], w.Token)
	page := p.visit("/entries/" + hand + "?mode=overwrite&preview=1")
	require.Contains(t, page.words(), "Everything would be overwritten")
	refused := p.submit("/entries/"+hand+"/replay", "mode", "overwrite", "expect", page.field(t, "expect"))
	require.Equal(t, 422, refused.status)
	require.Contains(t, refused.words(), "reason is required")
	refused = p.submit("/entries/"+hand+"/replay", "mode", "chosen_fields", "field", "Status")
	require.Equal(t, 422, refused.status)
	require.Contains(t, refused.words(), "look at what is in Airtable now first")

	w.Hand(t, "Orders", "recOrd00000000001", apptest.Failed.AddDate(0, 0, 3), apptest.Doc{"Delivery Date": "2026-11-11"})
	p.submit("/entries/"+hand+"/replay", "mode", "overwrite", "reason", "the sender is right", "expect", page.field(t, "expect"))
	apptest.RequireOutcome(t, w.Settled(t, hand), "needs_review", "shared_field_changed")
	require.Equal(t, "2026-11-11", w.OrderCells(t, "O-1")["Delivery Date"])
}

// The queue's own console works for admins, under its own policy.
func TestQueueConsole(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	w.Replay(t, w.File(t, order("O-1", "Shipped", "2026-10-05"), nil), nil)
	p := newBrowser(t).open(t, w.URLs[0], wide)
	p.logIn(w.Token, "Ann")
	p.visit("/river/jobs?state=completed")
	p.until(`document.querySelector('#root').innerText.includes('work_base')`)
	p.sound()
}

// Chosen fields are written whatever changed since, and no others.
func TestChosenFieldsInTheBrowser(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	hand := edited(t, w)
	p := newBrowser(t).open(t, w.URLs[0], wide)
	p.logIn(w.Token, "Ann")
	p.visit("/entries/" + hand)
	p.until(`document.querySelector('#decide .fields')`)
	p.click("input[value=chosen_fields]")
	p.until(`document.querySelector('#decide [name=field]')`)
	require.Regexp(t, `(?s)Delivery Date.*look closely.*Changed after the first attempt.*Status.*unchanged since`, p.text("#decide .fields"))
	p.click("[data-press]")
	p.until(`document.querySelector('main > .alert')`)
	require.Contains(t, p.text("main > .alert"), "tick the fields to write")
	p.until(`document.querySelector('#decide .fields')`)
	p.click("input[value=chosen_fields]")
	p.until(`document.querySelector('#decide [name=field]')`)
	p.click(`[name=field][value="Delivery Date"]`)
	p.click("[data-press]")
	p.until(`document.querySelector('.states')?.innerText.includes('Resolved')`)
	require.Equal(t, "2026-10-05", w.OrderCells(t, "O-1")["Delivery Date"])
	require.Equal(t, "Pending", w.OrderCells(t, "O-1")["Status"])
	p.sound()
}

// A preview that fails says so where it would stand, once, and the page stays usable.
func TestFailedPreviewSaysSo(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	id := w.File(t, order("O-1", "Shipped", "2026-10-05"), nil)
	w.Fault(t, sandbox.Fault{Method: "GET", Table: "Orders", Status: 503, Times: 1})
	p := newBrowser(t).open(t, w.URLs[0], wide)
	p.logIn(w.Token, "Ann")
	p.visit("/entries/" + id)
	p.until(`document.querySelector('#preview [role=alert]')`)
	require.Contains(t, p.text("#preview"), "Airtable could not be asked")
	require.Contains(t, p.text("#preview"), "Try again")
	p.click("[data-look]")
	p.until(`document.querySelector('#decide .fields')`)
	p.sound()
}
