package apptest

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"maps"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/app"
	"airtable-replay/internal/config"
	"airtable-replay/internal/pass"
	"airtable-replay/internal/sandbox"
	"airtable-replay/internal/store"
	"airtable-replay/internal/store/storetest"

	"github.com/stretchr/testify/require"
)

// BaseID is the base of the default seed.
const BaseID = "appOrdersSandbox01"

// Options shape a world. The zero value is one replica on the default seed and configuration.
type Options struct {
	Replicas int // 0: one
	Seed     string
	Config   string            // YAML; SANDBOX stands for the sandbox's address
	Env      map[string]string // what the configuration may refer to beside AIRTABLE_TOKEN
	// Sandbox changes the emulator's configuration; by default it has no rate limit.
	Sandbox func(*sandbox.Config)
	// Probe is told of every step of every pass.
	Probe func(ctx context.Context, step pass.Step, keys []string)
	// NoStart builds the replicas without starting their workers.
	NoStart bool
	// SimulatedClock puts the shared clock and the sandbox's under the test's control (World.Advance).
	SimulatedClock bool
}

// World is an assembled service with its sandbox.
type World struct {
	Sandbox    *sandbox.Sandbox
	SandboxURL string
	DB         *storetest.DB
	Config     *config.File
	Apps       []*app.App
	URLs       []string // of the replicas
	Token      string   // with the admin scope
	store      *store.Store
	env        map[string]string
	simulated  bool
	started    map[int]bool // by replica
}

// New assembles a world; everything stops when the test ends.
func New(t testing.TB, o Options) *World {
	t.Helper()
	w := &World{DB: storetest.NewDB(t), Token: "test-admin-token", simulated: o.SimulatedClock, started: map[int]bool{}}
	if o.SimulatedClock {
		w.DB.SimulateClock(t)
	}
	w.startSandbox(t, o)
	text := o.Config
	if text == "" {
		text = DefaultConfig
	}
	w.env = maps.Clone(o.Env)
	w.Config = w.load(t, text)
	w.store = store.New(w.DB.Pool, "")
	w.createToken(t, w.Token, "tester", "admin")
	for range max(1, o.Replicas) {
		w.AddReplica(t, o)
	}
	return w
}

// NewToken makes an API token with other scopes than the world's own; give it to Call as the header
// Authorization.
func (w *World) NewToken(t testing.TB, scopes ...string) (bearer string) {
	t.Helper()
	name := "holder of " + strings.Join(scopes, ", ")
	w.createToken(t, name, name, scopes...)
	return "Bearer " + name
}

func (w *World) createToken(t testing.TB, secret, name string, scopes ...string) {
	t.Helper()
	_, err := w.store.CreateToken(t.Context(), name, scopes, sha256.Sum256([]byte(secret)))
	require.NoError(t, err)
}

func (w *World) startSandbox(t testing.TB, o Options) {
	t.Helper()
	text := o.Seed
	if text == "" {
		text = DefaultSeed
	}
	seed, err := sandbox.ParseSeed([]byte(text))
	require.NoError(t, err)
	cfg := sandbox.Config{}
	if o.Sandbox != nil {
		o.Sandbox(&cfg)
	}
	w.Sandbox, err = sandbox.New(seed, cfg)
	require.NoError(t, err)
	server := httptest.NewServer(w.Sandbox.Handler())
	w.SandboxURL = server.URL
	t.Cleanup(func() {
		w.Sandbox.Close()
		server.CloseClientConnections()
		server.Close()
	})
}

func (w *World) load(t testing.TB, text string) *config.File {
	t.Helper()
	env := map[string]string{"AIRTABLE_TOKEN": "patSandbox.full"}
	file, err := config.Load([]byte(strings.ReplaceAll(text, "SANDBOX", w.SandboxURL)), func(name string) (string, bool) {
		if v, ok := w.env[name]; ok {
			return v, ok
		}
		v, ok := env[name]
		return v, ok
	})
	require.NoError(t, err)
	return file
}

// AddReplica starts one more process's worth of the service on the same database.
func (w *World) AddReplica(t testing.TB, o Options) {
	t.Helper()
	a, err := app.New(t.Context(), app.Options{
		Config: w.Config, DatabaseURL: w.DB.LeanURL(t), Workers: 4, Grace: 10 * time.Second, Version: "test", Logger: Logger(t), Probe: o.Probe,
	})
	require.NoError(t, err)
	server := httptest.NewServer(a.Handler())
	w.Apps, w.URLs = append(w.Apps, a), append(w.URLs, server.URL)
	replica := len(w.Apps) - 1
	if !o.NoStart {
		w.Start(t, replica)
	}
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		if !w.started[replica] {
			a.Close()
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		require.NoError(t, a.Stop(ctx))
	})
}

// Start lets a replica work that was built with NoStart.
func (w *World) Start(t testing.TB, replica int) {
	t.Helper()
	require.NoError(t, w.Apps[replica].Start(context.WithoutCancel(t.Context())))
	w.started[replica] = true
}

// Stop ends a replica's work in good order, as a deployment does.
func (w *World) Stop(t testing.TB, replica int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	require.NoError(t, w.Apps[replica].Stop(ctx))
	w.started[replica] = false
}

// Reconfigure gives replicas that are added from now on another configuration.
func (w *World) Reconfigure(t testing.TB, text string) {
	t.Helper()
	w.Config = w.load(t, text)
}

// Advance moves the shared clock and the sandbox's forward together.
func (w *World) Advance(t testing.TB, by time.Duration) {
	t.Helper()
	require.True(t, w.simulated, "the world's clock is real")
	w.DB.Advance(t, by)
	w.Sandbox.Advance(by)
}

// Idle tells whether nobody works on any base, so that moving the clock takes no lease from under a pass.
func (w *World) Idle(t testing.TB) bool {
	t.Helper()
	for _, b := range w.Read(t, "/v1/bases")["bases"].([]any) {
		if b.(Doc)["lease_holder"] != "" {
			return false
		}
	}
	return true
}

func (w *World) advanceIdle(t testing.TB, by time.Duration) {
	t.Helper()
	if w.Idle(t) {
		w.Advance(t, by)
	}
}

// Quiet moves the clock on in steps and after each lets a whole pass go over the base, so that
// whatever is still due gets done. The pass is for a stale account, which costs a read of Accounts.
func (w *World) Quiet(t testing.TB, span time.Duration) {
	t.Helper()
	for range 4 {
		Eventually(t, func() bool { return w.Idle(t) }, "nobody works")
		w.Advance(t, span/4)
		require.Equal(t, "stale", w.Send(t, Live, "account-system", Account("A-1", "2026-08-01T08:00:00Z", "Acme")).Outcome)
	}
}

// Logger writes a test's log lines to the test.
func Logger(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

type testWriter struct{ t testing.TB }

// Write implements io.Writer; a line that comes after the test's end is dropped.
func (w testWriter) Write(p []byte) (n int, err error) {
	if w.t.Context().Err() == nil {
		w.t.Log(strings.TrimSpace(string(p)))
	}
	return len(p), nil
}
