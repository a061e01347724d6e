package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// TestPageIsAccessible looks at every part of the page in both colour schemes,
// on a wide and on a narrow screen.
func (b *browser) testPageIsAccessible(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(nodeModules(t, "testdata/axe"), "axe-core", "axe.min.js"))
	require.NoError(t, err)
	for _, on := range []screen{wide, {1280, 800, true}, {390, 844, false}, {390, 844, true}} {
		name := fmt.Sprintf("%d-light", on.width)
		if on.dark {
			name = fmt.Sprintf("%d-dark", on.width)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _ := deadLetterWorld(t)
			w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"Status":"Shipped","Delivery Date":"2026-10-09"}}`).fields()
			w.api("PATCH", "/Orders/recOrder000000001", `{"fields":{"Statuss":"Shipped"}}`)
			w.control("POST", "/faults", `{"method":"PATCH","status":503,"after_apply":true,"times":3}`)
			p := b.open(t, w.url, on)
			p.run(chromedp.Evaluate[chromedp.Void](string(axe)))
			look := func(name string) {
				t.Helper()
				p.screenshot(name)
				require.Empty(t, ask[[]string](p, `axe.run(document).then(found => found.violations
					.filter(v => ['serious', 'critical'].includes(v.impact))
					.map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ') + ' ' + n.failureSummary).join('; ')))`), name)
				require.LessOrEqual(t, ask[int](p, `document.documentElement.scrollWidth`), int(on.width), "%s is wider than the screen", name)
			}
			look("letters")
			for _, panel := range []string{"requests", "faults", "time", "options"} {
				p.click("#tab-" + panel)
				p.until(`!document.querySelector('#` + panel + `').hidden`)
				look(panel)
			}
			p.click(`[role=tab][data-table]:nth-child(2)`)
			p.until(`document.querySelector('#grid').getAttribute('aria-label') === 'Orders'`)
			look("orders")
			p.click(`#grid tbody tr:first-child .open button`)
			p.until(`document.querySelector('#record').open`)
			look("record")
			p.sound()
		})
	}
}
