package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi/internal/oapi"
	"airtable-replay/internal/telemetry"
)

// statusClientGone stands in logs and metrics for requests whose caller hung up before the answer.
const statusClientGone = 499

// refusal is an error that says itself how it is answered: faults of HTTP, of which the services know
// nothing, and every other error once describe has translated it.
type refusal struct {
	status      int
	problem     string // the last segment of the problem's type
	detail      string
	fields      []deadletter.FieldError
	entryStatus deadletter.Status
	runID       string
	retryAfter  time.Duration
	challenge   string // WWW-Authenticate
	cause       error  // for the log alone
}

// Error gives the public detail.
func (r *refusal) Error() string { return r.detail }

func malformed(detail string, fields ...deadletter.FieldError) *refusal {
	return &refusal{status: http.StatusBadRequest, problem: "malformed-request", detail: detail, fields: fields}
}

// describe translates every error into its answer. Only a deadletter.Error speaks to the caller;
// anything else, and whatever is internal, is told by the request's ID alone.
func describe(ctx context.Context, err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return &refusal{status: statusClientGone, problem: "client-closed-request", detail: "the caller hung up"}
	}
	status, problem := statusOf(deadletter.CodeOf(err))
	e, ok := errors.AsType[*deadletter.Error](err)
	if !ok || status == http.StatusInternalServerError {
		return &refusal{
			status: http.StatusInternalServerError, problem: problem, cause: err,
			detail: "Something went wrong on our side. Quote the request ID " + telemetry.RequestID(ctx) + " when you report it.",
		}
	}
	if e.Problem != "" {
		problem = e.Problem
	}
	return &refusal{
		status: status, problem: problem, detail: e.Message, fields: e.Fields,
		entryStatus: e.EntryStatus, runID: e.RunID, retryAfter: e.RetryAfter, cause: err,
	}
}

// statusOf is the HTTP status of a code, and the problem's name where the error names none.
func statusOf(code deadletter.Code) (int, string) {
	switch code {
	case deadletter.CodeInvalid:
		return http.StatusUnprocessableEntity, "invalid-request"
	case deadletter.CodeUnauthenticated:
		return http.StatusUnauthorized, "unauthenticated"
	case deadletter.CodeForbidden:
		return http.StatusForbidden, "forbidden"
	case deadletter.CodeNotFound:
		return http.StatusNotFound, "not-found"
	case deadletter.CodeConflict:
		return http.StatusConflict, "conflict"
	case deadletter.CodeRateLimited:
		return http.StatusTooManyRequests, "rate-limited"
	case deadletter.CodeUpstream:
		return http.StatusBadGateway, "upstream"
	case deadletter.CodeUnavailable:
		return http.StatusServiceUnavailable, "unavailable"
	case deadletter.CodeInternal:
		return http.StatusInternalServerError, "internal"
	}
	return http.StatusInternalServerError, "internal"
}

// refuse answers with an error.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := describe(r.Context(), err)
	x := exchangeOf(r.Context())
	x.problem = p.problem
	if p.status >= http.StatusInternalServerError {
		x.err = p.cause
	}
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(p.json(telemetry.RequestID(r.Context()))); err != nil {
		panic(err) // strings and numbers always encode
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	if p.challenge != "" {
		h.Set("WWW-Authenticate", p.challenge)
	}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.retryAfter.Seconds()))))
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(body.Bytes()) // the caller may be gone; there is nobody to tell
}

func (r *refusal) json(requestID string) oapi.Problem {
	p := oapi.Problem{
		Type: "/problems/" + r.problem, Title: titleOf(r.problem), Status: r.status,
		Detail: r.detail, RequestID: requestID, Errors: fieldErrors(r.fields),
	}
	if r.entryStatus != "" {
		p.EntryStatus = new(oapi.Status(r.entryStatus))
	}
	if r.runID != "" {
		p.RunID = new(r.runID)
	}
	return p
}

// titleOf makes the constant title of a problem from its name: "entry-not-pending" is "Entry not pending".
func titleOf(problem string) string {
	words := strings.ReplaceAll(problem, "-", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

func fieldErrors(fs []deadletter.FieldError) []oapi.FieldError {
	out := make([]oapi.FieldError, len(fs))
	for i, f := range fs {
		out[i] = oapi.FieldError{Field: f.Field, Rule: f.Rule, Detail: f.Detail}
	}
	return out
}
