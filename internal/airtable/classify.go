package airtable

import (
	"errors"
	"net/http"
	"regexp"
	"strings"
)

// Fate is what is known about whether a request was applied.
type Fate int

const (
	// FateRefused: a definite 4xx answer; nothing was applied.
	FateRefused Fate = iota + 1
	// FateUnsent: the complete request never left the machine (a failed dial,
	// lookup or handshake, a context cancelled before sending, a connection
	// that broke before the end of the body); nothing was applied.
	FateUnsent
	// FateUnknown: sent, and no definite answer (5xx, 408, 425, 3xx, a timeout,
	// a reset, an answer cut or unreadable); it may have been applied.
	FateUnknown
)

// String names the fate for logs.
func (f Fate) String() string {
	switch f {
	case FateRefused:
		return "refused"
	case FateUnsent:
		return "unsent"
	case FateUnknown:
		return "unknown"
	}
	return "none"
}

// Class is what to do about an answer (mission W1).
type Class int

const (
	// Done: success.
	Done Class = iota
	// Wait: 429; the whole base pauses (mission W3).
	Wait
	// Retry: 5xx, 408, 425, no answer or one that is not Airtable's.
	Retry
	// Halt: 401, 403, an authentication-shaped 400, the used-up monthly quota,
	// a client that is misconfigured; the base stops (mission W7).
	Halt
	// Permanent: every other 4xx, and requests refused before sending; a dead letter.
	Permanent
)

// String names the class for logs and metrics.
func (c Class) String() string {
	switch c {
	case Done:
		return "done"
	case Wait:
		return "wait"
	case Retry:
		return "retry"
	case Halt:
		return "halt"
	case Permanent:
		return "permanent"
	}
	return "none"
}

// Classify says what to do about the outcome of a request. Errors that are not
// an [Error] are Retry: nothing is known about them.
func Classify(err error) Class {
	if err == nil {
		return Done
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return Retry
	}
	switch {
	case errors.Is(e, ErrConfig), e.IsQuota(), e.refusesCaller():
		return Halt
	case errors.Is(e, ErrInvalidRequest):
		return Permanent
	case e.Status == http.StatusTooManyRequests:
		return Wait
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusTooEarly:
		return Retry
	case e.Status/100 == 4:
		return Permanent
	}
	return Retry
}

// fateOf judges an answer that is not 2xx by its status. A redirect and the two
// retriable 4xx come from something in between that may have passed the
// request on.
func fateOf(status int) Fate {
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return FateUnknown
	case status/100 == 4:
		return FateRefused
	}
	return FateUnknown
}

var authMessage = regexp.MustCompile(`(?i)\bauthentication\b|\b(invalid|expired|missing|revoked)\b.*\b(token|api key|credentials)\b`)

// refusesCaller reports an answer about who asks rather than about what was
// asked. A 422 never is: "Insufficient permissions to create new select
// option" is about one payload.
func (e *Error) refusesCaller() bool {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return true
	case http.StatusBadRequest:
		return authType(e.Type) || authMessage.MatchString(e.Message)
	}
	return false
}

func authType(t string) bool {
	t = strings.ToUpper(t)
	for _, part := range []string{"AUTHENTICATION", "AUTHORIZ", "INVALID_PERMISSIONS", "API_KEY", "INVALID_TOKEN", "EXPIRED_TOKEN", "INVALID_GRANT"} {
		if strings.Contains(t, part) {
			return true
		}
	}
	return false
}
