package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// call is one API request on its way through the sandbox. It can be served
// again later, without the client.
type call struct {
	s      *Sandbox
	entry  *Request
	method string
	path   []string // decoded segments
	query  url.Values
	body   []byte
	long   bool // the URL is beyond Airtable's limit
	secret string
	gzip   bool // the client takes it
	known  bool // the client sends the cookie back
	now    time.Time

	route  *route
	token  *token
	base   *base
	params map[string]string
	table  *table
}

// response is an answer before it goes out.
type response struct {
	status int
	header http.Header
	body   []byte
}

func (s *Sandbox) newCall(r *http.Request, body []byte) *call {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		query = r.URL.Query()
	}
	_, cookieErr := r.Cookie(browserCookie)
	return &call{s: s, method: r.Method, path: segments(r.URL), query: query, body: body,
		long: len(r.Host)+len(r.RequestURI)+len("https://") > longURL, secret: bearer(r.Header.Get("Authorization")),
		gzip: strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"), known: cookieErr == nil}
}

// segments splits a path before it is decoded, so that a table's name may hold
// a slash. A trailing slash does not count.
func segments(u *url.URL) []string {
	parts := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	for i, part := range parts {
		if decoded, err := url.PathUnescape(part); err == nil {
			parts[i] = decoded
		}
	}
	return parts
}

// resolve finds what the request is about. It refuses nothing yet.
func (c *call) resolve() {
	c.token = c.s.token(c.secret)
	c.route, c.params = matchRoute(c.method, c.path)
	if c.route == nil {
		_, c.params = matchRoute("", c.path)
	}
	c.base = c.s.base(c.params["base"])
	if c.base != nil {
		c.table = c.base.table(c.params["table"])
	}
}

// serve answers the request under the sandbox's lock.
func (c *call) serve() *response {
	c.resolve()
	body, err := c.admitted()
	if err == nil {
		encoded, encodeErr := encode(body)
		if encodeErr == nil {
			return &response{status: http.StatusOK, body: encoded}
		}
		err = encodeErr
	}
	var refusal *apiError
	if !errors.As(err, &refusal) {
		c.s.config.Logger.Error("sandbox request", "path", strings.Join(c.path, "/"), "error", err)
		refusal = typed(http.StatusInternalServerError, "SERVER_ERROR", "An unexpected error occurred")
	}
	return refusal.response()
}

func (e *apiError) response() *response {
	body, err := encode(e.body)
	if err != nil {
		body = nil
	}
	return &response{status: e.status, header: e.header, body: body}
}

// admitted checks token, route, scope and quota, and then serves the route.
func (c *call) admitted() (any, error) {
	if c.long {
		return nil, typed(c.s.options.LongURLStatus, "REQUEST_TOO_LARGE", "The request URL is too long")
	}
	if limit := c.s.options.BodyLimit; limit > 0 && len(c.body) > limit {
		return nil, typed(http.StatusRequestEntityTooLarge, "REQUEST_TOO_LARGE", "The request body is too large")
	}
	if err := c.authenticate(); err != nil {
		return nil, err
	}
	if c.route == nil {
		return nil, bareNotFound()
	}
	if err := c.authorize(); err != nil {
		return nil, err
	}
	if c.s.options.QuotaExceeded && c.path[1] != "meta" {
		return nil, c.s.overQuota()
	}
	if c.route.scope == writeSchema {
		tx := c.s.begin(c.base, c.actor(), c.now)
		tx.reshapes()
		defer tx.finish()
	}
	return c.route.serve(c)
}

func (c *call) authenticate() error {
	switch {
	case c.token == nil && c.base != nil && c.base.open:
		return nil
	case c.token == nil || c.token.state == tokenRevoked:
		return unauthenticated()
	case c.token.state == tokenForbidden:
		return forbidden()
	}
	return nil
}

// authorize wants the base and its table to exist and to be the token's; what
// is missing is not said.
func (c *call) authorize() error {
	if c.route.needs("base") {
		if c.base == nil {
			return forbidden()
		}
		if !c.may(c.route.scope) {
			return c.unseen()
		}
	}
	if c.route.needs("table") && c.table == nil {
		return c.unseen()
	}
	if c.route.needs("base") && c.role() < c.route.role {
		return notPermitted("")
	}
	return c.mayWrite()
}

// unseen refuses what the token may not see, or what is not there.
func (c *call) unseen() *apiError {
	switch {
	case c.s.options.Refusals == "hidden":
		return forbidden()
	case c.path[1] == "meta":
		return typed(http.StatusNotFound, "NOT_FOUND", "")
	case c.table == nil:
		return typed(http.StatusNotFound, "TABLE_NOT_FOUND",
			fmt.Sprintf("Could not find table %s in application %s", c.params["table"], c.base.id))
	}
	return forbidden()
}

// may says whether the request has a scope on its base. Whose owner was
// removed from it sees nothing there.
func (c *call) may(scope string) bool {
	return c.base.open || (c.token != nil && c.token.allows(c.base.id, scope) && c.role() > roleNone)
}

// actor is who the API request writes as.
func (c *call) actor() actor {
	a := actor{person: anonymous, label: "anonymous", source: "publicApi", role: c.role(), request: c.entry.ID}
	if c.token != nil {
		a.person, a.label = c.token.owner, c.token.label()
	}
	return a
}

func (c *call) reader() *reader { return c.base.reader(c.now) }
