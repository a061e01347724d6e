package formula

import (
	"math"
	"strings"
)

// scalar reduces a list to what it compares as: nothing, its only item, or its items joined by ", ".
func (v Value) scalar() Value {
	switch {
	case v.kind == kindObject:
		return textValue(v.Text())
	case v.kind != kindList:
		return v
	case len(v.list) == 0:
		return Value{}
	case len(v.list) == 1:
		return v.list[0].scalar()
	default:
		return textValue(v.Text())
	}
}

func (v Value) isBlank() bool {
	v = v.scalar()
	return v.kind == kindBlank || (v.kind == kindText && v.text == "")
}

func (v Value) isText() bool {
	v = v.scalar()
	return v.kind == kindText && v.text != ""
}

func (v Value) isNumeric() bool { return v.kind == kindNumber || v.kind == kindBool }

// toNumber reads a value as arithmetic does: blank is 0, true is 1, text and dates are no numbers.
func (v Value) toNumber() (float64, bool) {
	v = v.scalar()
	switch {
	case v.isNumeric():
		return v.number, true
	case v.isBlank():
		return 0, true
	default:
		return math.NaN(), false
	}
}

// equal is the = operator: text is case-sensitive, an unchecked checkbox equals FALSE() and BLANK(), and a date never
// equals a text, although < and > do compare them.
func (ev *evaluation) equal(a, b Value) bool {
	a, b = a.scalar(), b.scalar()
	switch {
	case a.isBlank() && b.isBlank():
		return true
	case a.isBlank():
		return ev.equalsBlank(b)
	case b.isBlank():
		return ev.equalsBlank(a)
	case a.isNumeric() && b.isNumeric():
		return a.number == b.number
	case a.kind == kindText && b.kind == kindText:
		return a.text == b.text
	case a.kind == kindTime && b.kind == kindTime:
		return a.time.Equal(b.time)
	case a.isNumeric() && b.kind == kindText, b.isNumeric() && a.kind == kindText:
		return ev.options.NumberEqualsText && a.Text() == b.Text()
	default:
		return false
	}
}

func (ev *evaluation) equalsBlank(v Value) bool {
	switch v.kind {
	case kindBool:
		return v.number == 0
	case kindNumber:
		return v.number == 0 && ev.options.ZeroEqualsBlank
	default:
		return false
	}
}

// ordered is <, >, <= and >=. Values that have no order, such as a number and a text, are neither.
func ordered(op string, a, b Value) bool {
	order, ok := compare(a.scalar(), b.scalar())
	if !ok {
		return false
	}
	switch op {
	case "<":
		return order < 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	default:
		return order >= 0
	}
}

func compare(a, b Value) (int, bool) {
	if order, ok := compareTimes(a, b); ok {
		return order, true
	}
	if (a.isBlank() || a.kind == kindText) && (b.isBlank() || b.kind == kindText) {
		return strings.Compare(a.Text(), b.Text()), true
	}
	x, okA := a.toNumber()
	y, okB := b.toNumber()
	switch {
	case !okA || !okB || math.IsNaN(x) || math.IsNaN(y):
		return 0, false
	case x < y:
		return -1, true
	case x > y:
		return 1, true
	default:
		return 0, true
	}
}

// compareTimes orders two instants; one of them may be a text that reads as a date.
func compareTimes(a, b Value) (int, bool) {
	if a.kind != kindTime && b.kind != kindTime {
		return 0, false
	}
	x, okA := a.toTime()
	y, okB := b.toTime()
	if !okA || !okB {
		return 0, false
	}
	return x.time.Compare(y.time), true
}
