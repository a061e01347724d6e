package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"airtable-replay/internal/store"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// WorkBase asks for a pass over one base.
type WorkBase struct {
	Base string `json:"base"`
}

// Kind implements river.JobArgs; the name is stored with queued jobs and never changes.
func (WorkBase) Kind() string { return "work_base" }

// passer makes a pass over a base.
type passer interface {
	WorkBase(ctx context.Context, base string) error
}

type workBase struct {
	river.WorkerDefaults[WorkBase]
	pass passer
}

// Work implements river.Worker.
func (w *workBase) Work(ctx context.Context, job *river.Job[WorkBase]) error {
	return verdict(w.pass.WorkBase(ctx, job.Args.Base))
}

// DeliverNotification asks for the delivery of one stored message.
type DeliverNotification struct {
	ID string `json:"id"`
}

// Kind implements river.JobArgs; the name is stored with queued jobs and never changes.
func (DeliverNotification) Kind() string { return "deliver_notification" }

// InsertOpts implements river.JobArgsWithInsertOpts: about two days of attempts by River's own ladder.
func (DeliverNotification) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: notifications, MaxAttempts: 20}
}

// notifications is a queue of its own, so that a slow endpoint holds up no pass.
const notifications = "notifications"

// deliverer sends a stored message.
type deliverer interface {
	DeliverNotification(ctx context.Context, id string) error
}

type deliverNotification struct {
	river.WorkerDefaults[DeliverNotification]
	deliverer deliverer
}

// Work implements river.Worker.
func (w *deliverNotification) Work(ctx context.Context, job *river.Job[DeliverNotification]) error {
	return w.deliverer.DeliverNotification(ctx, job.Args.ID)
}

// ReadPresses asks for a reading of the webhook by which Airtable tells of presses.
type ReadPresses struct{}

// Kind implements river.JobArgs; the name is stored with queued jobs and never changes.
func (ReadPresses) Kind() string { return "read_presses" }

// InsertOpts implements river.JobArgsWithInsertOpts: one attempt, since a tick looks for what is due.
func (ReadPresses) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: notifications, MaxAttempts: 1}
}

type readPresses struct {
	river.WorkerDefaults[ReadPresses]
	read func(ctx context.Context) error
}

// Work implements river.Worker.
func (w *readPresses) Work(ctx context.Context, _ *river.Job[ReadPresses]) error { return w.read(ctx) }

// Config is what a Queue is made of.
type Config struct {
	Pool      *pgxpool.Pool
	Pass      passer
	Deliverer deliverer
	// ReadPresses reads the webhook of the dead letter table.
	ReadPresses func(ctx context.Context) error
	Workers     int // how many passes this process makes at once; 0: none, it only asks for them
	Grace       time.Duration
	Logger      *slog.Logger
}

// Queue asks for passes and makes them.
type Queue struct {
	client  *river.Client[pgx.Tx]
	working bool
}

// The times of the queue. A pass ends after five minutes by itself; River's own are the last resort.
const (
	jobTimeout  = 6 * time.Minute
	rescueAfter = 8 * time.Minute
	keepJobs    = time.Hour
)

// New makes a Queue; Start begins its work.
func New(c Config) (*Queue, error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &workBase{pass: c.Pass})
	river.AddWorker(workers, &deliverNotification{deliverer: c.Deliverer})
	river.AddWorker(workers, &readPresses{read: c.ReadPresses})
	cfg := &river.Config{
		Workers: workers, Logger: c.Logger, JobTimeout: jobTimeout, RescueStuckJobsAfter: rescueAfter, MaxAttempts: 4,
		FetchCooldown: 20 * time.Millisecond, FetchPollInterval: time.Second, SoftStopTimeout: c.Grace,
		CompletedJobRetentionPeriod: keepJobs, CancelledJobRetentionPeriod: keepJobs, DiscardedJobRetentionPeriod: 24 * time.Hour,
	}
	if c.Workers > 0 {
		cfg.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: c.Workers}, notifications: {MaxWorkers: 4}}
	}
	client, err := river.NewClient(riverpgxv5.New(c.Pool), cfg)
	if err != nil {
		return nil, fmt.Errorf("make job queue: %w", err)
	}
	return &Queue{client: client, working: c.Workers > 0}, nil
}

// Wake asks for a pass over a base, inside the transaction that ctx carries if it does.
func (q *Queue) Wake(ctx context.Context, base string) error {
	return q.insert(ctx, WorkBase{Base: base})
}

// EnqueueNotification asks for the delivery of a stored message, inside the transaction that ctx
// carries if it does.
func (q *Queue) EnqueueNotification(ctx context.Context, id string) error {
	return q.insert(ctx, DeliverNotification{ID: id})
}

// EnqueueReading asks for a reading of the webhook, inside the transaction that ctx carries if it does.
func (q *Queue) EnqueueReading(ctx context.Context) error { return q.insert(ctx, ReadPresses{}) }

func (q *Queue) insert(ctx context.Context, args river.JobArgs) error {
	var err error
	if tx, ok := store.TxFrom(ctx); ok {
		_, err = q.client.InsertTx(ctx, tx, args, nil)
	} else {
		_, err = q.client.Insert(ctx, args, nil)
	}
	if err != nil {
		return fmt.Errorf("insert job %s: %w", args.Kind(), err)
	}
	return nil
}

// Start begins to work jobs, if this process has workers.
func (q *Queue) Start(ctx context.Context) error {
	if !q.working {
		return nil
	}
	if err := q.client.Start(ctx); err != nil {
		return fmt.Errorf("start job queue: %w", err)
	}
	return nil
}

// Stop lets jobs under way end within ctx.
func (q *Queue) Stop(ctx context.Context) error {
	if !q.working {
		return nil
	}
	if err := q.client.Stop(ctx); err != nil {
		return fmt.Errorf("stop job queue: %w", err)
	}
	return nil
}
