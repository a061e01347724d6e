package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Tick is something that every process does now and then. Two processes at once do no harm, so none
// has to lead (case B115).
type Tick struct {
	Name  string
	Every time.Duration
	Do    func(ctx context.Context) error
}

// Ticker runs ticks until it is stopped.
type Ticker struct {
	ticks  []Tick
	logger *slog.Logger
	went   func(tick string)
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// NewTicker makes a Ticker. went is told of every tick that went well.
func NewTicker(logger *slog.Logger, went func(tick string), ticks ...Tick) *Ticker {
	return &Ticker{ticks: ticks, logger: logger, went: went}
}

// Start runs every tick at once and then at its interval.
func (t *Ticker) Start(ctx context.Context) {
	ctx, t.stop = context.WithCancel(ctx)
	for _, tick := range t.ticks {
		t.done.Go(func() { t.run(ctx, tick) })
	}
}

// Stop ends the ticks and waits for those under way.
func (t *Ticker) Stop() {
	t.stop()
	t.done.Wait()
}

func (t *Ticker) run(ctx context.Context, tick Tick) {
	every := time.NewTicker(tick.Every)
	defer every.Stop()
	for {
		switch err := tick.Do(ctx); {
		case err == nil:
			t.went(tick.Name)
		case ctx.Err() == nil:
			t.logger.ErrorContext(ctx, "tick", "tick", tick.Name, "error", err)
		}
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
	}
}
