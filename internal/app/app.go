package app

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/config"
	"airtable-replay/internal/httpapi"
	"airtable-replay/internal/jobs"
	"airtable-replay/internal/live"
	"airtable-replay/internal/mirror"
	"airtable-replay/internal/notify"
	"airtable-replay/internal/pacing"
	"airtable-replay/internal/pass"
	"airtable-replay/internal/pipeline"
	"airtable-replay/internal/replay"
	"airtable-replay/internal/store"
	"airtable-replay/internal/telemetry"
	"airtable-replay/migrations"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// Options are what a process is started with.
type Options struct {
	Config      *config.File
	DatabaseURL string
	Migrate     bool // bring the database to the newest schema first; else an older one is refused
	Workers     int  // passes at once; 0: none
	Grace       time.Duration
	Version     string
	Logger      *slog.Logger
	// ConsoleURL is where people reach the service; empty: the dead letter table has no links, and the
	// console takes it from each request.
	ConsoleURL string
	// MetricsApart keeps /metrics off the API; App.Metrics serves it elsewhere.
	MetricsApart bool
	// Probe is told of every step of a pass, for tests. Nil in production.
	Probe func(ctx context.Context, step pass.Step, keys []string)
}

// App is the assembled service.
type App struct {
	Store    *store.Store
	Replay   *replay.Service
	Live     *live.Service
	pool     *pgxpool.Pool
	pass     *pass.Pass
	notifier *notify.Notifier
	table    *mirror.Mirror // nil: no dead letter table
	queue    *jobs.Queue
	ticker   *jobs.Ticker
	handler  http.Handler
	metrics  http.Handler
	clients  []*airtable.Client
	logger   *slog.Logger
	queueUI  *queueUI
	// draining is closed when the service begins to stop.
	draining     chan struct{}
	beginToDrain func()
}

// New builds the service. It connects to the database and refuses one that it cannot work with, with
// a sentence that names the cause.
func New(ctx context.Context, o Options) (*App, error) {
	book, err := pipeline.New(o.Config)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	pool, err := connect(ctx, o)
	if err != nil {
		return nil, err
	}
	a := &App{pool: pool, logger: o.Logger, draining: make(chan struct{})}
	a.beginToDrain = sync.OnceFunc(func() { close(a.draining) })
	if err := a.build(ctx, o, book); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

func connect(ctx context.Context, o Options) (*pgxpool.Pool, error) {
	cfg, err := poolConfig(o.DatabaseURL)
	if err != nil {
		return nil, err
	}
	// More connections than cores can serve make a burst slower: each begins with cold caches.
	if !strings.Contains(o.DatabaseURL, "pool_max_conns") {
		cfg.MaxConns = int32(o.Workers + 2 + 2*runtime.NumCPU())
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to database: %w", err)
	}
	if err := ready(ctx, pool, o.Migrate); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

func ready(ctx context.Context, pool *pgxpool.Pool, migrate bool) error {
	if err := probeSession(ctx, pool); err != nil {
		return err
	}
	if migrate {
		return migrations.Up(ctx, pool)
	}
	return requireMigrated(ctx, pool)
}

func (a *App) build(ctx context.Context, o Options, book *pipeline.Book) error {
	mirrorBase := ""
	if o.Config.DeadLetters != nil {
		mirrorBase = o.Config.DeadLetters.Base
	}
	a.Store = store.New(a.pool, mirrorBase)
	registry := telemetry.NewRegistry(o.Version)
	pacer, bases, err := a.bases(ctx, o.Config)
	if err != nil {
		return err
	}
	wake := func(ctx context.Context, base string) error { return a.queue.Wake(ctx, base) }
	a.notifier = notify.New(notify.Config{
		Store: a.Store, Endpoints: o.Config.Notify, Bases: o.Config.Bases, Targets: o.Config.Targets, Logger: o.Logger,
		Enqueue: func(ctx context.Context, id string) error { return a.queue.EnqueueNotification(ctx, id) },
	})
	passes := pass.Config{
		Store: a.Store, Pacer: pacer, Book: book, Bases: bases, Wake: wake, Announcer: a.notifier, Holder: holder(),
		Logger: o.Logger, Probe: o.Probe,
	}
	replays := replay.Config{
		Store: a.Store, Book: book, Wake: wake, AttemptCap: o.Config.Replay.AttemptCap, StuckAfter: o.Config.Replay.StuckAfter, Logger: o.Logger,
		Announce: a.notifier.Announce, Rates: rates(o.Config), MirrorBase: mirrorBase,
	}
	if d := o.Config.DeadLetters; d != nil {
		a.table = a.mirror(o, pacer, bases)
		if d.NotificationURL != "" {
			if err := a.Store.EnsureHook(ctx, d.Base); err != nil {
				return err
			}
		}
		passes.Mirror, replays.Intake = a.table, intake{a.table}
	}
	a.pass = pass.New(passes)
	replays.Previewer = a.pass
	a.queue, err = jobs.New(jobs.Config{Pool: a.pool, Pass: a.pass, Deliverer: a.notifier, ReadPresses: a.readPresses, Workers: o.Workers, Grace: o.Grace, Logger: quiet(o.Logger)})
	if err != nil {
		return err
	}
	a.Replay = replay.New(replays)
	a.Live = live.New(live.Config{Store: a.Store, Book: book, Schemas: a.pass, Wake: wake})
	registry.MustRegister(newBaseMetrics(a.Store))
	a.ticker = a.ticks(o.Config, newTickMetric(registry))
	return a.serve(o, registry)
}

// mirror keeps the dead letter table of the configuration.
func (a *App) mirror(o Options, pacer *pacing.Pacer, bases []pass.Base) *mirror.Mirror {
	d := o.Config.DeadLetters
	i := slices.IndexFunc(bases, func(b pass.Base) bool { return b.Name == d.Base })
	return mirror.New(mirror.Config{
		Store: a.Store, Pacer: pacer, Client: bases[i].Client, BaseName: d.Base, BaseID: bases[i].ID, Table: d.Table,
		Retry: bases[i].Retry, Logger: o.Logger, ConsoleURL: o.ConsoleURL,
		NotificationURL: d.NotificationURL, Token: o.Config.Bases[d.Base].Token, Presser: presser{a}, Announce: a.notifier.Announce,
		Enqueue: func(ctx context.Context) error { return a.queue.EnqueueReading(ctx) },
	})
}

// bases makes the client of every base, and its row in the database.
func (a *App) bases(ctx context.Context, file *config.File) (*pacing.Pacer, []pass.Base, error) {
	var paced []pacing.Base
	var bases []pass.Base
	var owners []string
	names := slices.Sorted(maps.Keys(file.Bases))
	for _, name := range names {
		b := file.Bases[name]
		client := airtable.New(airtable.Config{BaseURL: b.APIURL, Token: b.Token.Reveal(), RequestTimeout: b.Retry.RequestTimeout})
		a.clients = append(a.clients, client)
		paced = append(paced, pacing.Base{Name: name, Owner: b.TokenOwner, Rate: b.RequestsPerSecond, Lease: file.Lease(b)})
		bases = append(bases, pass.Base{Name: name, ID: b.ID, Client: client, Retry: b.Retry})
		owners = append(owners, b.TokenOwner)
	}
	return pacing.New(a.Store, paced), bases, a.Store.EnsureBases(ctx, names, owners)
}

func rates(file *config.File) map[string]float64 {
	out := map[string]float64{}
	for name, b := range file.Bases {
		out[name] = b.RequestsPerSecond
	}
	return out
}

// readPresses reads the webhook of the dead letter table, if there is one and it is due (T3).
func (a *App) readPresses(ctx context.Context) error {
	if a.table == nil {
		return nil
	}
	return a.table.ReadPresses(ctx)
}

// ticks are what every process does now and then, workers or not (R5, S1).
func (a *App) ticks(file *config.File, went func(tick string)) *jobs.Ticker {
	r := file.Replay
	return jobs.NewTicker(a.logger, went,
		jobs.Tick{Name: "wake due bases", Every: r.RecoveryTick, Do: func(ctx context.Context) error {
			return a.Store.WakeDueBases(ctx, r.RecoveryTick, a.queue.Wake)
		}},
		jobs.Tick{Name: "announce finished runs", Every: r.RecoveryTick, Do: a.notifier.AnnounceRuns},
		jobs.Tick{Name: "read presses", Every: r.RecoveryTick, Do: a.readPresses},
		jobs.Tick{Name: "sweep stuck entries", Every: r.SweepEvery, Do: a.Replay.SweepStuck},
		jobs.Tick{Name: "sum up the tally", Every: time.Minute, Do: a.Store.SumTally},
		jobs.Tick{Name: "forget old answers", Every: time.Hour, Do: func(ctx context.Context) error {
			_, err := a.Store.ForgetAnswers(ctx)
			return err
		}},
	)
}

func (a *App) serve(o Options, registry *prometheus.Registry) (err error) {
	a.metrics = telemetry.MetricsHandler(registry)
	c := httpapi.Config{
		Filing: a.Replay, Entries: a.Replay, Presses: a.Replay, Reviews: a.Replay, Payloads: a.Replay, Restores: a.Replay, Runs: a.Replay, Stuck: a.Replay, Bases: a.Replay,
		Writes: a.Live, Tokens: a.Store, Answers: a.Store, Ready: a.Store.Ping, Logger: o.Logger, Registry: registry, Version: o.Version,
		Draining: a.draining,
	}
	if d := o.Config.DeadLetters; d != nil && d.NotificationURL != "" {
		c.Pings = a.table
	}
	if !o.MetricsApart {
		c.Metrics = a.metrics
	}
	api, err := httpapi.New(c)
	if err != nil {
		return err
	}
	a.handler, err = a.withConsole(o, api)
	return err
}

// Handler answers HTTP.
func (a *App) Handler() http.Handler { return a.handler }

// Metrics answers /metrics where that is kept off the API.
func (a *App) Metrics() http.Handler { return a.metrics }

// Start begins to work.
func (a *App) Start(ctx context.Context) error {
	if err := a.queue.Start(ctx); err != nil {
		return err
	}
	a.ticker.Start(ctx)
	return nil
}

// Drain ends passes after the chunk under way, within ctx. Requests can still be answered.
func (a *App) Drain(ctx context.Context) error {
	a.beginToDrain()
	a.ticker.Stop()
	a.pass.Drain()
	return a.queue.Stop(ctx)
}

// Stop drains the service and lets go of everything.
func (a *App) Stop(ctx context.Context) error {
	err := a.Drain(ctx)
	a.Close()
	return err
}

// Close lets go of connections without waiting for work.
func (a *App) Close() {
	if a.queueUI != nil {
		a.queueUI.stop()
	}
	for _, c := range a.clients {
		c.CloseIdleConnections()
	}
	a.pool.Close()
}

// holder names this process to people who ask who works on a base.
func holder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// quiet keeps River's own lines to warnings; ours tell the story.
func quiet(l *slog.Logger) *slog.Logger { return slog.New(atLeast{l.Handler(), slog.LevelWarn}) }

type atLeast struct {
	slog.Handler
	level slog.Level
}

// Enabled implements slog.Handler.
func (h atLeast) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.level && h.Handler.Enabled(ctx, l)
}

// WithAttrs implements slog.Handler.
func (h atLeast) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeast{h.Handler.WithAttrs(attrs), h.level}
}

// WithGroup implements slog.Handler.
func (h atLeast) WithGroup(name string) slog.Handler {
	return atLeast{h.Handler.WithGroup(name), h.level}
}
