package mirror

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
)

const (
	// cellLimit is the longest text sent, in UTF-16 units: below Airtable's 100,000, with room for the
	// line end that rich text adds.
	cellLimit = 99_900
	// smallCell is for a row whose request was refused as too large even alone.
	smallCell = 9_000
)

// pen writes the cells of one entry for a table as it is.
type pen struct {
	layout *layout
	entry  deadletter.Entry
	clear  bool // untick Replay Requested
	limit  int
	link   string // where the whole is to be seen
	at     string // the column being written
	faults []string
}

// cells are the entry's cells for the columns that the table has and can hold them; faults tell of the
// others.
func (p *pen) cells() airtable.Fields {
	out := airtable.Fields{}
	for _, c := range columns() {
		field, ok := p.layout.fields[c.field.Name]
		if !ok {
			continue
		}
		p.at = c.field.Name
		value, say := c.cell(p, p.entry)
		if !say {
			continue
		}
		cell, fault := p.fit(field, value)
		if fault != "" {
			p.problem(fault)
			continue
		}
		out[c.field.Name] = cell
	}
	return out
}

func (p *pen) problem(text string) {
	p.faults = append(p.faults, fmt.Sprintf("field %q %s", p.at, text))
}

// fit is a value as a field of that type takes it, or why it does not.
func (p *pen) fit(f airtable.Field, v any) (cell any, fault string) {
	if isBlank(v) {
		return nil, ""
	}
	kind := pipeline.KindOf(f)
	if on, ok := v.(bool); ok {
		if kind != deadletter.KindCheckbox {
			return nil, "has type " + f.Type + ": make it a checkbox"
		}
		return on, ""
	}
	switch kind {
	case deadletter.KindText, deadletter.KindLongText, deadletter.KindRichText:
		return p.cut(inWords(v)), ""
	case deadletter.KindSelect:
		return fitOption(f, inWords(v))
	case deadletter.KindNumber:
		return fitNumber(v)
	case deadletter.KindDateTime, deadletter.KindDate:
		return fitMoment(f, v)
	default:
		return nil, "has type " + f.Type + ", which cannot hold it"
	}
}

func inWords(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case time.Time:
		return isoTime(v)
	}
	return fmt.Sprint(v)
}

// isoTime has milliseconds, as Airtable writes them.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func fitOption(f airtable.Field, word string) (any, string) {
	has := func(c airtable.Choice) bool { return c.Name == word }
	if slices.ContainsFunc(f.Options.Choices, has) {
		return word, ""
	}
	return nil, fmt.Sprintf("has no option %q: add that option to the field, or make it a text field", word)
}

// fitNumber refuses what a cell would round: a number cell is a double (case B20).
func fitNumber(v any) (any, string) {
	switch v := v.(type) {
	case time.Time:
		return json.Number(strconv.FormatInt(v.UnixMilli(), 10)), ""
	case json.Number:
		double, err := v.Float64()
		if err == nil && strconv.FormatFloat(double, 'f', -1, 64) == v.String() {
			return v, ""
		}
		return nil, "is a number field, which would round numbers of more than 15 digits: make it a text field"
	}
	return nil, "is a number field: make it a text field"
}

func fitMoment(f airtable.Field, v any) (any, string) {
	at, ok := v.(time.Time)
	switch {
	case !ok:
		return nil, "is a " + f.Type + " field, and the value is no time: make it a number or text field"
	case f.Type == "date":
		return at.UTC().Format(time.DateOnly), ""
	}
	return isoTime(at), ""
}

// cut shortens a text that a cell cannot hold, and says so in it.
func (p *pen) cut(text string) string {
	all := utf16Len(text)
	if all <= p.limit {
		return text
	}
	mark := fmt.Sprintf("%s%d characters in all; the whole is in the console%s]", cutMark, all, p.link)
	room := p.limit - utf16Len(mark)
	units := 0
	for at, r := range text {
		if units += runeUnits(r); units > room {
			return text[:at] + mark
		}
	}
	return text
}

// utf16Len counts as Airtable counts a cell's characters.
func utf16Len(text string) (units int) {
	for _, r := range text {
		units += runeUnits(r)
	}
	return units
}

func runeUnits(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}
