package sandbox

import (
	"io"
	"net/http"
	"strconv"
)

// hardBodyLimit is the most that is read of a request at all.
const hardBodyLimit = 64 << 20

// serveAPI is the door of the Web API: log, rate limit, faults, answer.
func (s *Sandbox) serveAPI(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, hardBodyLimit))
	if err != nil {
		return // the client went away in the middle of its request
	}
	c := s.newCall(r, body)
	refusal, fault := s.arrive(c, r)
	if refusal != nil {
		s.leave(w, c, refusal)
		return
	}
	if fault == nil {
		s.leave(w, c, s.served(c))
		return
	}
	s.misbehave(w, c, fault)
}

// arrive logs the request, counts it, and takes the fault that awaits it. A
// request refused for its rate uses up no fault.
func (s *Sandbox) arrive(c *call, r *http.Request) (*response, *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleDue()
	c.now = s.clock.now()
	c.resolve()
	s.logRequest(c, r)
	s.stirred()
	if refusal := s.limited(c); refusal != nil {
		return refusal.response(), nil
	}
	return nil, s.takeFault(c)
}

// served serves the call at the present time.
func (s *Sandbox) served(c *call) *response {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleDue()
	c.now = s.clock.now()
	return c.serve()
}

// leave notes the answer in the log and sends it.
func (s *Sandbox) leave(w http.ResponseWriter, c *call, a *response) {
	s.mu.Lock()
	c.entry.Status = a.status
	s.stirred()
	now := s.clock.now()
	s.mu.Unlock()
	header := w.Header()
	body := a.body
	if a.header.Get("Content-Type") == "" {
		body = dress(header, c, a)
	}
	// The Date header tells the sandbox's time, as clients measure skew by it.
	header.Set("Date", now.Format(http.TimeFormat))
	header.Set("Content-Type", "application/json; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	for name, values := range a.header {
		header[name] = values
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(body) // a client that went away does not want it
}

// cut breaks the connection off without an answer.
func (s *Sandbox) cut(c *call) {
	s.mu.Lock()
	c.entry.Dropped = true
	s.stirred()
	s.mu.Unlock()
	panic(http.ErrAbortHandler)
}
