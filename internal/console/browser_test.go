package console_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// browser is the one Chromium of this package's tests; each tab has a profile of its own.
type browser struct {
	ctx  context.Context
	stop func() error
}

var (
	starting sync.Mutex
	chromium *browser
)

// newBrowser gives the browser, started by whoever asks first. TestMain ends it.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	starting.Lock()
	defer starting.Unlock()
	if chromium == nil {
		b, err := startBrowser()
		require.NoError(t, err, "Chromium is needed; this command installs it: scripts/need.sh chromium")
		chromium = b
	}
	return chromium
}

func stopBrowser() error {
	if chromium == nil {
		return nil
	}
	return chromium.stop()
}

func startBrowser() (*browser, error) {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
		"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, errors.New("there is no Chromium on this machine")
	}
	profile, err := os.MkdirTemp("", "console-browser-")
	if err != nil {
		return nil, err
	}
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	options = append(options, chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(2*time.Minute))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocated, free := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocated)
	b := &browser{ctx: ctx, stop: func() error {
		err := chromedp.Cancel(ctx)
		end()
		free()
		return errors.Join(err, os.RemoveAll(profile))
	}}
	if err := chromedp.Do(ctx); err != nil {
		return nil, errors.Join(err, b.stop())
	}
	return b, nil
}

// screen is how a page is looked at.
type screen struct {
	width, height int64
	dark          bool
	noScript      bool
}

var wide = screen{width: 1280, height: 800}

func (s screen) String() string {
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	return fmt.Sprintf("%d-%s", s.width, scheme)
}

// tab is a page of its own, in a profile of its own.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string // of the service

	mu     sync.Mutex
	faults []string // exceptions, and breaches of the content security policy
}

// open makes a tab on a service; nothing is shown in it yet.
func (b *browser) open(t *testing.T, url string, on screen) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	p := &tab{t: t, ctx: ctx, url: url}
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
	if on.noScript {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		require.NoError(t, err)
	}
	p.run(chromedp.EmulateViewport(on.width, on.height))
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

// sound wants that the pages found nothing wrong with themselves.
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

// visit shows a page of the service.
func (p *tab) visit(path string) {
	p.t.Helper()
	p.run(chromedp.Navigate(p.url + path))
}

// logIn logs in with a token, as a person does.
func (p *tab) logIn(token, person string) {
	p.t.Helper()
	p.visit("/login")
	p.until(`document.querySelector('#token') !== null`)
	p.set("#token", token)
	p.set("#person", person)
	p.click("main form button")
	p.at("/")
}

// at waits until the page of a path is there, scripts and all.
func (p *tab) at(path string) {
	p.t.Helper()
	p.until(`location.pathname === ` + quote(path) + ` && 'ready' in document.documentElement.dataset`)
}

// until waits for a JavaScript expression to become true, over changes of the page.
func (p *tab) until(expression string) {
	p.t.Helper()
	held := false
	require.Eventually(p.t, func() bool {
		v, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](`!!(`+expression+`)`))
		held = err == nil && v
		return held
	}, 3*time.Minute, 30*time.Millisecond, "%s", expression)
}

// ask evaluates a JavaScript expression.
func ask[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err, expression)
	return v
}

// text is what a person reads of an element.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return ask[string](p, `document.querySelector(`+quote(selector)+`)?.innerText ?? '(none)'`)
}

// press sends keys to whatever has the focus.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, r := range strings.Join(keys, "") {
		events := kb.Encode(r)
		down, up := events[0], events[len(events)-1]
		if len(events) == 3 {
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		for _, event := range []*input.DispatchKeyEventParams{down, up} {
			_, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, *event)
			require.NoError(p.t, err)
		}
	}
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.run(chromedp.Click(chromedp.CSS(selector)))
}

// set puts a value into a field.
func (p *tab) set(selector, value string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](`(() => {
		const node = document.querySelector(` + quote(selector) + `);
		node.value = ` + quote(value) + `;
		node.dispatchEvent(new Event('change', {bubbles: true}));
	})()`))
}

// drag moves the pointer over an element, from and to parts of its width.
func (p *tab) drag(selector string, from, to float64) {
	p.t.Helper()
	box := ask[[]float64](p, `(() => { const node = document.querySelector(`+quote(selector)+`); node.scrollIntoView({block: 'center'});
		const b = node.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()`)
	at := func(part float64) (x, y float64) { return box[0] + box[2]*part, box[1] + box[3]/2 }
	mouse := func(kind input.DispatchMouseEventType, part float64, buttons int64) {
		x, y := at(part)
		_, err := chromedp.Call(p.ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, Buttons: buttons, ClickCount: 1})
		require.NoError(p.t, err)
	}
	mouse(input.DispatchMouseEventTypeMousePressed, from, 1)
	for step := range 5 {
		mouse(input.DispatchMouseEventTypeMouseMoved, from+(to-from)*float64(step+1)/5, 1)
	}
	mouse(input.DispatchMouseEventTypeMouseReleased, to, 0)
}

// screenshot keeps a picture among the test's artifacts: go test -artifacts.
func (p *tab) screenshot(name string) {
	p.t.Helper()
	picture, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(filepath.Join(p.t.ArtifactDir(), name+".png"), picture, 0o600))
}

// quote makes a string of JavaScript.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(b)
}
