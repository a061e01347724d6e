package main_test

import (
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// patientSite is a site whose requests to Airtable may take long.
func patientSite(t *testing.T, sandboxURL string) *site {
	t.Helper()
	s := newSite(t, sandboxURL, "replay: {recovery_tick: 200ms}")
	text, err := os.ReadFile(s.file)
	require.NoError(t, err)
	patient := strings.Replace(string(text), "request_timeout: 2s", "request_timeout: 20s", 1)
	require.NotEqual(t, string(text), patient)
	require.NoError(t, os.WriteFile(s.file, []byte(patient), 0o600))
	return s
}

// signalled asks a process to end while the gate holds a request, and opens the gate once it has heard.
func signalled(t *testing.T, c *command, g *gate) {
	t.Helper()
	<-g.arrived
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, c.stderr.await(func(text string) bool { return strings.Contains(text, "stopping") }))
	g.open()
}

// A write under way when SIGTERM comes is finished, and its outcome stored (case B112).
func TestSignalledServiceFinishesItsWrite(t *testing.T) {
	t.Parallel()
	base := orders(t)
	g, url := newGate(t, base, answerHeld, writes)
	s := patientSite(t, url)
	c := s.serve(t)
	id := s.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil)
	s.Press(t, id, nil)
	signalled(t, c, g)
	c.wait(t)
	require.Equal(t, 0, c.code())

	s.serve(t, "--workers", "0") // to ask; it works on nothing
	e := s.Entry(t, id)
	require.Equal(t, "resolved", e["status"])
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Equal(t, 1, statusChanges(base))
}

// A request under way when SIGTERM comes is answered, also when it waits for Airtable.
func TestSignalledServiceAnswersRequestsUnderWay(t *testing.T) {
	t.Parallel()
	g, url := newGate(t, orders(t), answerHeld, reads)
	s := patientSite(t, url)
	c := s.serve(t)
	id := s.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil)
	type answer struct {
		status int
		text   string
	}
	answered := make(chan answer, 1)
	go func() {
		status, text := call(t, http.MethodGet, s.URLs[0]+"/v1/entries/"+id+"/preview", adminToken, nil)
		answered <- answer{status, text}
	}()
	signalled(t, c, g)
	got := <-answered
	require.Equal(t, http.StatusOK, got.status, got.text)
	require.Contains(t, got.text, `"outcome":"replayed"`)
	c.wait(t)
	require.Equal(t, 0, c.code())
}

// Work that outlasts the grace is cut off, says so, and is left for the next process.
func TestGraceIsKept(t *testing.T) {
	t.Parallel()
	base := orders(t)
	g, url := newGate(t, base, answerHeld, writes)
	s := patientSite(t, url)
	c := s.serve(t, "--grace", "100ms")
	id := s.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil)
	s.Press(t, id, nil)
	<-g.arrived
	require.NoError(t, c.cmd.Process.Signal(syscall.SIGTERM))
	c.wait(t) // while the gate is still closed
	require.Contains(t, c.stderr.String(), "cut off after the grace")
	g.open()
	s.serve(t)
	e := s.Settled(t, id)
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Equal(t, 1, statusChanges(base))
}

// A service that is signalled while it still waits for its database ends in order.
func TestSignalledWhileStarting(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	c := start(t, serveEnv("postgres://a:b@"+silent.Addr().String()+"/c?sslmode=disable", serviceConfig(t, nowhere)), "serve")
	conn, err := silent.Accept()
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	c.stop(t, syscall.SIGTERM)
	require.Contains(t, c.stderr.String(), "ended while starting")
}
