package pacing

import (
	"context"
	"fmt"
	"time"

	"airtable-replay/internal/store"
)

// Hold is a lease as its holder sees it. Only the goroutine of the pass may use it.
type Hold struct {
	store.Lease
	until time.Time // monotonic: counted from before the last renewal was sent
	since time.Time
}

// Acquire takes the lease of a base; ok is false when there is nothing to do or somebody else does
// it.
func (p *Pacer) Acquire(ctx context.Context, base, holder string) (h *Hold, ok bool, err error) {
	b, known := p.bases[base]
	if !known {
		return nil, false, fmt.Errorf("lease base %q: not configured", base)
	}
	start := time.Now()
	l, ok, err := p.store.AcquireLease(ctx, base, holder, b.Lease)
	if err != nil || !ok {
		return nil, false, err
	}
	return &Hold{Lease: l, until: start.Add(b.Lease), since: start}, true, nil
}

// Renewing runs a fenced transaction and counts the lease from before it was sent.
func (h *Hold) Renewing(do func() error) error {
	start := time.Now()
	if err := do(); err != nil {
		return err
	}
	h.until = start.Add(h.Length)
	return nil
}

// Lives tells whether the lease certainly lives for another span, by the monotonic clock, which runs
// on while the process is stopped.
func (h *Hold) Lives(span time.Duration) bool { return time.Until(h.until) > span }

// Held is how long the lease has been held.
func (h *Hold) Held() time.Duration { return time.Since(h.since) }
