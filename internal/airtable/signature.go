package airtable

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// fieldPatterns find a field's name in the messages that carry one. Names are
// matched greedily, since they may hold quotes themselves.
var fieldPatterns = []*regexp.Regexp{
	regexp.MustCompile(`(?s)Unknown field name: "(.*)"`),
	regexp.MustCompile(`(?s)^Field "(.*)" cannot accept `),
	regexp.MustCompile(`(?s)Unknown field names?: (.*)$`),
	regexp.MustCompile(`(?s)^Cannot parse value .* for field (.*)$`),
	regexp.MustCompile(`(?s) in field (.*) \(fld[0-9A-Za-z]{14}\)`),
}

// FieldName is the field that the message names, "" if it names none. Messages
// about formulas give names in lower case, several of them joined by ", ".
func (e *Error) FieldName() string {
	for _, p := range fieldPatterns {
		if m := p.FindStringSubmatch(e.Message); m != nil {
			return m[1]
		}
	}
	return ""
}

var (
	quoted   = regexp.MustCompile(`""[^"]*""|"[^"]*"|'[^']*'|“[^”]*”`)
	objectID = regexp.MustCompile(`\b(?:app|tbl|fld|viw|rec|usr|sel|att|ach|com)[0-9A-Za-z]{14}\b`)
)

// Signature tells failures of one kind from others, for counting identical ones
// (mission W7): status, type and field. Where no type was given the message
// stands in, without the IDs and quoted values that differ from record to record.
func (e *Error) Signature() string {
	switch {
	case errors.Is(e.Err, ErrInvalidRequest):
		return "invalid request"
	case e.Status == 0:
		return "no answer"
	}
	parts := []string{strconv.Itoa(e.Status)}
	switch {
	case e.Type != "":
		parts = append(parts, e.Type)
	case e.Message != "":
		plain := objectID.ReplaceAllString(quoted.ReplaceAllString(e.Message, `"…"`), "…")
		parts = append(parts, plain)
	}
	if field := e.FieldName(); field != "" {
		parts = append(parts, "field="+field)
	}
	return strings.Join(parts, " ")
}
