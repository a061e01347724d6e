package deadletter

import (
	"errors"
	"fmt"
	"time"
)

// Code classifies an error for the edges that translate it (HTTP, River). The set is closed.
type Code string

// The error codes.
const (
	CodeInvalid         Code = "invalid"
	CodeUnauthenticated Code = "unauthenticated"
	CodeForbidden       Code = "forbidden"
	CodeNotFound        Code = "not_found"
	CodeConflict        Code = "conflict"
	CodeRateLimited     Code = "rate_limited"
	CodeUpstream        Code = "upstream"
	CodeUnavailable     Code = "unavailable"
	CodeInternal        Code = "internal"
)

// Codes lists every error code.
func Codes() []Code {
	return []Code{
		CodeInvalid, CodeUnauthenticated, CodeForbidden, CodeNotFound, CodeConflict,
		CodeRateLimited, CodeUpstream, CodeUnavailable, CodeInternal,
	}
}

// FieldError names one field at fault, the rule it breaks, and how to mend it.
type FieldError struct {
	Field  string
	Rule   string
	Detail string
}

// Error is the one error that carries meaning across packages. Message is safe to show to anybody;
// Err is for logs only.
type Error struct {
	Code    Code
	Problem string // stable name of the problem, such as "entry-not-pending"; empty: named by Code
	Message string
	Fields  []FieldError
	// EntryStatus and RunID say what state the entry is in, where a press was refused (mission P2).
	EntryStatus Status
	RunID       string
	RetryAfter  time.Duration
	Err         error
}

// Error gives the public message and, behind a colon, the private cause.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

// Sentence is the public message with the fields at fault, for a note to a person.
func (e *Error) Sentence() string {
	text := e.Message
	for _, f := range e.Fields {
		text += " " + f.Field + ": " + f.Detail + "."
	}
	return text
}

// Unwrap gives the private cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error with a public message.
func Errorf(code Code, problem, format string, args ...any) *Error {
	return &Error{Code: code, Problem: problem, Message: fmt.Sprintf(format, args...)}
}

// CodeOf is the code of an error; anything that is not an Error is internal.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
