package pacing

import (
	"context"
	"fmt"
	"math"
	"time"

	"airtable-replay/internal/store"
)

// window is the span in which departures are counted: Airtable counts per second, and a request may
// be a little late (W4).
const window = 1100 * time.Millisecond

// ownerInterval spaces the requests of one token owner over all bases: 50 a second (W4).
const ownerInterval = 20 * time.Millisecond

// Base is what pacing needs to know of a base.
type Base struct {
	Name  string
	Owner string        // of the token; bases of one owner share a budget
	Rate  float64       // requests per second
	Lease time.Duration // how long a lease lives without progress; at least request timeout and 10 s
}

// airtableRate is how many requests a second Airtable takes for one base.
const airtableRate = 5

// lateness is by how much a request may leave later than it was booked without a word: Airtable counts
// by the second, window is longer than that.
const lateness = 20 * time.Millisecond

// pace is the base's rule for departures. Up to Airtable's own rate a window never holds more than
// that; beyond 40/s there is no limit of Airtable's to keep, only the average.
func (b Base) pace() store.Pace {
	p := store.Pace{
		Owner: b.Owner, Interval: time.Duration(float64(time.Second) / b.Rate), Window: window, OwnerInterval: ownerInterval,
		Burst: max(2, int(math.Floor(b.Rate*1.25))),
	}
	if b.Rate <= airtableRate {
		p.Burst = min(p.Burst, airtableRate)
	}
	if b.Rate > 40 {
		p.Burst, p.Window, p.OwnerInterval = 2, 0, p.Interval
	}
	return p
}

// Pacer books request slots. It is safe for concurrent use.
type Pacer struct {
	store *store.Store
	bases map[string]Base
}

// New makes a Pacer for these bases.
func New(s *store.Store, bases []Base) *Pacer {
	p := &Pacer{store: s, bases: map[string]Base{"": {Rate: 1000, Lease: 30 * time.Second}}}
	for _, b := range bases {
		p.bases[b.Name] = b
	}
	return p
}

// Wait books n requests to a base that go back to back and waits for the first.
func (p *Pacer) Wait(ctx context.Context, base string, n int) error {
	b, ok := p.bases[base]
	if !ok {
		return fmt.Errorf("pace base %q: not configured", base)
	}
	pace, asked := b.pace(), time.Now()
	wait, err := p.store.ReserveSlots(ctx, base, n, pace)
	if err != nil {
		return err
	}
	if err := sleep(ctx, wait); err != nil {
		return err
	}
	if time.Since(asked) > wait+lateness && pace.Window > 0 {
		return p.store.NoteDeparture(ctx, base, n, pace.Interval)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for slot: %w", ctx.Err())
	}
}
