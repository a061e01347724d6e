package httpapi_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"airtable-replay/api"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi"
	"airtable-replay/internal/store"
	"airtable-replay/internal/telemetry"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// spec is the API's description, loaded once.
var spec = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	if err != nil {
		return nil, err
	}
	return doc, doc.Validate(context.Background())
})

var routes = sync.OnceValues(func() (routers.Router, error) {
	doc, err := spec()
	if err != nil {
		return nil, err
	}
	return legacy.NewRouter(doc)
})

// bundle is one API over scripted services.
type bundle struct {
	*services
	answers *answers
	handler http.Handler
	log     *bytes.Buffer // JSON lines
}

func setup(t *testing.T, with ...func(*httpapi.Config)) *bundle {
	t.Helper()
	b := &bundle{services: newServices(), answers: &answers{kept: map[string]keptAnswer{}}, log: &bytes.Buffer{}}
	registry := prometheus.NewRegistry()
	c := httpapi.Config{
		Filing: b, Entries: b, Presses: b, Reviews: b, Payloads: b, Restores: b, Runs: b, Stuck: b, Bases: b, Writes: b, Pings: b, Tokens: tokens{}, Answers: b.answers,
		Ready:    func(context.Context) error { return b.err },
		Logger:   logger(t, b.log),
		Registry: registry, Metrics: telemetry.MetricsHandler(registry), Version: "1.2.3",
	}
	for _, change := range with {
		change(&c)
	}
	var err error
	b.handler, err = httpapi.New(c)
	require.NoError(t, err)
	return b
}

func logger(t *testing.T, w io.Writer) *slog.Logger {
	t.Helper()
	l, err := telemetry.NewLogger(w, telemetry.LogOptions{Level: "debug", Format: telemetry.FormatJSON})
	require.NoError(t, err)
	return l
}

// request is what a test sends; admin asks unless it says otherwise.
type request struct {
	method, path, body string
	token              string // "" is admin, "-" none
	header             map[string]string
}

// answer is what came back, checked against the spec.
type answer struct {
	status int
	header http.Header
	body   string
}

// call sends a request, and requires that the answer, and a request that was taken, are as the spec
// says.
func (b *bundle) call(t *testing.T, q request) answer {
	t.Helper()
	r := q.build(t)
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	a := answer{w.Code, w.Header(), w.Body.String()}
	router, err := routes()
	require.NoError(t, err)
	route, params, err := router.FindRoute(q.build(t))
	if err != nil {
		return a // a path or method that the spec does not have
	}
	input := &openapi3filter.RequestValidationInput{
		Request: q.build(t), PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true},
	}
	input.Options.ExcludeResponseBody = !strings.Contains(a.header.Get("Content-Type"), "json")
	if a.status < 300 {
		input.Request.Header.Set("Content-Type", "application/json")
		require.NoError(t, openapi3filter.ValidateRequest(t.Context(), input), "the server takes what the spec does not allow")
	}
	require.NoError(t, openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: a.status, Header: a.header, Body: io.NopCloser(strings.NewReader(a.body)), Options: input.Options,
	}), a.body)
	return a
}

func (q request) build(t *testing.T) *http.Request {
	t.Helper()
	var body io.Reader
	if q.body != "" {
		body = strings.NewReader(q.body)
	}
	r := httptest.NewRequestWithContext(t.Context(), q.method, q.path, body)
	switch q.token {
	case "-":
	case "":
		r.Header.Set("Authorization", "Bearer secret-admin")
	default:
		r.Header.Set("Authorization", "Bearer secret-"+q.token)
	}
	r.Header.Set("X-Request-Id", "test-1")
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	return r
}

// problem decodes a problem and checks that it is one.
func (a answer) problem(t *testing.T) problem {
	t.Helper()
	require.Equal(t, "application/problem+json", a.header.Get("Content-Type"), a.body)
	var p problem
	require.NoError(t, json.Unmarshal([]byte(a.body), &p))
	require.Equal(t, a.status, p.Status)
	require.Equal(t, "test-1", p.RequestID)
	return p
}

type problem struct {
	Type, Title, Detail string
	Status              int
	RequestID           string `json:"request_id"`
	EntryStatus         string `json:"entry_status"`
	RunID               string `json:"run_id"`
	Errors              []struct{ Field, Rule, Detail string }
}

// rules lists the faults of a problem as "field rule".
func (p problem) rules() []string {
	var rules []string
	for _, e := range p.Errors {
		rules = append(rules, e.Field+" "+e.Rule)
	}
	return rules
}

// tokens knows a token for each scope: its secret is "secret-" and the scope, its name the scope and
// "-token".
type tokens struct{}

func (tokens) TokenByHash(_ context.Context, hash [32]byte) (store.Token, error) {
	for _, scope := range append(httpapi.Scopes(), "none") {
		if sha256.Sum256([]byte("secret-"+scope)) == hash {
			return store.Token{ID: "id-" + scope, Name: scope + "-token", Scopes: []string{scope}}, nil
		}
	}
	return store.Token{}, deadletter.Errorf(deadletter.CodeNotFound, "", "not found")
}

// answers is a small store of idempotent answers. Like the real one it forgets what was not kept.
type answers struct {
	mu   sync.Mutex
	kept map[string]keptAnswer
	runs int // how often an operation was run
	fail error
	// again tells whether an operation that failed is run once more, as the real store does after a
	// lost race.
	again func(error) bool
}

type keptAnswer struct {
	body [32]byte
	store.Answer
}

type txKey struct{}

func (a *answers) Idempotent(ctx context.Context, tokenID string, keyHash, bodyHash [32]byte, do func(context.Context) (store.Answer, error)) (store.Answer, bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := tokenID + string(keyHash[:])
	if k, ok := a.kept[key]; ok {
		if k.body != bodyHash {
			return store.Answer{}, false, deadletter.Errorf(deadletter.CodeInvalid, "idempotency-key-reused", "used before with another request")
		}
		return k.Answer, true, nil
	}
	a.runs++
	fresh, err := do(context.WithValue(ctx, txKey{}, true))
	if err != nil && a.again != nil && a.again(err) {
		a.runs++
		fresh, err = do(context.WithValue(ctx, txKey{}, true))
	}
	if err != nil {
		return store.Answer{}, false, err
	}
	if a.fail != nil {
		return store.Answer{}, false, a.fail
	}
	fresh.Body = bytes.Clone(fresh.Body)
	a.kept[key] = keptAnswer{bodyHash, fresh}
	return fresh, false, nil
}

// brokenTokens is a store of tokens that cannot be reached.
type brokenTokens struct{}

func (brokenTokens) TokenByHash(context.Context, [32]byte) (store.Token, error) {
	return store.Token{}, errGone
}
