package main_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// held says what the gate does with the one request that it holds.
type held string

const (
	neverArrives held = "never arrives" // lost on the way
	arrivesLate  held = "arrives late"  // lands once the gate opens, whoever still waits for it
	answerHeld   held = "answer held"   // lands at once; its answer waits until the gate opens
)

// gate stands before a sandbox and holds the first request that matches, so that a process can be
// killed or stopped in exactly that gap.
type gate struct {
	next    http.Handler
	how     held
	matches func(r *http.Request) bool
	arrived chan struct{} // closed once the request is held
	opened  chan struct{} // close it to open the gate
	landed  chan struct{} // closed once a late request has landed
	once    sync.Once
}

func newGate(t *testing.T, s *sandbox.Sandbox, how held, matches func(r *http.Request) bool) (*gate, string) {
	t.Helper()
	g := &gate{next: s.Handler(), how: how, matches: matches, arrived: make(chan struct{}), opened: make(chan struct{}), landed: make(chan struct{})}
	server := httptest.NewServer(g)
	t.Cleanup(func() {
		g.open()
		server.CloseClientConnections()
		server.Close()
	})
	return g, server.URL
}

func (g *gate) open() {
	select {
	case <-g.opened:
	default:
		close(g.opened)
	}
}

// ServeHTTP implements http.Handler.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mine := false
	if g.matches(r) {
		g.once.Do(func() { mine = true })
	}
	if !mine {
		g.next.ServeHTTP(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	request := func() *http.Request {
		again := r.Clone(context.WithoutCancel(r.Context()))
		again.Body = io.NopCloser(bytes.NewReader(body))
		return again
	}
	switch g.how {
	case neverArrives:
		close(g.arrived)
		<-g.opened
		panic(http.ErrAbortHandler)
	case arrivesLate:
		close(g.arrived)
		<-g.opened
		g.next.ServeHTTP(httptest.NewRecorder(), request())
		close(g.landed)
		panic(http.ErrAbortHandler)
	case answerHeld:
		answer := httptest.NewRecorder()
		g.next.ServeHTTP(answer, request())
		close(g.arrived)
		<-g.opened
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}
}

func reads(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/Orders")
}

func writes(r *http.Request) bool {
	return r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/Orders")
}

func orders(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	seed, err := sandbox.ParseSeed([]byte(apptest.DefaultSeed))
	require.NoError(t, err)
	s, err := sandbox.New(seed, sandbox.Config{})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}
