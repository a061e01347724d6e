package sandbox

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	maxPings      = 13
	firstPingWait = 10 * time.Second
	longestWait   = 4 * time.Hour
	pingTimeout   = 25 * time.Second
)

// sendPing tells a webhook's URL that there is something to read. Changes that
// come while one is under way are part of the next.
func (s *Sandbox) sendPing(h *webhook) {
	s.mu.Lock()
	now := s.clock.now()
	wanted := h.notify && h.active(now)
	target, body := h.url, h.pingBody(now)
	s.mu.Unlock()
	started := time.Now()
	problem := ""
	if wanted {
		problem = s.ping(target, body, h.secret)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.pinging = false
	s.stirred()
	if wanted {
		h.note(s.clock.now(), time.Since(started), problem)
	}
	s.nudge()
}

func (h *webhook) pingBody(now time.Time) []byte {
	return fmt.Appendf(nil, `{"base":{"id":%q},"webhook":{"id":%q},"timestamp":%q}`, h.base.id, h.id, formatTime(now))
}

// ping gives the reason of a failure, "" for none.
func (s *Sandbox) ping(target string, body, secret []byte) string {
	ctx, cancel := context.WithTimeout(s.ctx, pingTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return "malformed notification URL"
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Airtable-Content-MAC", "hmac-sha256="+sign(body, secret))
	resp, err := s.config.Client.Do(req)
	if err != nil {
		return "no answer"
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // an answer's body means nothing
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNoContent {
		return fmt.Sprintf("status %d", resp.StatusCode)
	}
	return ""
}

func sign(body, secret []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// note keeps the result and plans the next try, each twice as far off as the
// last. After about a day notifications go off; changes are still recorded.
func (h *webhook) note(now time.Time, took time.Duration, problem string) {
	h.last = &pingResult{success: problem == "", at: now, took: took, retry: h.tries, problem: problem}
	if problem == "" {
		h.tries = 0
		return
	}
	h.tries++
	if h.tries >= maxPings {
		h.notify, h.pingDue = false, time.Time{}
		return
	}
	h.last.willRetry = true
	h.pingDue = now.Add(min(firstPingWait<<(h.tries-1), longestWait))
}

func (p *pingResult) json() any {
	if p == nil {
		return nil
	}
	out := map[string]any{"success": p.success, "completionTimestamp": formatTime(p.at),
		"durationMs": float64(p.took.Microseconds()) / 1000, "retryNumber": p.retry}
	if !p.success {
		out["willBeRetried"] = p.willRetry
		out["error"] = map[string]any{"message": p.problem}
	}
	return out
}

func (h *webhook) lastSuccess() any {
	if h.last == nil || !h.last.success {
		return nil
	}
	return formatTime(h.last.at)
}
