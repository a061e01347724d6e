package console_test

import (
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// screens are how every page is looked at: wide and narrow, light and dark.
var screens = []screen{wide, {width: 1280, height: 800, dark: true}, {width: 390, height: 844}, {width: 390, height: 844, dark: true}}

// accessible holds a page to axe's rules, and to the width of the screen.
func (p *tab) accessible(source, name string, on screen) {
	p.t.Helper()
	p.screenshot(name)
	p.run(chromedp.Evaluate[chromedp.Void](source))
	require.Empty(p.t, ask[[]string](p, `axe.run(document).then(found => found.violations
		.filter(v => ['serious', 'critical'].includes(v.impact))
		.map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ') + ' ' + n.failureSummary).join('; ')))`), name)
	require.LessOrEqual(p.t, ask[int](p, `document.documentElement.scrollWidth`), int(on.width), "%s is wider than the screen", name)
}

func TestPages(t *testing.T) {
	t.Parallel()
	b, source := newBrowser(t), axe(t)
	for _, on := range screens {
		t.Run(on.String(), func(t *testing.T) {
			t.Parallel()
			b.lookAround(t, source, on)
		})
	}
}

func (b *browser) lookAround(t *testing.T, source string, on screen) {
	t.Helper()
	w := stocked(t, apptest.Options{})
	hand := edited(t, w)
	p := b.open(t, w.URLs[0], on)
	look := func(path, name, ready string) {
		t.Helper()
		if path != "" {
			p.visit(path)
		}
		p.until(`'ready' in document.documentElement.dataset && (` + ready + `)`)
		p.accessible(source, name, on)
	}
	look("/login", "login", "true")
	p.logIn(w.Token, "Ann")
	look("/", "overview", "document.querySelectorAll('.bar').length > 3")
	look("/?first_attempt_from=2026-10-02T03:00:00Z&first_attempt_to=2026-10-02T05:00:00Z", "overview-window", "document.querySelector('.selected')")
	look("/entries?status=pending_review", "list", "document.querySelectorAll('[data-row]').length > 20")
	look("/entries?q=nothing-like-this", "list-empty", "document.querySelector('.empty')")
	look("/entries/"+hand, "entry", "document.querySelector('#decide .fields')")
	look("/entries/"+hand+"/payload", "edit", "true")
	look("/runs/new?reason=transient_exhausted&source=order-system", "plan", "true")
	look("/runs", "runs-empty", "true")
	look("/connect", "connect", "true")
	p.click(".steps form button")
	look("", "doctor", "document.querySelector('.findings')")
	look("/entries/nowhere", "wrong", "document.querySelector('.alert')")

	w.Replay(t, hand, nil)
	look("/entries/"+hand, "entry-review", "document.querySelector('#account') && document.querySelector('#decide .fields')")
	w.Replay(t, hand, apptest.Doc{"mode": "unchanged_fields"})
	look("/entries/"+hand, "entry-resolved", "document.querySelector('#account')")
	look("/entries/"+hand+"/restore", "restore", "document.querySelector('.fields')")
	forecast := w.RunIDs(t, apptest.Doc{"dry_run": true, "selector": apptest.Doc{"reason": "transient_exhausted"}})
	look("/runs/"+forecast, "forecast", "document.querySelector('#forecast-title')")
	run := w.RunIDs(t, apptest.Doc{"selector": apptest.Doc{"reason": "transient_exhausted"}})
	look("/runs/"+run, "run", "document.querySelector('#sum-title')")
	w.Finished(t, run)
	look("/runs/"+run, "run-done", "document.querySelector('.alert.good')")
	look("/runs", "runs", "document.querySelectorAll('[data-row]').length > 3")
	w.Call(t, 0, "POST", "/v1/bases/orders/halt", apptest.Doc{"reason": "Airtable answers 401: the token was revoked"})
	look("/", "overview-halted", "document.querySelector('.base.bad')")
	p.sound()
}
