package airtable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	maxAnswer    = 16 << 20 // bytes of a good answer, after decompression
	maxErrorBody = 1 << 20  // bytes read of any other answer
)

// call is one HTTP request and what to make of its answer.
type call struct {
	op          string // for errors: "list records"
	method, url string
	body        []byte // nil: none
	base, table string
	ids         []string     // record IDs that the request addresses
	answer      any          // decoded into, on a 2xx
	check       func() error // judges the decoded answer
	records     func() int   // for Observe
}

// reply is an answer as it came.
type reply struct {
	status int
	header http.Header
	body   []byte
	cut    error // why the body is incomplete
}

// send makes exactly one HTTP request.
func (c *Client) send(ctx context.Context, in call) error {
	if c.broken != nil {
		return &Error{Op: in.op, Fate: FateUnsent, Err: c.broken}
	}
	start := time.Now()
	body := &onceBody{rest: in.body}
	answer, err := c.roundTrip(ctx, in, body)
	failure := c.judge(in, answer, err, body)
	seen := Request{Method: in.method, Base: in.base, Table: in.table, Status: answer.status, Duration: time.Since(start)}
	if in.records != nil {
		seen.Records = in.records()
	}
	c.observe(seen)
	if failure != nil {
		return failure
	}
	return nil
}

// roundTrip sends the request and reads the whole answer, all of it within the
// request timeout. Its error means that no status line came.
func (c *Client) roundTrip(parent context.Context, in call, body *onceBody) (reply, error) {
	ctx, cancel := context.WithTimeout(parent, c.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, in.method, in.url, body)
	if err != nil {
		return reply{}, err
	}
	c.prepare(req, in.body)
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{}, c.noAnswer(parent, ctx, err)
	}
	defer resp.Body.Close()
	limit := int64(maxAnswer)
	if resp.StatusCode/100 != 2 {
		limit = maxErrorBody
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		err = c.noAnswer(parent, ctx, err)
	} else if int64(len(data)) > limit {
		err = fmt.Errorf("answer exceeds %d bytes", limit)
	}
	return reply{status: resp.StatusCode, header: resp.Header, body: data, cut: err}, nil
}

// prepare sets headers and keeps net/http from sending the request again.
// Transport resends on a pooled connection that turns out dead, when a request
// has no body or one it can rewind; a body without GetBody is neither. A GET
// gets an empty one, declared "identity" so that it leaves no trace on the wire.
func (c *Client) prepare(req *http.Request, body []byte) {
	req.GetBody = nil
	req.Header.Set("User-Agent", c.userAgent)
	req.Header.Set("Accept", "application/json")
	c.authorize(req)
	if body == nil {
		req.TransferEncoding = []string{"identity"}
		return
	}
	req.ContentLength = int64(len(body))
	req.Header.Set("Content-Type", "application/json")
}

// noAnswer words a transport error. The url.Error around it is dropped, since
// its URL holds the formula and with it keys of payloads.
func (c *Client) noAnswer(parent, ctx context.Context, err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	if ctx.Err() != nil && parent.Err() == nil {
		return fmt.Errorf("no complete answer within %s: %w", c.timeout, context.DeadlineExceeded)
	}
	return err
}

// judge turns what came back into an error, or nil for a 2xx that was read,
// decoded and found fitting.
func (c *Client) judge(in call, answer reply, err error, body *onceBody) *Error {
	if err != nil {
		e := &Error{Op: in.op, Fate: FateUnknown, Err: err}
		if !body.seal() {
			e.Fate = FateUnsent
		}
		return e
	}
	if answer.status/100 != 2 {
		return c.refusal(in, answer, body)
	}
	err = answer.cut
	if err == nil {
		err = decode(answer.body, in.answer)
	}
	if err == nil && in.check != nil {
		err = in.check()
	}
	if err == nil {
		return nil
	}
	return &Error{
		Op: in.op, Status: answer.status, Fate: FateUnknown,
		Body: clean(c.redact(string(answer.body)), maxBody),
		Err:  fmt.Errorf("unreadable answer: %w", err),
	}
}

// refusal is the error for an answer whose status is not 2xx.
func (c *Client) refusal(in call, answer reply, body *onceBody) *Error {
	e := &Error{
		Op: in.op, Status: answer.status, Fate: fateOf(answer.status),
		RetryAfter: parseRetryAfter(answer.header, time.Now()),
		Body:       clean(c.redact(string(answer.body)), maxBody),
		Err:        answer.cut,
	}
	if e.Fate == FateUnknown && !body.seal() {
		e.Fate = FateUnsent
	}
	typ, message := parseEnvelope(answer.body)
	e.Type, e.Message = clean(c.redact(typ), maxType), clean(c.redact(message), maxMessage)
	e.LinkedID = foreignRecord(e, in.ids)
	return e
}

// decode reads exactly one JSON value, with numbers kept digit for digit.
func decode(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the JSON value")
	}
	return nil
}

var errSealed = errors.New("request given up")

// onceBody is a request body that can be read once and that knows whether it
// was handed out to its end. As long as it was not, the request cannot have
// been applied: its tail never left the machine.
type onceBody struct {
	mu     sync.Mutex
	rest   []byte
	out    bool
	sealed bool
}

// Read hands out what is left, and nothing more once sealed.
func (b *onceBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sealed {
		return 0, errSealed
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	b.out = len(b.rest) == 0
	if n == 0 && b.out {
		return 0, io.EOF
	}
	return n, nil
}

// Close does nothing: there is nothing to free, and a body closed early is
// judged by what was read of it.
func (b *onceBody) Close() error { return nil }

// seal stops further reading and reports whether all was handed out. The
// transport may still be writing in the background; after seal the answer holds.
func (b *onceBody) seal() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sealed = true
	return b.out
}

// endpoint builds a URL under /v0 from raw path segments.
func (c *Client) endpoint(segments ...string) string {
	var b strings.Builder
	b.WriteString(c.root)
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteString(escapeSegment(s))
	}
	return b.String()
}

// escapeSegment encodes a path segment; names may hold / ? # and %. Dots alone
// would be taken for a way up.
func escapeSegment(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return escape(s)
}

// escape percent-encodes all but letters, digits and - _ . ~, so that no server
// can read another text, whatever its rules for + ! ' ( ) * are (case B06).
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }
