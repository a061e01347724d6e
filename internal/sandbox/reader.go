package sandbox

import (
	"strconv"
	"strings"
	"time"

	"airtable-replay/internal/sandbox/formula"
)

// reader renders the cells of a base at one instant.
type reader struct {
	base  *base
	now   time.Time
	depth int
}

// maxDepth bounds chains of formulas and lookups, so that a circle ends in #ERROR!.
const maxDepth = 12

func (b *base) reader(now time.Time) *reader { return &reader{base: b, now: now} }

func (rd *reader) deeper() *reader {
	next := *rd
	next.depth++
	return &next
}

// native is a cell's value in the formula language; nil when it is empty.
func (rd *reader) native(r *record, f *field) any {
	if f.kind.compute != nil {
		if rd.depth > maxDepth {
			return map[string]any{"error": "#ERROR!"}
		}
		return f.kind.compute(rd.deeper(), r, f)
	}
	v := r.cells[f.id]
	switch {
	case v == nil:
		return nil
	case f.kind.native != nil:
		return f.kind.native(rd, f, v)
	case f.kind.wire != nil:
		return f.kind.wire(rd, f, v)
	}
	return v
}

// wire is a cell as JSON, nil when it is empty and so has no key on the wire.
func (rd *reader) wire(r *record, f *field) any {
	if f.kind.compute != nil {
		return wireComputed(f, rd.native(r, f))
	}
	return rd.stored(f, r.cells[f.id])
}

// stored is a stored value as JSON.
func (rd *reader) stored(f *field, v any) any {
	if v == nil || f.kind.wire == nil {
		return v
	}
	return f.kind.wire(rd, f, v)
}

// text is a cell as a person reads it.
func (rd *reader) text(r *record, f *field) string { return displayText(rd.native(r, f)) }

func wireComputed(f *field, v any) any {
	switch v := v.(type) {
	case time.Time:
		if f.dateish {
			return v.UTC().Format(time.DateOnly)
		}
		return formatTime(v)
	case formula.Date:
		return time.Time(v).Format(time.DateOnly)
	case string:
		if v == "" {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = wireComputed(f, item)
		}
		return items
	case bool:
		if !v {
			return nil
		}
	}
	return v
}

// displayText is the text of a native value, as Airtable joins and prints it.
func displayText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		if v {
			return "checked"
		}
		return ""
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = displayText(item)
		}
		return strings.Join(parts, ", ")
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Time:
		return formatTime(v)
	case formula.Date:
		return time.Time(v).Format(time.DateOnly)
	case map[string]any:
		for _, key := range []string{"name", "email", "text", "label", "filename", "error", "specialValue", "id"} {
			if text, ok := v[key].(string); ok {
				return text
			}
		}
	}
	return ""
}
