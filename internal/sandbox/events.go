package sandbox

import (
	"io"
	"net/http"
	"time"
)

const (
	// gather is how long the page is not told of more after it was told once.
	gather = 50 * time.Millisecond
	// pulse keeps idle connections alive.
	pulse = 15 * time.Second
)

// serveEvents tells the page by server-sent events whenever something happened;
// what it was, the page asks for.
func (s *Sandbox) serveEvents(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	control := http.NewResponseController(w)
	beat := time.NewTicker(pulse)
	defer beat.Stop()
	line := "retry: 1000\ndata: stirred\n\n"
	for {
		s.mu.Lock()
		activity := s.activity
		s.mu.Unlock()
		if _, err := io.WriteString(w, line); err != nil || control.Flush() != nil {
			return
		}
		select {
		case <-activity:
			line = "data: stirred\n\n"
		case <-beat.C:
			line = ": still here\n\n"
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
		select {
		case <-time.After(gather):
		case <-s.ctx.Done():
			return
		}
	}
}

// stirring tells the page of whatever the control API changed: the clock,
// faults and options are nothing that Await waits for.
func (s *Sandbox) stirring(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r)
		if r.Method == http.MethodGet {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stirred()
	})
}
