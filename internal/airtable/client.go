package airtable

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	defaultBaseURL        = "https://api.airtable.com"
	defaultUserAgent      = "airtable-replay"
	defaultRequestTimeout = 20 * time.Second // mission W2
)

// ErrConfig marks every failure of a client that cannot send anything as it is
// configured: a bad BaseURL, a token that no header can carry. It classifies as
// Halt, since no single write is at fault.
var ErrConfig = errors.New("airtable client misconfigured")

// Config says where and as whom a [Client] talks. The zero value of every field
// but Token has a default.
type Config struct {
	// BaseURL is scheme, host and optional path before /v0; a trailing slash or
	// /v0 is accepted. Default https://api.airtable.com.
	BaseURL string
	// Token is the personal access token. It is sent and never printed.
	Token string `json:"-"`
	// RequestTimeout bounds one request from dialling to the last byte of the
	// answer. Default 20 s (mission W2).
	RequestTimeout time.Duration
	// HTTP replaces the client's own connection pool. Redirects are refused on
	// it as well. Default: HTTP/1.1 with keep-alive.
	HTTP *http.Client
	// UserAgent of every request. Default "airtable-replay".
	UserAgent string
	// Observe, if set, is told of every request that was tried, once, when its
	// answer is in or given up. It must be safe for concurrent use.
	Observe func(Request)
}

// Request is what [Config.Observe] hears: enough for logs and metrics, and
// nothing of any payload.
type Request struct {
	// Method is the HTTP method.
	Method string
	// Base and Table as the caller named them; Table is empty on metadata
	// routes that name none.
	Base, Table string
	// Records is the number of records written, or read by a list.
	Records int
	// Status is the HTTP status, 0 where no answer came.
	Status int
	// Duration from the start of the call to its end.
	Duration time.Duration
}

// Format prints the configuration without its token, whatever the verb.
func (c Config) Format(s fmt.State, _ rune) {
	fmt.Fprintf(s, "airtable.Config{BaseURL: %q, Token: [redacted], RequestTimeout: %s}", c.BaseURL, c.RequestTimeout)
}

// LogValue logs the configuration without its token.
func (c Config) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }

// Client talks to the Web API as one token. It is safe for concurrent use.
type Client struct {
	root      string
	authorize func(*http.Request)      // holds the token, so that printing a Client cannot
	redact    func(text string) string // takes the token out of what came back
	userAgent string
	timeout   time.Duration
	http      *http.Client
	observe   func(Request)
	broken    error
}

// New returns a client. It does not fail: a configuration with which nothing
// can be sent is reported by every call, as ErrConfig.
func New(cfg Config) *Client {
	token := strings.TrimSpace(cfg.Token)
	root, err := apiRoot(cmp.Or(cfg.BaseURL, defaultBaseURL))
	if err == nil && strings.ContainsFunc(token, func(r rune) bool { return r < ' ' || r > '~' }) {
		err = fmt.Errorf("%w: the token holds characters that no HTTP header can carry", ErrConfig)
	}
	c := &Client{
		root:      root,
		authorize: func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) },
		redact:    func(text string) string { return text },
		userAgent: cmp.Or(cfg.UserAgent, defaultUserAgent),
		timeout:   cmp.Or(cfg.RequestTimeout, defaultRequestTimeout),
		http:      &http.Client{Transport: newTransport()},
		observe:   cfg.Observe,
		broken:    err,
	}
	if token != "" {
		c.redact = func(text string) string { return strings.ReplaceAll(text, token, "[redacted]") }
	}
	if cfg.HTTP != nil {
		own := *cfg.HTTP
		c.http = &own
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.observe == nil {
		c.observe = func(Request) {}
	}
	return c
}

// CloseIdleConnections closes pooled connections that carry no request.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

func apiRoot(raw string) (string, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return "", fmt.Errorf("%w: the API URL is not an absolute http or https URL", ErrConfig)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("%w: the API URL may carry neither credentials nor query nor fragment", ErrConfig)
	}
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v0") + "/v0", nil
}

// newTransport keeps to HTTP/1.1: a request has its connection to itself, so a
// dead connection costs one request, and net/http's HTTP/2 side would resend
// what the server had refused. Idle connections go early, before servers and
// balancers in between commonly drop them.
func newTransport() *http.Transport {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment}
	if std, ok := http.DefaultTransport.(*http.Transport); ok {
		t = std.Clone()
	}
	t.ForceAttemptHTTP2 = false
	t.Protocols = new(http.Protocols)
	t.Protocols.SetHTTP1(true)
	t.MaxIdleConnsPerHost = 32
	t.IdleConnTimeout = 30 * time.Second
	return t
}
