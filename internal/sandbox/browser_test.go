package sandbox_test

import (
	"context"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// browser is a Chromium that the tests of one parent share.
type browser struct{ ctx context.Context }

func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	require.NotEmpty(t, path, "Chromium is needed; this command installs it: scripts/need.sh chromium")
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	options = append(options, chromedp.ExecPath(path), chromedp.UserDataDir(t.TempDir()), chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(2*time.Minute))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocated, free := chromedp.NewExecAllocator(context.WithoutCancel(t.Context()), options...)
	ctx, end := chromedp.NewContext(allocated)
	t.Cleanup(func() {
		require.NoError(t, chromedp.Cancel(ctx))
		end()
		free()
	})
	require.NoError(t, chromedp.Do(ctx))
	return &browser{ctx}
}

// screen is how a page is looked at.
type screen struct {
	width, height int64
	dark          bool
}

var wide = screen{width: 1280, height: 800}

// tab is a page of its own, in a profile of its own.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	faults []string // exceptions, and breaches of the content security policy
}

// open shows a sandbox's page and waits until it has a table.
func (b *browser) open(t *testing.T, url string, on screen) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	p := &tab{t: t, ctx: ctx}
	p.run()
	var listening sync.WaitGroup
	messages := chromedp.Console(ctx)
	listening.Go(func() { p.listen(messages) })
	t.Cleanup(func() {
		end()
		listening.Wait()
	})
	scheme := "light"
	if on.dark {
		scheme = "dark"
	}
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	require.NoError(t, err)
	p.run(chromedp.EmulateViewport(on.width, on.height), chromedp.Navigate(url))
	p.until(`document.querySelector('#grid thead th') !== null && document.querySelector('#live').dataset.state === 'live'`)
	return p
}

func (p *tab) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range messages {
		if err == nil && (m.IsException() || m.Source == "security") {
			p.mu.Lock()
			p.faults = append(p.faults, m.String())
			p.mu.Unlock()
		}
	}
}

// sound wants that the page found nothing wrong with itself.
func (p *tab) sound() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Empty(p.t, p.faults)
}

func (p *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	require.NoError(p.t, chromedp.Do(p.ctx, actions...))
}

// until waits for a JavaScript expression to become true.
func (p *tab) until(expression string) {
	p.t.Helper()
	_, err := chromedp.Run(p.ctx, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingMutation(), chromedp.WithPollingTimeout(3*time.Minute)))
	if err != nil {
		p.sound()
		page, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body.innerText`)) // for the message alone
		require.NoError(p.t, err, "%s\n%s", expression, page)
	}
}

// ask evaluates a JavaScript expression.
func ask[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, expression)
	return v
}

// press sends keys to whatever has the focus.
func (p *tab) press(keys ...string) { p.pressWith(0, keys...) }

// pressWith holds modifiers down. Each key is one event with its text, and not
// a separate event for the character, so that a page can prevent that one.
func (p *tab) pressWith(modifiers chromedp.Modifier, keys ...string) {
	p.t.Helper()
	for _, r := range strings.Join(keys, "") {
		events := kb.Encode(r)
		down, up := events[0], events[len(events)-1]
		if len(events) == 3 {
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		for _, event := range []*input.DispatchKeyEventParams{down, up} {
			event.Modifiers |= int64(modifiers)
			_, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, *event)
			require.NoError(p.t, err)
		}
	}
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.run(chromedp.Click(chromedp.CSS(selector)))
}

// fill puts a value into an input or a select, as a person who leaves it then.
func (p *tab) fill(selector, value string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](`(() => {
		const node = document.querySelector(` + quote(selector) + `);
		node.value = ` + quote(value) + `;
		node.dispatchEvent(new Event('change', {bubbles: true}));
	})()`))
}

// screenshot keeps a picture among the test's artifacts: go test -artifacts.
func (p *tab) screenshot(name string) {
	p.t.Helper()
	picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(filepath.Join(p.t.ArtifactDir(), name+".png"), picture, 0o600))
}
