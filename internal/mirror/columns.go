package mirror

import (
	"encoding/json"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
)

// KeyField is the column that holds the entry's ID, by which a row is found or made. No table works
// without it.
const KeyField = "DLQ Record ID"

// The other columns that the package itself names more than once.
const (
	fieldSource      = "Source System"
	fieldPayload     = "Raw Payload"
	fieldReason      = "Reason Code"
	fieldFirst       = "First Attempt At"
	fieldStatus      = "Status"
	fieldStatusCode  = "Status Code"
	fieldAttempts    = "Attempts"
	fieldRequested   = "Replay Requested"
	fieldRequestedBy = "Replay Requested By"
	fieldNotes       = "Replay Notes"
)

// column is one column of the dead letter table (mission T1).
type column struct {
	field airtable.Field // as setup makes it
	// cell is the value for an entry: string, json.Number, time.Time, bool, or nil to empty the cell;
	// false leaves the column out of the request.
	cell func(p *pen, e deadletter.Entry) (any, bool)
}

// Columns lists the fields of the dead letter table, as they are best made (mission T4). Every one but
// [KeyField] may be missing, and texts may be selects.
func Columns() []airtable.Field {
	all := columns()
	fields := make([]airtable.Field, len(all))
	for i, c := range all {
		fields[i] = c.field
	}
	return fields
}

func columns() []column {
	return []column{
		{line(KeyField), always(func(_ *pen, e deadletter.Entry) any { return e.ID })},
		{line(fieldSource), always(func(_ *pen, e deadletter.Entry) any { return e.SourceSystem })},
		{line("Target Table"), always(func(_ *pen, e deadletter.Entry) any { return e.TargetTable })},
		{line("Target ID"), always(func(_ *pen, e deadletter.Entry) any { return e.TargetID })},
		{text(fieldPayload), always(func(_ *pen, e deadletter.Entry) any { return payloadText(e.RawPayload) })},
		{line(fieldReason), always(func(_ *pen, e deadletter.Entry) any { return string(e.ReasonCode) })},
		{text("Error Detail"), always(func(_ *pen, e deadletter.Entry) any { return e.ErrorDetail })},
		{number(fieldStatusCode), always(func(_ *pen, e deadletter.Entry) any { return positive(e.StatusCode) })},
		{number(fieldAttempts), always(func(_ *pen, e deadletter.Entry) any { return digits(e.Attempts) })},
		{choice(fieldStatus, statusWords()...), always(func(_ *pen, e deadletter.Entry) any { return statusWord(e.Status) })},
		{line("Assigned Owner"), always(func(_ *pen, e deadletter.Entry) any { return e.AssignedOwner })},
		{number("Source Updated At"), always(func(_ *pen, e deadletter.Entry) any { return sourceUpdated(e) })},
		{moment(fieldFirst), always(func(_ *pen, e deadletter.Entry) any { return e.FirstAttemptAt })},
		{checkbox(fieldRequested), func(p *pen, _ deadletter.Entry) (any, bool) { return false, p.clear }},
		{line(fieldRequestedBy), replayed(func(_ *pen, r deadletter.Replay) any { return r.RequestedBy })},
		{choice("Replay Outcome", outcomeWords()...), replayed(func(_ *pen, r deadletter.Replay) any { return outcomeWord(r.Outcome) })},
		{text("Fields Replayed"), replayed(func(p *pen, r deadletter.Replay) any { return p.object(r.FieldsReplayed) })},
		{text("Fields Skipped"), replayed(func(p *pen, r deadletter.Replay) any { return p.skips(r.FieldsSkipped) })},
		{text("Values Before"), replayed(func(p *pen, r deadletter.Replay) any { return p.object(r.ValuesBefore) })},
		{text(fieldNotes), func(_ *pen, e deadletter.Entry) (any, bool) { return notes(e) }},
		{line("Replayed By"), replayed(func(_ *pen, r deadletter.Replay) any { return r.ReplayedBy })},
		{moment("Replayed At"), replayed(func(_ *pen, r deadletter.Replay) any { return r.ReplayedAt })},
	}
}

func always(value func(*pen, deadletter.Entry) any) func(*pen, deadletter.Entry) (any, bool) {
	return func(p *pen, e deadletter.Entry) (any, bool) { return value(p, e), true }
}

// replayed is for columns of which there is nothing to say before the first press: until then they
// may hold what an automation, or whoever refused a press, wrote there.
func replayed(value func(*pen, deadletter.Replay) any) func(*pen, deadletter.Entry) (any, bool) {
	return func(p *pen, e deadletter.Entry) (any, bool) {
		if e.Replay == nil {
			return nil, false
		}
		return value(p, *e.Replay), true
	}
}

// sourceUpdated is the sender's version: an instant, or the number that it is.
func sourceUpdated(e deadletter.Entry) any {
	if !e.SourceUpdatedAt.IsZero() {
		return e.SourceUpdatedAt
	}
	v, err := deadletter.ParseVersion(deadletter.VersionSpec{Kind: deadletter.VersionNumber}, e.SourceVersion, "")
	if err != nil {
		return nil
	}
	return v.Cell()
}

func line(name string) airtable.Field { return airtable.Field{Name: name, Type: "singleLineText"} }

func text(name string) airtable.Field { return airtable.Field{Name: name, Type: "multilineText"} }

func number(name string) airtable.Field {
	return airtable.Field{Name: name, Type: "number", Options: airtable.FieldOptions{Precision: new(int)}}
}

func checkbox(name string) airtable.Field {
	return airtable.Field{Name: name, Type: "checkbox", Options: airtable.FieldOptions{Icon: "check", Color: "greenBright"}}
}

func choice(name string, options ...string) airtable.Field {
	f := airtable.Field{Name: name, Type: "singleSelect"}
	for _, o := range options {
		f.Options.Choices = append(f.Options.Choices, airtable.Choice{Name: o})
	}
	return f
}

func moment(name string) airtable.Field {
	return airtable.Field{Name: name, Type: "dateTime", Options: airtable.FieldOptions{
		DateFormat: &airtable.Format{Name: "iso", Format: "YYYY-MM-DD"}, TimeFormat: &airtable.Format{Name: "24hour", Format: "HH:mm"}, TimeZone: "utc",
	}}
}

// positive is a number of which 0 says that there is none.
func positive(n int) any {
	if n == 0 {
		return nil
	}
	return digits(n)
}

func isBlank(v any) bool {
	switch v := v.(type) {
	case string:
		return v == ""
	case time.Time:
		return v.IsZero()
	case json.Number:
		return v == ""
	}
	return v == nil
}
