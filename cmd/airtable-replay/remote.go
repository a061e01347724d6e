package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"airtable-replay/api/client"

	"github.com/google/uuid"
)

// answerPatience is how long the service may take before it begins to answer: a preview waits for its
// turn at Airtable.
const answerPatience = 2 * time.Minute

// remote is a command that asks the service.
type remote struct {
	URL   string `env:"AIRTABLE_REPLAY_URL" default:"http://127.0.0.1:8080" placeholder:"URL" help:"Address of the service (default ${default})."`
	Token string `env:"AIRTABLE_REPLAY_TOKEN" placeholder:"TOKEN" help:"API token; other users of this machine can read a flag, so prefer the environment."`
	JSON  bool   `name:"json" help:"Print the service's answer as it is."`
}

// Validate refuses what could never be asked.
func (c *remote) Validate() error {
	var errs []error
	switch u, err := url.Parse(c.URL); {
	case bareAddress(c.URL):
		errs = append(errs, fmt.Errorf("--url: %q lacks the beginning: say http://%s, or https://%s", c.URL, c.URL, c.URL))
	case err != nil:
		errs = append(errs, errors.New("--url: is no address such as https://replay.example")) // it may hold a password
	case u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		errs = append(errs, fmt.Errorf("--url: %q is no address such as https://replay.example", u.Redacted()))
	}
	switch {
	case c.Token == "":
		errs = append(errs, errors.New("no API token is named: set AIRTABLE_REPLAY_TOKEN (airtable-replay token create makes one)"))
	case strings.ContainsFunc(c.Token, func(r rune) bool { return r <= ' ' || r > '~' }):
		errs = append(errs, errors.New("AIRTABLE_REPLAY_TOKEN holds blanks or characters that no token has"))
	}
	return errors.Join(errs...)
}

// bareAddress tells a host and port without the scheme.
func bareAddress(address string) bool {
	host, port, err := net.SplitHostPort(address)
	_, badPort := strconv.ParseUint(port, 10, 16)
	return err == nil && badPort == nil && host != "" && !strings.ContainsAny(host, "@/")
}

// dial makes the client.
func (c *remote) dial() (*client.ClientWithResponses, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: answerPatience}
	api, err := client.NewClientWithResponses(strings.TrimRight(c.URL, "/"), client.WithHTTPClient(&http.Client{Transport: transport}),
		client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+c.Token)
			r.Header.Set("User-Agent", "airtable-replay/"+version())
			return nil
		}))
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	return api, nil
}

// answer is what the service said, decoded and as it came.
type answer[T any] struct {
	value  T
	raw    []byte
	status int
}

// reply is an answer of the service as the generated client gives it.
type reply interface {
	GetBody() []byte
	Status() string
	StatusCode() int
	ContentType() string
}

// ask reads an answer of the service. A problem becomes an error that says it in plain words.
func ask[T any](r reply, err error) (answer[T], error) {
	if err != nil {
		return answer[T]{}, unreachable(err)
	}
	if r.StatusCode()/100 != 2 {
		return answer[T]{}, refusalOf(r.Status(), r.ContentType(), r.GetBody())
	}
	a := answer[T]{raw: r.GetBody(), status: r.StatusCode()}
	if err := json.Unmarshal(a.raw, &a.value); err != nil {
		return answer[T]{}, stranger(r.Status())
	}
	return a, nil
}

// create asks for something to be made. Where the answer is lost it is asked for again under the same
// key, so that nothing is made twice and nobody has to wonder.
func create[T any](p *process, send func(key *client.IdempotencyKey) (reply, error)) (answer[T], error) {
	key := uuid.NewString()
	for tries := 1; ; tries++ {
		a, err := ask[T](send(&key))
		if lost, ok := errors.AsType[*lostError](err); !ok || lost.unsent() || tries == createTries || waitFor(p.ctx, followAgain) != nil {
			return a, err
		}
	}
}

// createTries is how often something is asked for whose answers are lost.
const createTries = 3

// lostError says that no answer came, in one sentence that says what to check.
type lostError struct {
	at    string
	cause error
}

func unreachable(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; the service goes on with what it has accepted")
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("what answers there is not airtable-replay: %w: check AIRTABLE_REPLAY_URL", err)
	}
	lost := &lostError{at: "the service", cause: err}
	if u, ok := errors.AsType[*url.Error](err); ok {
		lost.cause = u.Err
		if address, err := url.Parse(u.URL); err == nil {
			lost.at = "the service at " + address.Scheme + "://" + address.Host
		}
	}
	return lost
}

// Error implements error.
func (e *lostError) Error() string {
	return fmt.Sprintf("%s does not answer: %v: check AIRTABLE_REPLAY_URL, and that airtable-replay serve runs there", e.at, e.cause)
}

// unsent tells that no connection was made.
func (e *lostError) unsent() bool {
	dial, ok := errors.AsType[*net.OpError](e.cause)
	return ok && dial.Op == "dial"
}

// stranger is for answers that are not of the service.
func stranger(status string) error {
	return fmt.Errorf("what answers there (%s) is not airtable-replay: check AIRTABLE_REPLAY_URL", status)
}

// problemError is a refusal of the service.
type problemError struct{ client.Problem }

func refusalOf(status, contentType string, body []byte) error {
	kind, _, _ := mime.ParseMediaType(contentType)
	var p client.Problem
	if kind != "application/problem+json" || json.Unmarshal(body, &p) != nil {
		return stranger(status)
	}
	return &problemError{p}
}

// Error says the problem in plain words: its title, the detail, and each field at fault.
func (e *problemError) Error() string {
	lines := []string{e.Title + ": " + e.Detail}
	if len(e.Errors) > 1 && strings.HasPrefix(e.Detail, e.Errors[0].Field+" "+e.Errors[0].Detail) {
		lines[0] = e.Title + ":" // the detail is the first of the errors
	}
	for _, f := range e.Errors {
		if e.Detail != f.Field+" "+f.Detail { // else it is said already
			lines = append(lines, flagOf(f.Field)+": "+f.Detail)
			continue
		}
		lines[0] = e.Title + ": " + flagOf(f.Field) + " " + f.Detail
	}
	if e.EntryStatus != nil {
		line := "the entry is " + plain(string(*e.EntryStatus))
		if e.RunID != nil && *e.RunID != "" {
			line += "; see airtable-replay runs show " + *e.RunID
		}
		lines = append(lines, line)
	}
	switch e.Status {
	case http.StatusUnauthorized:
		lines = append(lines, "check AIRTABLE_REPLAY_TOKEN")
	case http.StatusInternalServerError:
		lines = append(lines, "request "+e.RequestID)
	}
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

// flagOf is the flag behind a field of the API, where people could not guess it.
func flagOf(field string) string {
	switch strings.TrimPrefix(field, "selector.") {
	case "first_attempt_from":
		return "--from"
	case "first_attempt_to":
		return "--to"
	case "first_attempt_at":
		return "--first-attempt"
	}
	return field
}

// astray adds to a refusal how an entry is found by the sender's ID, when such an ID was given for the
// entry's own.
func astray(err error, id string) error {
	refusal, ok := errors.AsType[*problemError](err)
	if !ok || refusal.Status != http.StatusNotFound || uuid.Validate(id) == nil || strings.HasPrefix(id, "rec") {
		return err
	}
	if strings.ContainsFunc(id, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_' && r != '.'
	}) {
		id = "ID" // a shell could take it for something else
	}
	return fmt.Errorf("%w\nan entry is named by its own ID; airtable-replay entries list --target-id %s finds it by the record's", err, id)
}

// misused tells whether the request itself was at fault, as opposed to what it is about.
func (e *problemError) misused() bool {
	return strings.HasSuffix(e.Type, "/malformed-request") || strings.HasSuffix(e.Type, "/invalid-request")
}

// show prints an answer: as it came, or for people.
func (c *remote) show(p *process, raw []byte, people func() string) error {
	if c.JSON {
		return p.print(harmless(raw) + "\n")
	}
	return p.print(people())
}

// harmless escapes within JSON what a terminal would act upon: it stays the same JSON. Such characters
// stand in strings alone, since JSON has no other place for them.
func harmless(raw []byte) string {
	var b strings.Builder
	for _, r := range strings.TrimRight(string(raw), "\n") {
		if hostile(r) && r != '\n' && r != '\t' {
			b.WriteString(escaped(r))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plain is a code in words: "pending_review" is "pending review".
func plain(code string) string { return strings.ReplaceAll(code, "_", " ") }

// orNone is the value behind a pointer, empty where there is none.
func orNone[T any](p *T) (value T) {
	if p == nil {
		return value
	}
	return *p
}

// given is a pointer to a value that was given, nil for an empty one.
func given[T comparable](value T) *T {
	var none T
	if value == none {
		return nil
	}
	return &value
}

// clock is an instant for people, in UTC.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// minute is an instant for people in a list, in UTC.
func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04Z") }
