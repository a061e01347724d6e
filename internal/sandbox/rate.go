package sandbox

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// meter counts requests in a rolling second.
type meter struct {
	recent  []time.Time
	blocked time.Time // end of the penalty
}

// admit says whether a request at now is within the limit. The one that passes
// it starts the penalty, during which everything is refused.
func (m *meter) admit(now time.Time, limit int, o Options) bool {
	if now.Before(m.blocked) {
		if o.PenaltyExtends {
			m.blocked = now.Add(time.Duration(o.Penalty))
		}
		return false
	}
	if limit == 0 {
		return true
	}
	kept := m.recent[:0]
	for _, at := range m.recent {
		if now.Sub(at) < time.Second && !at.After(now) {
			kept = append(kept, at)
		}
	}
	m.recent = kept
	if len(m.recent) >= limit {
		m.blocked = now.Add(time.Duration(o.Penalty))
		return false
	}
	m.recent = append(m.recent, now)
	return true
}

// limited gives the refusal of a request that comes too soon, or nil. Every
// request is counted for its base and for its token's owner.
func (s *Sandbox) limited(c *call) *apiError {
	admitted := true
	if c.base != nil {
		admitted = c.base.traffic.admit(c.now, s.options.Rate, s.options)
	}
	if c.token != nil {
		owner := s.owners[c.token.owner.ID]
		if owner == nil {
			owner = &meter{}
			s.owners[c.token.owner.ID] = owner
		}
		admitted = owner.admit(c.now, s.options.OwnerRate, s.options) && admitted
	}
	if admitted {
		return nil
	}
	return s.options.tooMany("RATE_LIMIT_REACHED", "Rate limit exceeded. Please try again later")
}

// overQuota is the monthly limit: a 429 that no waiting cures.
func (s *Sandbox) overQuota() *apiError {
	return s.options.tooMany("PUBLIC_API_BILLING_LIMIT_EXCEEDED",
		"API billing plan limit exceeded. You've reached the maximum number of requests allowed for this month.")
}

func (o Options) tooMany(kind, message string) *apiError {
	e := &apiError{status: http.StatusTooManyRequests, header: http.Header{}}
	if o.RateLimitEnvelope == "plural" {
		e.body = map[string]any{"errors": []any{map[string]any{"error": kind, "message": message}}}
	} else {
		e.body = map[string]any{"error": problem{Type: kind, Message: message}}
	}
	if wait := time.Duration(o.RetryAfterOn429); wait > 0 {
		e.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	return e
}
