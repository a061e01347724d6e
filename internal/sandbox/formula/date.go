package formula

import (
	"strings"
	"time"
)

// Dates are computed in UTC, the zone of the API, unless SET_TIMEZONE gave the value another one.
var dateFunctions = map[string]*function{
	"CREATED_TIME":       {apply: createdTime},
	"LAST_MODIFIED_TIME": {max: many, lazy: lastModifiedTime},
	"NOW":                {apply: now, volatile: true},
	"TODAY":              {apply: today, volatile: true},
	"IS_AFTER":           {min: 2, max: 3, apply: compareDates(func(order int) bool { return order > 0 })},
	"IS_BEFORE":          {min: 2, max: 3, apply: compareDates(func(order int) bool { return order < 0 })},
	"IS_SAME":            {min: 2, max: 3, apply: compareDates(func(order int) bool { return order == 0 })},
	"DATETIME_DIFF":      {min: 2, max: 3, apply: dateDiff},
	"DATETIME_PARSE":     {min: 1, max: 3, apply: parseDate},
	"DATETIME_FORMAT":    {min: 1, max: 2, apply: formatDate},
	"DATESTR":            {min: 1, max: 1, apply: formatAs("YYYY-MM-DD")},
	"TIMESTR":            {min: 1, max: 1, apply: formatAs("HH:mm:ss")},
	"DATEADD":            {min: 3, max: 3, apply: addDate},
}

// dateOnlyLayouts and dateTimeLayouts are the texts read as dates without a format: ISO forms, then American ones.
// Go accepts a fraction after any seconds.
var dateOnlyLayouts = []string{time.DateOnly, "1/2/2006", "January 2, 2006", "Jan 2, 2006"}

var dateTimeLayouts = []string{
	time.RFC3339,
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05",
	"2006-01-02T15:04",
	"2006-01-02 15:04:05Z07:00",
	"2006-01-02 15:04:05",
	"2006-01-02 15:04",
	"1/2/2006 15:04",
	"1/2/2006 3:04 pm",
}

// toTime reads a date, or a text that looks like one.
func (v Value) toTime() (Value, bool) {
	v = v.scalar()
	if v.kind == kindTime {
		return v, true
	}
	if v.kind != kindText {
		return Value{}, false
	}
	text := strings.TrimSpace(v.text)
	for _, layout := range dateOnlyLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return dateValue(t), true
		}
	}
	for _, layout := range dateTimeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return timeValue(t.UTC()), true
		}
	}
	return Value{}, false
}

func createdTime(ev *evaluation, _ []Value) Value { return timeValue(ev.env.CreatedTime().UTC()) }

// lastModifiedTime takes field names, not their values; anything else is #ERROR!.
func lastModifiedTime(ev *evaluation, args []node) Value {
	names := make([]string, 0, len(args))
	for _, arg := range args {
		field, ok := arg.(fieldRef)
		if !ok {
			return errorValue()
		}
		names = append(names, field.name)
	}
	modified := ev.env.LastModified(names)
	if modified.IsZero() {
		return Value{}
	}
	return timeValue(modified.UTC())
}

func now(ev *evaluation, _ []Value) Value { return timeValue(ev.env.Now().UTC()) }

func today(ev *evaluation, _ []Value) Value { return dateValue(startOf(ev.env.Now().UTC(), unitDay)) }

// compareDates builds IS_AFTER, IS_BEFORE and IS_SAME; with a unit, both dates are cut to its start.
func compareDates(accept func(order int) bool) func(*evaluation, []Value) Value {
	return func(_ *evaluation, args []Value) Value {
		unit, ok := unitArgument(args, 2, unitMillisecond)
		a, okA := args[0].toTime()
		b, okB := args[1].toTime()
		if !ok || !okA || !okB {
			return errorValue()
		}
		return boolValue(accept(startOf(a.time, unit).Compare(startOf(b.time, unit))))
	}
}

// parseDate is DATETIME_PARSE(text, [format], [locale]); a date passes through, only English is known.
func parseDate(_ *evaluation, args []Value) Value {
	t, ok := args[0].toTime()
	switch {
	case len(args) == 3 && !isEnglish(args[2].Text()):
		return errorValue()
	case len(args) >= 2 && args[0].scalar().kind == kindText:
		return readDate(args[0].Text(), args[1].Text())
	case !ok:
		return errorValue()
	default:
		return t
	}
}

// dateDiff counts whole units from the second date to the first, cut towards zero; seconds without a unit.
func dateDiff(_ *evaluation, args []Value) Value {
	unit, ok := unitArgument(args, 2, unitSecond)
	a, okA := args[0].toTime()
	b, okB := args[1].toTime()
	if !ok || !okA || !okB {
		return errorValue()
	}
	return numberValue(unitsBetween(b.time, a.time, unit))
}

func addDate(_ *evaluation, args []Value) Value {
	unit, ok := unitArgument(args, 2, unitDay)
	t, okTime := args[0].toTime()
	count, okCount := args[1].toNumber()
	if !ok || !okTime || !okCount {
		return errorValue()
	}
	moved, ok := addUnits(t.time, count, unit)
	if !ok {
		return errorValue()
	}
	return calendarValue(moved, t.dateOnly && unit >= unitDay)
}
