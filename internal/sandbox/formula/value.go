package formula

import (
	"math"
	"strconv"
	"strings"
	"time"
)

type kind int

const (
	kindBlank kind = iota
	kindText
	kindNumber
	kindBool
	kindTime
	kindList
	kindObject
	kindError
)

// Value is the result of a formula. The zero Value is blank.
type Value struct {
	kind     kind
	text     string
	number   float64
	time     time.Time
	dateOnly bool
	list     []Value
	object   map[string]any
}

// Date is a calendar date without a time of day. An [Env] may return it for date-only fields, so that the text of
// the cell is "2026-01-02" and not a full timestamp.
type Date time.Time

func textValue(s string) Value      { return Value{kind: kindText, text: s} }
func numberValue(n float64) Value   { return Value{kind: kindNumber, number: n} }
func timeValue(t time.Time) Value   { return calendarValue(t, false) }
func dateValue(t time.Time) Value   { return calendarValue(t, true) }
func listValue(items []Value) Value { return Value{kind: kindList, list: items} }
func errorValue() Value             { return Value{kind: kindError} }

func boolValue(b bool) Value {
	if b {
		return Value{kind: kindBool, number: 1}
	}
	return Value{kind: kindBool}
}

// calendarValue is #ERROR! outside the years 1 to 9999, which have no JSON form.
func calendarValue(t time.Time, dateOnly bool) Value {
	if year := t.UTC().Year(); year < 1 || year > 9999 {
		return errorValue()
	}
	return Value{kind: kindTime, time: t, dateOnly: dateOnly}
}

// maxCellDepth bounds lists within lists in a cell; Airtable has at most lookups of lists.
const maxCellDepth = 8

// cellValue turns a cell as the Env gives it into a Value. A type it does not know is #ERROR!.
func cellValue(cell any, depth int) Value {
	switch v := cell.(type) {
	case nil:
		return Value{}
	case string:
		return textValue(v)
	case float64:
		return numberValue(v)
	case int:
		return numberValue(float64(v))
	case int64:
		return numberValue(float64(v))
	case bool:
		return boolValue(v)
	case time.Time:
		return timeValue(v)
	case Date:
		return dateValue(time.Time(v))
	case map[string]any:
		return objectValue(v)
	case []any:
		return cellList(v, depth)
	}
	return errorValue()
}

func cellList(cells []any, depth int) Value {
	if depth >= maxCellDepth {
		return errorValue()
	}
	items := make([]Value, len(cells))
	for i, cell := range cells {
		items[i] = cellValue(cell, depth+1)
	}
	return listValue(items)
}

// objectValue reads the cells Airtable writes as objects; an error or special value of another formula stays one.
func objectValue(cell map[string]any) Value {
	if _, failed := cell["error"].(string); failed {
		return errorValue()
	}
	switch cell["specialValue"] {
	case "NaN":
		return numberValue(math.NaN())
	case "Infinity":
		return numberValue(math.Inf(1))
	case "-Infinity":
		return numberValue(math.Inf(-1))
	}
	return Value{kind: kindObject, object: cell}
}

// Truthy says whether a filter keeps the record: everything but 0, false, "", NaN, [], blank and #ERROR!.
func (v Value) Truthy() bool {
	switch v.kind {
	case kindText:
		return v.text != ""
	case kindNumber, kindBool:
		return v.number != 0 && !math.IsNaN(v.number)
	case kindList:
		return len(v.list) > 0
	case kindTime, kindObject:
		return true
	default:
		return false
	}
}

// IsError says whether the value is #ERROR!.
func (v Value) IsError() bool { return v.kind == kindError }

// Any returns the value as a formula cell holds it: nil, string, float64, bool, [time.Time] or []any. Those JSON has no
// number for take Airtable's form: {"error":"#ERROR!"} and {"specialValue":"NaN"}.
func (v Value) Any() any {
	switch v.kind {
	case kindText:
		return v.text
	case kindNumber:
		if math.IsNaN(v.number) || math.IsInf(v.number, 0) {
			return map[string]any{"specialValue": numberText(v.number)}
		}
		return v.number
	case kindBool:
		return v.number != 0
	case kindTime:
		return v.time.UTC()
	case kindObject:
		return v.object
	case kindError:
		return map[string]any{"error": "#ERROR!"}
	case kindList:
		items := make([]any, len(v.list))
		for i, item := range v.list {
			items[i] = item.Any()
		}
		return items
	default:
		return nil
	}
}

// Text returns the value as & and FIND see it: lists joined by ", ", dates as ISO text, #ERROR! as itself.
func (v Value) Text() string {
	switch v.kind {
	case kindText:
		return v.text
	case kindNumber, kindBool:
		return numberText(v.number)
	case kindTime:
		return timeText(v)
	case kindList:
		return joinText(v.list, ", ")
	case kindObject:
		return objectText(v.object)
	case kindError:
		return "#ERROR!"
	default:
		return ""
	}
}

func joinText(values []Value, separator string) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.Text()
	}
	return strings.Join(texts, separator)
}

func timeText(v Value) string {
	if v.dateOnly {
		return v.time.Format(time.DateOnly)
	}
	return v.time.UTC().Format("2006-01-02T15:04:05.000Z")
}

// objectText shows a collaborator, barcode, button, attachment or AI text by what a person would read in the cell.
func objectText(cell map[string]any) string {
	if name, ok := cell["filename"].(string); ok {
		url, _ := cell["url"].(string)
		return name + " (" + url + ")"
	}
	for _, key := range []string{"name", "email", "text", "label", "value", "id"} {
		if s, ok := cell[key].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// numberText writes a number as JavaScript does.
func numberText(n float64) string {
	switch magnitude := math.Abs(n); {
	case math.IsNaN(n):
		return "NaN"
	case math.IsInf(n, 1):
		return "Infinity"
	case math.IsInf(n, -1):
		return "-Infinity"
	case n == 0:
		return "0"
	case magnitude < 1e-6 || magnitude >= 1e21:
		text := strconv.FormatFloat(n, 'e', -1, 64)
		mantissa, exponent, _ := strings.Cut(text, "e")
		return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0")
	default:
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
}
