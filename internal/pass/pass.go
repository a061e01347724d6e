package pass

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/config"
	"airtable-replay/internal/pacing"
	"airtable-replay/internal/pipeline"
	"airtable-replay/internal/store"
)

const (
	maxPass    = 5 * time.Minute // then the lease is released and taken anew (R1)
	sendWithin = 5 * time.Second // from storing an intent to sending it, or it is not sent
)

// forecastEvery is after how many chunks of a busy base a dry run gets a turn.
const forecastEvery = 4

// Base is one Airtable base as a pass uses it.
type Base struct {
	Name   string
	ID     string
	Client *airtable.Client
	Retry  config.Retry
}

// mirror keeps the dead letter table behind the entries (R9).
type mirror interface {
	// MirrorEntries sends up to ten rows of a base under its lease, and tells whether it sent any.
	MirrorEntries(ctx context.Context, h *pacing.Hold) (sent bool, err error)
}

// Config is what a Pass is made of.
type Config struct {
	Store  *store.Store
	Pacer  *pacing.Pacer
	Book   *pipeline.Book
	Bases  []Base
	Mirror mirror // nil: entries are not mirrored
	// Announcer is told of halted bases and finished runs.
	Announcer announcer
	// Wake asks for another pass over a base, inside the transaction that ctx carries.
	Wake   func(ctx context.Context, base string) error
	Holder string // names this process to people
	Logger *slog.Logger
	// Probe is told of every step and of the sender's IDs of the records at hand; tests stop, crash and
	// wait there. Nil in production.
	Probe func(ctx context.Context, step Step, keys []string)
}

// Step names a gap between two hops of a chunk.
type Step string

// The steps, in order.
const (
	StepTaken    Step = "taken"
	StepRead     Step = "read"
	StepIntended Step = "intended"
	StepAnswered Step = "answered"
	StepSettled  Step = "settled"
)

// Pass works on bases, one at a time for each call of WorkBase. It is safe for concurrent use.
type Pass struct {
	Config
	bases    map[string]Base
	schemas  *schemas
	senders  *http.Client // asks for current states (C5)
	draining atomic.Bool
}

// New makes a Pass.
func New(c Config) *Pass {
	p := &Pass{Config: c, bases: map[string]Base{"": {}}, schemas: newSchemas(), senders: newSenders()}
	for _, b := range c.Bases {
		p.bases[b.Name] = b
	}
	if p.Probe == nil {
		p.Probe = func(context.Context, Step, []string) {}
	}
	return p
}

// Drain makes passes end after the chunk under way, so that a process can stop.
func (p *Pass) Drain() { p.draining.Store(true) }

// WorkBase works on a base until nothing is due. It returns at once when somebody else holds the
// lease: the holder will see the work (R1).
func (p *Pass) WorkBase(ctx context.Context, base string) error {
	if _, ok := p.bases[base]; !ok {
		return fmt.Errorf("work base %q: not configured", base)
	}
	hold, ok, err := p.Pacer.Acquire(ctx, base, p.Holder)
	if err != nil || !ok {
		return err
	}
	defer p.release(ctx, hold)
	for turn := 1; hold.Held() < maxPass && ctx.Err() == nil && !p.draining.Load(); turn++ {
		more, err := p.workNext(ctx, hold)
		if err == nil && (!more || turn%forecastEvery == 0) {
			var judged bool
			judged, err = p.forecastNext(ctx, hold)
			more = more || judged
		}
		if errors.Is(err, store.ErrStale) {
			p.Logger.WarnContext(ctx, "lease lost", "base", base, "lease_token", hold.Token)
			return nil
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func (p *Pass) release(ctx context.Context, hold *pacing.Hold) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	wake := func(ctx context.Context) error { return p.Wake(ctx, hold.Base) }
	if err := p.Store.ReleaseLease(ctx, hold.Lease, wake); err != nil {
		p.Logger.ErrorContext(ctx, "release lease", "base", hold.Base, "error", err)
	}
	// What fails here comes up again with the next tick.
	if err := p.Announcer.AnnounceRuns(ctx); err != nil {
		p.Logger.ErrorContext(ctx, "announce runs", "base", hold.Base, "error", err)
	}
}

// workNext works on one chunk, and on rows to mirror when no chunk is due or some rows have waited
// for long. more is false when nothing was due.
func (p *Pass) workNext(ctx context.Context, hold *pacing.Hold) (more bool, err error) {
	var c store.Chunk
	err = hold.Renewing(func() (err error) {
		c, err = p.Store.TakeChunk(ctx, hold.Lease)
		return err
	})
	if err != nil || c.Closed {
		return false, err
	}
	if len(c.Items) > 0 {
		if err := p.workSafely(ctx, hold, c); err != nil {
			return false, err
		}
	}
	return p.mirrorRows(ctx, hold, len(c.Items) > 0)
}

// mirrorRows sends rows when nothing else was due, or when some have waited over ten seconds, so that
// they get every third request (R9). A failing mirror never stops data.
func (p *Pass) mirrorRows(ctx context.Context, hold *pacing.Hold, worked bool) (more bool, err error) {
	if p.Mirror == nil {
		return worked, nil
	}
	due, late, err := p.Store.MirrorState(ctx, hold.Base)
	if err != nil {
		return false, err
	}
	if !due || worked && !late {
		return worked, nil
	}
	sent, err := p.Mirror.MirrorEntries(ctx, hold)
	if errors.Is(err, store.ErrStale) {
		return false, err
	}
	if err != nil {
		p.Logger.WarnContext(ctx, "mirror entries", "base", hold.Base, "error", err)
	}
	return worked || sent, nil
}

// workSafely works on a chunk; a panic is charged to its records, which are then taken singly (R7).
func (p *Pass) workSafely(ctx context.Context, hold *pacing.Hold, c store.Chunk) (err error) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		p.Logger.ErrorContext(ctx, "panic over a chunk", "base", hold.Base, "target", c.Target, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
		var refs []store.RecordRef
		for _, it := range c.Items {
			refs = append(refs, it.Ref)
		}
		err = p.Store.ChargeTaken(ctx, hold.Lease, refs)
	}()
	w := p.newChunk(hold.Base, hold, c)
	w.probe(ctx, StepTaken)
	return w.work(ctx)
}

// jitter lengthens a wait by up to its double (W2).
func jitter(d time.Duration) time.Duration { return d + rand.N(d+1) }
