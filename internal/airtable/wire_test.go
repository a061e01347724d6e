package airtable_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
)

const token = "patTESTtoken.0123456789abcdef"

// arrival is a request as the wire carried it.
type arrival struct {
	Method, URI string
	Header      http.Header
	Body        string
	Raw         string
	Conn        int // number of the TCP connection, from 1
}

// step answers one arrival with raw bytes, or by breaking the connection.
type step func(conn net.Conn, a arrival)

// wire is a server on plain TCP that follows a script, one step per request. A
// request beyond the script is an error of the test.
type wire struct {
	t        *testing.T
	listener net.Listener
	mu       sync.Mutex
	script   []step
	arrivals []arrival
	conns    []net.Conn
	serving  sync.WaitGroup
}

func serve(t *testing.T, script ...step) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{t: t, listener: l, script: script}
	w.serving.Go(w.accept)
	t.Cleanup(func() {
		_ = l.Close()
		w.mu.Lock()
		for _, c := range w.conns {
			_ = c.Close()
		}
		w.mu.Unlock()
		w.serving.Wait()
	})
	return w
}

func (w *wire) accept() {
	for {
		conn, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.mu.Lock()
		w.conns = append(w.conns, conn)
		n := len(w.conns)
		w.mu.Unlock()
		w.serving.Go(func() { w.follow(conn, n) })
	}
}

func (w *wire) follow(conn net.Conn, n int) {
	defer conn.Close()
	var raw bytes.Buffer
	in := bufio.NewReader(io.TeeReader(conn, &raw))
	for {
		raw.Reset()
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		a := arrival{Method: req.Method, URI: req.RequestURI, Header: req.Header, Body: string(body), Raw: raw.String(), Conn: n}
		w.next(a)(conn, a)
	}
}

func (w *wire) next(a arrival) step {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arrivals = append(w.arrivals, a)
	if len(w.script) == 0 {
		w.t.Errorf("request %d is beyond the script: %s %s", len(w.arrivals), a.Method, a.URI)
		return hangUp
	}
	s := w.script[0]
	w.script = w.script[1:]
	return s
}

func (w *wire) seen() []arrival {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]arrival(nil), w.arrivals...)
}

func (w *wire) only() arrival {
	w.t.Helper()
	all := w.seen()
	require.Len(w.t, all, 1)
	return all[0]
}

func (w *wire) url() string { return "http://" + w.listener.Addr().String() }

// client talks to the server; its pool is closed with the test.
func (w *wire) client() *airtable.Client { return newClient(w.t, airtable.Config{BaseURL: w.url()}) }

func newClient(t *testing.T, cfg airtable.Config) *airtable.Client {
	t.Helper()
	if cfg.Token == "" {
		cfg.Token = token
	}
	c := airtable.New(cfg)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// raw sends bytes as they are.
func raw(text string) step {
	return func(conn net.Conn, _ arrival) { _, _ = io.WriteString(conn, text) }
}

// answer sends a whole response and keeps the connection open.
func answer(status int, body string, header ...string) step {
	return raw(response(status, body, header...))
}

func response(status int, body string, header ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: %d\r\n", status, http.StatusText(status), len(body))
	for _, h := range header {
		b.WriteString(h + "\r\n")
	}
	return b.String() + "\r\n" + body
}

// cut sends bytes and closes.
func cut(text string) step {
	return func(conn net.Conn, a arrival) {
		raw(text)(conn, a)
		_ = conn.Close()
	}
}

// hangUp closes without an answer.
func hangUp(conn net.Conn, _ arrival) { _ = conn.Close() }

// reset breaks the connection off with a RST.
func reset(conn net.Conn, _ arrival) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

// trip is a transport without a network.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// fixed is a client whose every request gets this answer.
func fixed(status int, body string) *airtable.Client {
	return airtable.New(airtable.Config{Token: token, HTTP: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
		_, err := io.Copy(io.Discard, r.Body)
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r}, err
	})}})
}

func failureOf(t *testing.T, err error) *airtable.Error {
	t.Helper()
	require.Error(t, err)
	e, ok := errors.AsType[*airtable.Error](err)
	require.True(t, ok, "%T: %v", err, err)
	require.NotEmpty(t, e.Reason())
	require.NotContains(t, fmt.Sprintf("%+v %s %s", e, e, e.Reason()), token)
	return e
}

const (
	recA = "recAAAAAAAAAAAAAA"
	recB = "recBBBBBBBBBBBBBB"
	recC = "recCCCCCCCCCCCCCC"
)

func recordJSON(id string) string {
	return fmt.Sprintf(`{"id":%q,"createdTime":"2026-01-02T03:04:05.000Z","fields":{"Qty":0}}`, id)
}

func recordsJSON(ids ...string) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = recordJSON(id)
	}
	return `{"records":[` + strings.Join(list, ",") + `]}`
}

// writeOne is the smallest write; writeTo sends it.
func writeOne() airtable.WriteRequest {
	return airtable.WriteRequest{Base: "appA", Table: "Orders", Records: []airtable.WriteRecord{{ID: recA, Fields: airtable.Fields{"Status": "Done"}}}}
}

func writeTo(t *testing.T, c *airtable.Client) (airtable.WriteResult, error) {
	t.Helper()
	return c.WriteRecords(t.Context(), writeOne())
}

func readFrom(ctx context.Context, c *airtable.Client) error {
	_, _, err := c.ListPage(ctx, airtable.ListRequest{Base: "appA", Table: "Orders"}, "")
	return err
}
