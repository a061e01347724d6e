package airtable

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Error types of the Web API that callers act on. The wire knows more.
const (
	TypeUnknownFieldName    = "UNKNOWN_FIELD_NAME"
	TypeInvalidValue        = "INVALID_VALUE_FOR_COLUMN"
	TypeInvalidOption       = "INVALID_MULTIPLE_CHOICE_OPTIONS"
	TypeInvalidFormula      = "INVALID_FILTER_BY_FORMULA"
	TypeInvalidRecords      = "INVALID_RECORDS"
	TypeRowDoesNotExist     = "ROW_DOES_NOT_EXIST"
	TypeModelIDNotFound     = "MODEL_ID_NOT_FOUND"
	TypeTableNotFound       = "TABLE_NOT_FOUND"
	TypeCursorExpired       = "LIST_RECORDS_ITERATOR_NOT_AVAILABLE"
	TypeInvalidCursor       = "INVALID_OFFSET_VALUE"
	TypeRateLimit           = "RATE_LIMIT_REACHED"
	TypeQuota               = "PUBLIC_API_BILLING_LIMIT_EXCEEDED"
	TypePermissionsOrModel  = "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND"
	TypeUnsupportedForField = "UNSUPPORTED_FIELD_TYPE_FOR_CREATE"
)

// ErrInvalidRequest marks a request that this package refused to send. It
// classifies as Permanent; the Message names the field, the rule and the fix.
var ErrInvalidRequest = errors.New("invalid request")

// maxWait caps a server's Retry-After: longer would be a pause that nobody
// chose (design R1).
const maxWait = 2 * time.Minute

// Error is every failure of a [Client]: an answer that is not a success, an
// answer that could not be read, no answer at all, or a request not sent.
type Error struct {
	// Op is what was tried: "write records".
	Op string
	// Status is the HTTP status, 0 where no answer came.
	Status int
	// Type and Message are Airtable's own; either may be empty.
	Type, Message string
	// RetryAfter is the server's wish, parsed from seconds or a date; 0: none.
	RetryAfter time.Duration
	// Body is the first 4 KiB of the answer, marked where cut, the token taken out.
	Body string
	// Fate says whether the request may have been applied.
	Fate Fate
	// LinkedID is a record ID that Airtable misses and that the request did not
	// address: a stale link in a cell, not the record itself.
	LinkedID string
	// Err is the cause where it is not the answer itself.
	Err error
}

// Error names the operation and the [Error.Reason].
func (e *Error) Error() string {
	if e.Op == "" {
		return "airtable: " + e.Reason()
	}
	return "airtable: " + e.Op + ": " + e.Reason()
}

// Unwrap returns the cause, if there is one beside the answer.
func (e *Error) Unwrap() error { return e.Err }

// Reason is a sentence for people: Airtable's type and message where it gave
// them, and never nothing (cases B50, B52).
func (e *Error) Reason() string {
	switch {
	case errors.Is(e.Err, ErrConfig):
		return e.Err.Error()
	case errors.Is(e.Err, ErrInvalidRequest):
		return e.Message
	case e.Status == 0 && e.Fate == FateUnsent:
		return fmt.Sprintf("not sent: %v", e.Err)
	case e.Status == 0:
		return fmt.Sprintf("no answer: %v", e.Err)
	case e.Status/100 == 2:
		return fmt.Sprintf("%v (HTTP %d)", e.Err, e.Status)
	case e.Type != "" && e.Message != "":
		return fmt.Sprintf("%s: %s (HTTP %d)", e.Type, e.Message, e.Status)
	case e.Type != "" || e.Message != "":
		return fmt.Sprintf("%s%s (HTTP %d)", e.Type, e.Message, e.Status)
	}
	return e.withoutDetails()
}

func (e *Error) withoutDetails() string {
	text := fmt.Sprintf("no details given (HTTP %d)", e.Status)
	if page := strings.Join(strings.Fields(e.Body), " "); page != "" && !strings.HasPrefix(page, "{") {
		return text + ": " + clean(page, 200)
	}
	return text
}

// RetryAfterCapped is RetryAfter, at most two minutes.
func (e *Error) RetryAfterCapped() time.Duration { return min(e.RetryAfter, maxWait) }

// IsRateLimit reports a 429 that passes by waiting.
func (e *Error) IsRateLimit() bool { return e.Status == http.StatusTooManyRequests && !e.IsQuota() }

// IsQuota reports the used-up monthly quota, which no waiting mends.
func (e *Error) IsQuota() bool { return e.Type == TypeQuota }

// IsExpiredCursor reports that a listing has to start again from its first page.
func (e *Error) IsExpiredCursor() bool {
	return e.Status == http.StatusUnprocessableEntity && (e.Type == TypeCursorExpired || e.Type == TypeInvalidCursor)
}

// IsRecordGone reports that a record which the request addressed does not exist
// any more (case B64). The 404 of a wrong URL and a stale ID inside a link
// cell are not that.
func (e *Error) IsRecordGone() bool {
	switch {
	case e.Status == http.StatusUnprocessableEntity:
		return e.Type == TypeRowDoesNotExist && e.LinkedID == ""
	case e.Status == http.StatusNotFound:
		return e.Type == TypeModelIDNotFound && (e.Message == "" || strings.Contains(e.Message, "Record"))
	}
	return false
}

// IsComputedField reports a write to a field that Airtable computes itself.
func (e *Error) IsComputedField() bool {
	return e.Type == TypeInvalidValue && strings.Contains(e.Message, "computed")
}

// IsUnknownField reports that the table has no field of a name we used, in a
// request or in its formula: renamed or deleted (missions C4, W7).
func (e *Error) IsUnknownField() bool {
	return e.Type == TypeUnknownFieldName ||
		e.Type == TypeInvalidFormula && strings.Contains(strings.ToLower(e.Message), "unknown field name")
}

var recordID = regexp.MustCompile(`\brec[0-9A-Za-z]{14}\b`)

// foreignRecord returns the missing record's ID where the request addressed
// others, and "" where it addressed this one or the message names none.
func foreignRecord(e *Error, addressed []string) string {
	if e.Type != TypeRowDoesNotExist {
		return ""
	}
	missing := recordID.FindString(e.Message)
	if slices.Contains(addressed, missing) {
		return ""
	}
	return missing
}
