package sandbox

import (
	"net/http"
	"net/url"
	"time"
)

// Request is one line of the log of API requests.
type Request struct {
	// ID counts from 1; changes refer to it.
	ID int `json:"id"`
	// At is when it arrived, by the sandbox's clock.
	At     time.Time `json:"at"`
	Method string    `json:"method"`
	// Path is decoded and has no query; URI and Query are as sent.
	Path  string `json:"path"`
	URI   string `json:"uri"`
	Query string `json:"query"`
	Base  string `json:"base,omitempty"`
	// Table is its name, where the request is about one.
	Table string `json:"table,omitempty"`
	// Status is 0 until it is answered, and for a cut connection.
	Status int `json:"status"`
	// Records counts those in a write; 0 for a read.
	Records int `json:"records"`
	// Token is what stands before the token's dot.
	Token string `json:"token"`
	// Body is as sent, cut at 64 KiB; the oldest are dropped when they add up to too much.
	Body string `json:"body,omitempty"`
	// BodyCut says that Body is not the whole of it.
	BodyCut bool `json:"body_cut,omitempty"`
	// Fault is the ID of the fault that broke it.
	Fault   int  `json:"fault,omitempty"`
	Dropped bool `json:"dropped,omitempty"`
	// Landed is the status the write had when it was applied later.
	Landed int `json:"landed,omitempty"`
	// IdempotencyKey is the header of that name, which Airtable does not know.
	IdempotencyKey string `json:"idempotency_key,omitempty"`

	decodedQuery string
}

const (
	maxLoggedBody   = 64 << 10
	maxLoggedBodies = 64 << 20
)

func (s *Sandbox) logRequest(c *call, r *http.Request) {
	s.lastRequest++
	e := &Request{ID: s.lastRequest, At: c.now, Method: c.method, Path: r.URL.Path, URI: r.RequestURI,
		Query: r.URL.RawQuery, Base: c.params["base"], Table: c.params["table"], Token: tokenLabel(c.secret),
		IdempotencyKey: r.Header.Get("Idempotency-Key")}
	if c.table != nil {
		e.Table = c.table.name
	}
	if decoded, err := url.QueryUnescape(r.URL.RawQuery); err == nil {
		e.decodedQuery = decoded
	}
	if c.route != nil && c.route.writes() {
		e.Records = c.countRecords()
	}
	body := c.body
	if len(body) > maxLoggedBody {
		body, e.BodyCut = body[:maxLoggedBody], true
	}
	e.Body = string(body)
	s.requests = append(s.requests, e)
	c.entry = e
	s.trimBodies(len(body))
}

// trimBodies drops the oldest bodies when a long run would keep too many.
func (s *Sandbox) trimBodies(added int) {
	s.bodyBytes += added
	if s.bodyBytes <= maxLoggedBodies {
		return
	}
	for _, e := range s.requests[:len(s.requests)-1] {
		if e.Body == "" {
			continue
		}
		s.bodyBytes -= len(e.Body)
		e.Body, e.BodyCut = "", true
		if s.bodyBytes <= maxLoggedBodies/2 {
			return
		}
	}
}

// countRecords is how many records a write names.
func (c *call) countRecords() int {
	if c.method == http.MethodDelete {
		if c.params["record"] != "" {
			return 1
		}
		return len(queryList(c.query, "records"))
	}
	o, err := parseObject(c.body)
	if err != nil {
		return 0
	}
	if items, ok := o.list("records"); ok {
		return len(items)
	}
	if o.has("fields") {
		return 1
	}
	return 0
}

// Requests returns the log of API requests from its beginning or its last reset.
func (s *Sandbox) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleDue()
	list := make([]Request, len(s.requests))
	for i, e := range s.requests {
		list[i] = *e
	}
	return list
}

// ClearRequests empties the log. Later requests go on counting.
func (s *Sandbox) ClearRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.bodyBytes = nil, 0
}
