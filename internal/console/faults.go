package console

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"airtable-replay/internal/deadletter"

	"github.com/google/uuid"
)

// The longest texts that forms and links may carry, in characters; the API has the same.
const (
	maxName   = deadletter.MaxName
	maxKey    = deadletter.MaxKey
	maxReason = 2000
	maxCursor = 1000
)

// faults collects everything that is wrong with a form or a link, so that a person learns all at once.
type faults struct{ list []deadletter.FieldError }

func (f *faults) add(field, rule, detail string) {
	f.list = append(f.list, deadletter.FieldError{Field: field, Rule: rule, Detail: detail})
}

// err is nil when nothing is wrong.
func (f *faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	err := deadletter.Errorf(deadletter.CodeInvalid, "", "This cannot be accepted as it is; nothing was changed.")
	err.Fields = f.list
	return err
}

// text checks a text's length, and that the database can hold it.
func (f *faults) text(field, value string, longest int) string {
	switch {
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		f.add(field, "utf8", "must be UTF-8 text without the character U+0000")
	case utf8.RuneCountInString(value) > longest:
		f.add(field, "max_length", fmt.Sprintf("must have at most %d characters", longest))
	}
	return value
}

// required checks a text that must not be blank.
func (f *faults) required(field, value string, longest int) string {
	if strings.TrimSpace(value) == "" {
		f.add(field, "required", "is required")
		return ""
	}
	return f.text(field, value, longest)
}

// instant reads an optional time: RFC 3339, or as an input of a page has it, in UTC.
func (f *faults) instant(field, value string) time.Time {
	if value == "" {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, value); err == nil {
			return t.UTC()
		}
	}
	f.add(field, "rfc3339", "must be a time such as 2026-10-04T08:00 (UTC) or 2026-10-04T08:00:00+02:00")
	return time.Time{}
}

// oneOf checks a value of a closed list; empty stays empty.
func oneOf[T ~string](f *faults, field, value string, known []T) T {
	if value == "" {
		return ""
	}
	names := make([]string, len(known))
	for i, k := range known {
		if string(k) == value {
			return k
		}
		names[i] = string(k)
	}
	f.add(field, "one_of", "must be one of "+strings.Join(names, ", "))
	return ""
}

// id checks an optional ID of ours.
func (f *faults) id(field, value string) string {
	if value == "" {
		return ""
	}
	u, err := uuid.Parse(value)
	if err != nil || len(value) != len(u.String()) {
		f.add(field, "id", "must be an ID, such as stands in the address of a page")
		return ""
	}
	return u.String()
}
