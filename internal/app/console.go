package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"airtable-replay/internal/console"
	"airtable-replay/internal/doctor"
	"airtable-replay/internal/telemetry"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"riverqueue.com/riverui"
)

// withConsole puts the console beside the API: each path is one's or the other's.
func (a *App) withConsole(o Options, api http.Handler) (http.Handler, error) {
	queue, err := newQueueUI(a.pool, quiet(o.Logger))
	if err != nil {
		return nil, err
	}
	a.queueUI = queue
	c := console.Config{
		Sessions: a.Store, Tally: a.Store, RunTally: a.Store, Entries: a.Replay, Presses: a.Replay, Reviews: a.Replay, Runs: a.Replay, Bases: a.Replay,
		Bulk: a.Replay, Payloads: a.Replay, Restores: a.Replay, Stuck: a.Replay, Checks: a.Live, URL: o.ConsoleURL, Queue: queue, Logger: o.Logger, Version: o.Version,
		Draining: a.draining,
		Doctor: func(ctx context.Context) (doctor.Report, error) {
			return doctor.Check(ctx, doctor.Config{File: o.Config, Store: a.Store})
		},
	}
	if o.Config.DeadLetters != nil {
		c.DeadLetters = o.Config.DeadLetters.Table
	}
	pages, err := console.New(c)
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if console.Serves(r) {
			pages.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	}), nil
}

// queueUI is River's own console. What it does in the background begins with the first visit.
type queueUI struct {
	handler *riverui.Handler
	begin   func() error
	stop    context.CancelFunc
	logger  *slog.Logger
}

func newQueueUI(pool *pgxpool.Pool, logger *slog.Logger) (*queueUI, error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: logger}) // it works no jobs
	if err != nil {
		return nil, fmt.Errorf("make queue console: %w", err)
	}
	handler, err := riverui.NewHandler(&riverui.HandlerOpts{Endpoints: riverui.NewEndpoints(client, nil), Logger: logger, Prefix: "/river"})
	if err != nil {
		return nil, fmt.Errorf("make queue console: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	return &queueUI{handler: handler, begin: sync.OnceValue(func() error { return handler.Start(ctx) }), stop: stop, logger: logger}, nil
}

// ServeHTTP implements http.Handler.
func (q *queueUI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := q.begin(); err != nil {
		q.logger.ErrorContext(r.Context(), "start queue console", telemetry.KeyError, err)
		http.Error(w, "The queue's console does not start.", http.StatusInternalServerError)
		return
	}
	q.handler.ServeHTTP(w, r)
}
