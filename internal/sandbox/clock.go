package sandbox

import (
	"sync"
	"time"
)

// clock is a time source plus an offset. Stamps, rate, penalty, cursors and
// webhooks all read it, so that a test can let a week pass at once.
type clock struct {
	mu     sync.Mutex
	source func() time.Time
	offset time.Duration
	moved  chan struct{}
}

func newClock(source func() time.Time, offset time.Duration) *clock {
	if source == nil {
		source = time.Now
	}
	return &clock{source: source, offset: offset, moved: make(chan struct{})}
}

// now is the sandbox's time, in UTC and without a monotonic reading, because
// the offset makes it jump.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.source().Round(0).UTC().Add(c.offset)
}

// set makes it t; time runs on from there.
func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = t.Sub(c.source().Round(0))
	c.broadcast()
}

// shift sets the distance to the source.
func (c *clock) shift(offset time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = offset
	c.broadcast()
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
	c.broadcast()
}

// wake makes waiters look again, for a source that was moved from outside.
func (c *clock) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broadcast()
}

func (c *clock) broadcast() {
	close(c.moved)
	c.moved = make(chan struct{})
}

func (c *clock) currentOffset() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offset
}

func (c *clock) changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moved
}

// wait returns true when the clock has reached at, false when stop came first.
func (c *clock) wait(stop <-chan struct{}, at time.Time) bool {
	for {
		changed := c.changed()
		left := at.Sub(c.now())
		if left <= 0 {
			return true
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-changed:
		case <-stop:
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

// wireTime is Airtable's form of an instant: UTC with milliseconds.
const wireTime = "2006-01-02T15:04:05.000Z"

func formatTime(t time.Time) string { return t.UTC().Format(wireTime) }
