package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi/internal/oapi"
)

// The longest texts that requests may carry, in characters.
const (
	maxName    = deadletter.MaxName
	maxKey     = deadletter.MaxKey
	maxVersion = 100  // versions as sent
	maxReason  = 2000 // what a person writes
	maxCursor  = 1000
	maxDetail  = 100_000 // error text of a filing
)

// faults collects everything that is wrong with a request, so that its author learns all at once.
type faults struct{ list []deadletter.FieldError }

func (f *faults) add(field, rule, detail string) {
	f.list = append(f.list, deadletter.FieldError{Field: field, Rule: rule, Detail: detail})
}

// inBody is the answer to faults of the body's members: 422; nil when there are none.
func (f *faults) inBody() error {
	if len(f.list) == 0 {
		return nil
	}
	return &refusal{status: http.StatusUnprocessableEntity, problem: "invalid-request", detail: f.sentence(), fields: f.list}
}

// inQuery is the answer to faults of query parameters: 400; nil when there are none.
func (f *faults) inQuery() error {
	if len(f.list) == 0 {
		return nil
	}
	return malformed(f.sentence(), f.list...)
}

func (f *faults) sentence() string {
	first := f.list[0].Field + " " + f.list[0].Detail
	if n := len(f.list); n > 1 {
		return fmt.Sprintf("%s (and %d more, see errors)", first, n-1)
	}
	return first
}

// text checks an optional text: its length, and that the database can hold it.
func (f *faults) text(field string, value *string, longest int) string {
	if value == nil {
		return ""
	}
	switch {
	case !utf8.ValidString(*value):
		f.add(field, "utf8", "must be UTF-8")
	case strings.ContainsRune(*value, 0):
		f.add(field, "no_nul", "must not hold the character U+0000; leave it out")
	case utf8.RuneCountInString(*value) > longest:
		f.add(field, "max_length", fmt.Sprintf("must have at most %d characters", longest))
	}
	return *value
}

// required checks a text that must be there and not blank.
func (f *faults) required(field string, value *string, longest int) string {
	if value == nil || strings.TrimSpace(*value) == "" {
		f.add(field, "required", "is required")
		return ""
	}
	return f.text(field, value, longest)
}

// instant reads an optional time; nil or empty is the zero time.
func (f *faults) instant(field string, value *string) time.Time {
	if value == nil || *value == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, *value)
	if err != nil {
		detail := "must be an RFC 3339 time with a zone, such as 2026-10-04T08:00:00Z"
		if strings.Contains(*value, " ") {
			detail += "; a plus sign in a query is written %2B"
		}
		f.add(field, "rfc3339", detail)
	}
	if err == nil && !deadletter.InRange(t) {
		f.add(field, "range", "must lie in the years 2 to 9999, in UTC")
	}
	return t.UTC()
}

// oneOf checks an optional value of a closed list; nil is the fallback.
func oneOf[T, V ~string](f *faults, field string, value *V, known []T, fallback T) T {
	if value == nil {
		return fallback
	}
	names := make([]string, len(known))
	for i, k := range known {
		if string(k) == string(*value) {
			return k
		}
		names[i] = string(k)
	}
	f.add(field, "one_of", "must be one of "+strings.Join(names, ", "))
	return fallback
}

// val is the value of an optional member; absent is the zero value.
func val[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// parameterOf names the parameter that the generated binding could not read.
func parameterOf(err error) string {
	if e, ok := errors.AsType[*oapi.InvalidParamFormatError](err); ok {
		return e.ParamName
	}
	if e, ok := errors.AsType[*oapi.TooManyValuesForParamError](err); ok {
		return e.ParamName
	}
	return "a parameter"
}

// goKind names a Go type in the words of JSON.
func goKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number in range"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// jsonKind names a JSON value as encoding/json reports it: "number 1.5" is a number.
func jsonKind(value string) string {
	kind, _, _ := strings.Cut(value, " ")
	switch kind {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "bool":
		return "true or false"
	}
	return "a " + kind
}

// values decodes an object of field values, digit for digit.
func values(raw oapi.FieldValues) (map[string]any, error) {
	if raw == nil {
		return nil, nil
	}
	out := make(map[string]any, len(raw))
	for field, value := range raw {
		decoder := json.NewDecoder(strings.NewReader(string(value)))
		decoder.UseNumber()
		var v any
		if err := decoder.Decode(&v); err != nil {
			return nil, fmt.Errorf("decode %s: %w", field, err)
		}
		out[field] = v
	}
	return out, nil
}
