package sandbox

import (
	"cmp"
	"slices"
	"time"
)

// deferred is what happens later, by the sandbox's clock.
type deferred struct {
	due  time.Time
	land func(at time.Time)
}

// later has something done under the lock once it is due.
func (s *Sandbox) later(due time.Time, land func(at time.Time)) {
	s.deferred = append(s.deferred, &deferred{due, land})
	slices.SortStableFunc(s.deferred, func(a, b *deferred) int { return cmp.Compare(a.due.UnixNano(), b.due.UnixNano()) })
	s.nudge()
}

// deferCall lands a request that was answered, or not, after a while.
func (s *Sandbox) deferCall(c *call, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.later(s.clock.now().Add(wait), func(at time.Time) {
		c.now = at
		c.entry.Landed = c.serve().status
	})
}

// settleDue lands what has become due, in order and at its own time, as if the
// clock had passed through it. It is called under the lock before everything
// else that looks at or changes the tables.
func (s *Sandbox) settleDue() {
	now := s.clock.now()
	for len(s.deferred) > 0 && !s.deferred[0].due.After(now) {
		next := s.deferred[0]
		s.deferred = s.deferred[1:]
		next.land(next.due)
	}
}

// nudge makes the scheduler look again.
func (s *Sandbox) nudge() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// runScheduler lands late writes and sends pings when no request comes by.
func (s *Sandbox) runScheduler() {
	for {
		changed := s.clock.changed()
		next, pings := s.upcoming()
		for _, h := range pings {
			s.work.Go(func() { s.sendPing(h) })
		}
		timer := time.NewTimer(next)
		select {
		case <-s.ctx.Done():
			timer.Stop()
			return
		case <-changed:
		case <-s.kick:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// upcoming settles what is due and says how long there is nothing to do, and
// which pings are to be sent now.
func (s *Sandbox) upcoming() (time.Duration, []*webhook) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleDue()
	now := s.clock.now()
	next := now.Add(time.Hour)
	if len(s.deferred) > 0 && s.deferred[0].due.Before(next) {
		next = s.deferred[0].due
	}
	var pings []*webhook
	for _, b := range s.bases {
		for _, h := range b.hooks {
			switch {
			case h.pingDue.IsZero() || h.pinging:
			case !h.pingDue.After(now):
				h.pingDue, h.pinging = time.Time{}, true
				pings = append(pings, h)
			case h.pingDue.Before(next):
				next = h.pingDue
			}
		}
	}
	return next.Sub(now), pings
}
