package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Fault breaks the next requests that match it. Empty conditions match every
// request of the Web API. A request refused by the rate limit uses up none.
type Fault struct {
	// ID counts from 1, in the order of arming.
	ID int `json:"id"`
	// Base is an ID, Table an ID or a name.
	Base  string `json:"base,omitempty"`
	Table string `json:"table,omitempty"`
	// Method is an HTTP method.
	Method string `json:"method,omitempty"`
	// Contains must be found in the path, the query or the body.
	Contains string `json:"contains,omitempty"`
	// Skip lets that many matching requests pass first.
	Skip int `json:"skip,omitempty"`
	// Times is how many requests it breaks, 1 by default; -1: until it is removed.
	Times int `json:"times"`

	// Status is answered in place of the real answer; 0 leaves the answer as it is.
	Status int `json:"status,omitempty"`
	// Body is the answer's body: a JSON string is sent as its text, everything else as
	// it stands. Without one, Airtable's usual body for the status is sent.
	Body json.RawMessage `json:"body,omitempty"`
	// Headers are added to the answer.
	Headers map[string]string `json:"headers,omitempty"`
	// Drop cuts the connection in place of an answer.
	Drop bool `json:"drop,omitempty"`
	// Delay holds the request before anything else happens to it, on the sandbox's clock.
	Delay Duration `json:"delay,omitempty"`
	// AnswerDelay holds the answer, after the write.
	AnswerDelay Duration `json:"answer_delay,omitempty"`
	// AfterApply serves the request first and then answers with the fault.
	AfterApply bool `json:"after_apply,omitempty"`
	// ApplyLater answers or cuts now and serves the request after that duration of the sandbox's clock.
	ApplyLater Duration `json:"apply_later,omitempty"`
}

// armedFault is a fault with what is left of it.
type armedFault struct {
	Fault
	skip, left int
}

// AddFault arms a fault and returns its ID. The error names what contradicts itself.
func (s *Sandbox) AddFault(f Fault) (int, error) {
	if f.Times == 0 {
		f.Times = 1
	}
	if err := f.validate(); err != nil {
		return 0, err
	}
	if f.ApplyLater > 0 && f.Status == 0 && !f.Drop {
		f.Status = http.StatusBadGateway
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastFault++
	f.ID = s.lastFault
	s.faults = append(s.faults, &armedFault{Fault: f, skip: f.Skip, left: f.Times})
	return f.ID, nil
}

func (f Fault) validate() error {
	var faults []error
	add := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	add(f.Times < -1, "times: %d is below -1; give a count, or -1 for no end", f.Times)
	add(f.Skip < 0, "skip: %d is below 0", f.Skip)
	add(f.Status != 0 && (f.Status < 200 || f.Status > 599), "status: %d is no HTTP status from 200 to 599", f.Status)
	add(f.Drop && f.Status != 0, "drop: a cut connection has no status; give one of the two")
	add(f.AfterApply && f.ApplyLater != 0, "apply_later: a write cannot land both before and after the answer; give after_apply or apply_later")
	add(f.Delay < 0 || f.AnswerDelay < 0 || f.ApplyLater < 0, "delay, answer_delay, apply_later: must not be below 0")
	add(len(f.Body) > 0 && f.Status == 0, "body: needs a status")
	return errors.Join(faults...)
}

// ClearFaults disarms all faults.
func (s *Sandbox) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// takeFault finds the first fault that matches and uses it once.
func (s *Sandbox) takeFault(c *call) *Fault {
	for i, f := range s.faults {
		if !f.matches(c) {
			continue
		}
		if f.skip > 0 {
			f.skip--
			continue
		}
		if f.left > 0 {
			f.left--
		}
		if f.left == 0 {
			s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
		}
		c.entry.Fault = f.ID
		taken := f.Fault
		return &taken
	}
	return nil
}

func (f *Fault) matches(c *call) bool {
	table := c.params["table"]
	switch {
	case f.Method != "" && !strings.EqualFold(f.Method, c.method):
		return false
	case f.Base != "" && f.Base != c.params["base"]:
		return false
	case f.Table != "" && f.Table != table && (c.table == nil || (f.Table != c.table.id && f.Table != c.table.name)):
		return false
	case f.Contains == "":
		return true
	}
	for _, text := range []string{c.entry.Path, c.entry.URI, c.entry.decodedQuery} {
		if strings.Contains(text, f.Contains) {
			return true
		}
	}
	return bytes.Contains(c.body, []byte(f.Contains))
}

// misbehave carries a fault out.
func (s *Sandbox) misbehave(w http.ResponseWriter, c *call, f *Fault) {
	if f.Delay > 0 && !s.hold(f.Delay) {
		s.cut(c)
	}
	var answer *response
	switch {
	case f.ApplyLater > 0:
		s.deferCall(c, time.Duration(f.ApplyLater))
	case f.AfterApply, f.Status == 0 && !f.Drop:
		answer = s.served(c)
	}
	if f.AnswerDelay > 0 && !s.hold(f.AnswerDelay) {
		s.cut(c)
	}
	switch {
	case f.Drop:
		s.cut(c)
	case f.Status != 0:
		answer = s.faultAnswer(f)
	default:
		answer.addHeaders(f.Headers)
	}
	s.leave(w, c, answer)
}

// hold waits on the sandbox's clock; false when the sandbox closes meanwhile.
func (s *Sandbox) hold(d Duration) bool {
	return s.clock.wait(s.ctx.Done(), s.clock.now().Add(time.Duration(d)))
}

func (a *response) addHeaders(headers map[string]string) {
	if a.header == nil {
		a.header = http.Header{}
	}
	for name, value := range headers {
		a.header.Set(name, value)
	}
}

func (s *Sandbox) faultAnswer(f *Fault) *response {
	a := &response{status: f.Status}
	var text string
	switch {
	case len(f.Body) == 0:
		a = s.Options().usual(f.Status)
	case json.Unmarshal(f.Body, &text) == nil:
		a.body = []byte(text)
		if !json.Valid(a.body) {
			a.header = http.Header{"Content-Type": {http.DetectContentType(a.body)}}
		}
	default:
		a.body = f.Body
	}
	a.addHeaders(f.Headers)
	return a
}

// usual is Airtable's own body for a status.
func (o Options) usual(status int) *response {
	html := func(text string) *response {
		return &response{status: status, header: http.Header{"Content-Type": {"text/html"}},
			body: []byte("<html><head><title>" + text + "</title></head><body><h1>" + text + "</h1></body></html>")}
	}
	switch status {
	case http.StatusOK:
		return &response{status: status, body: []byte("{}")}
	case http.StatusUnauthorized:
		return unauthenticated().response()
	case http.StatusForbidden:
		return forbidden().response()
	case http.StatusNotFound:
		return bareNotFound().response()
	case http.StatusRequestEntityTooLarge:
		return typed(status, "REQUEST_TOO_LARGE", "The request body is too large").response()
	case http.StatusUnprocessableEntity:
		return invalidRequest().response()
	case http.StatusTooManyRequests:
		return o.tooMany("RATE_LIMIT_REACHED", "Rate limit exceeded. Please try again later").response()
	case http.StatusInternalServerError:
		return typed(status, "SERVER_ERROR", "An unexpected error occurred").response()
	case http.StatusBadGateway:
		return html("502 Bad Gateway")
	case http.StatusServiceUnavailable:
		return typed(status, "RETRIABLE_ERROR", "Server encountered an error while processing your request, "+
			"and it is safe to retry the request").response()
	}
	return html(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
