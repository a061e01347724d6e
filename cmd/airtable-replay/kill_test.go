package main_test

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"
	"airtable-replay/internal/store"
	"airtable-replay/internal/store/storetest"

	"github.com/stretchr/testify/require"
)

const adminToken = "kill-test-admin"

// site is a database and a configuration that processes of the service share.
type site struct {
	*apptest.World
	db   *storetest.DB
	env  []string
	file string
	text string
}

func newSite(t testing.TB, sandboxURL, more string) *site {
	t.Helper()
	db := storetest.NewDB(t)
	_, err := store.New(db.Pool, "").CreateToken(t.Context(), "tester", []string{"admin"}, sha256.Sum256([]byte(adminToken)))
	require.NoError(t, err)
	text := strings.ReplaceAll(apptest.DefaultConfig, "SANDBOX", sandboxURL)
	text = text[:strings.LastIndex(text, "replay:")] + more
	return &site{
		World: &apptest.World{Token: adminToken}, db: db, file: write(t, "replay.yaml", text), text: text,
		env: []string{"DATABASE_URL=" + db.LeanURL(t), "AIRTABLE_TOKEN=patSandbox.full"},
	}
}

// serve starts one more process of the service and makes it the one that the site talks to.
func (s *site) serve(t testing.TB, args ...string) *command {
	t.Helper()
	c := start(t, s.env, append([]string{"serve", "--config", s.file, "--listen", "127.0.0.1:0"}, args...)...)
	s.URLs = []string{c.urls(t, 1)[0]}
	return c
}

// statusChanges are the changes of an order's status that the service made.
func statusChanges(s *sandbox.Sandbox) (n int) {
	for _, c := range s.Changes() {
		if c.Record == "recOrd00000000003" && c.Field == "Status" && c.Request > 0 {
			n++
		}
	}
	return n
}

// A process that is killed in any gap of the hops leaves nothing behind that a second one does not
// put right: outcome, Values Before and record are as if nothing had happened (P5).
func TestKilledInAnyGap(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gap     string
		how     held
		matches func(r *http.Request) bool
	}{
		{"before the read", neverArrives, reads},
		{"after the read", answerHeld, reads},
		{"between intent and write", neverArrives, writes},
		{"while the write is held", arrivesLate, writes},
		{"after it landed, before the outcome", answerHeld, writes},
	} {
		t.Run(c.gap, func(t *testing.T) {
			t.Parallel()
			base := orders(t)
			g, url := newGate(t, base, c.how, c.matches)
			s := newSite(t, url, "replay: {lease: 12s, recovery_tick: 200ms}")
			first := s.serve(t)
			id := s.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil)
			s.Press(t, id, nil)
			<-g.arrived
			require.NoError(t, first.cmd.Process.Signal(syscall.SIGKILL))
			<-first.exited
			g.open()
			if c.how == arrivesLate {
				<-g.landed
			}
			s.serve(t)
			e := s.Settled(t, id)
			apptest.RequireOutcome(t, e, "replayed", "")
			require.Equal(t, apptest.Doc{"Status": "Pending"}, apptest.Outcome(e)["values_before"])
			require.Equal(t, 1, statusChanges(base))
		})
	}
}

// A process that stops for longer than its lease, wakes up after its entry was swept, and then can
// neither write nor record (S1, R4).
func TestStoppedProcessWakesUpSwept(t *testing.T) {
	t.Parallel()
	base := orders(t)
	g, url := newGate(t, base, answerHeld, reads)
	s := newSite(t, url, "replay: {lease: 12s, recovery_tick: 200ms, stuck_after: 5s, sweep_every: 1s}")
	worker := s.serve(t)
	id := s.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil)
	s.Press(t, id, nil)
	<-g.arrived
	require.NoError(t, worker.cmd.Process.Signal(syscall.SIGSTOP))
	g.open()
	s.serve(t, "--workers", "0")
	e := s.Settled(t, id)
	r := apptest.Outcome(e)
	require.Equal(t, "pending_review", e["status"])
	require.Nil(t, r["outcome"])
	require.Equal(t, "swept", r["reason"])
	require.NoError(t, worker.cmd.Process.Signal(syscall.SIGCONT))
	require.NoError(t, worker.stderr.await(func(text string) bool { return strings.Contains(text, "lease lost") }))
	require.Equal(t, 0, statusChanges(base))
	again := s.Entry(t, id)
	require.Equal(t, e, again)

	// The button works again.
	worker.stop(t, syscall.SIGTERM)
	s.serve(t)
	apptest.RequireOutcome(t, s.Replay(t, id, nil), "replayed", "")
	require.Equal(t, 1, statusChanges(base))
}
