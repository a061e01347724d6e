package formula

import (
	"fmt"
	"math"
	"strings"
	"time"
)

var calendarFunctions = map[string]*function{
	"YEAR":    {min: 1, max: 1, apply: datePart(time.Time.Year)},
	"MONTH":   {min: 1, max: 1, apply: datePart(func(t time.Time) int { return int(t.Month()) })},
	"DAY":     {min: 1, max: 1, apply: datePart(time.Time.Day)},
	"HOUR":    {min: 1, max: 1, apply: datePart(time.Time.Hour)},
	"MINUTE":  {min: 1, max: 1, apply: datePart(time.Time.Minute)},
	"SECOND":  {min: 1, max: 1, apply: datePart(time.Time.Second)},
	"WEEKDAY": {min: 1, max: 2, apply: weekPart(func(t time.Time, first time.Weekday) int { return daysInto(t, first) })},
	"WEEKNUM": {min: 1, max: 2, apply: weekPart(weekNumber)},

	"WORKDAY":      {min: 2, max: 3, apply: workday},
	"WORKDAY_DIFF": {min: 2, max: 3, apply: workdayDiff},
	"TONOW":        {min: 1, max: 1, apply: distance, volatile: true},
	"FROMNOW":      {min: 1, max: 1, apply: distance, volatile: true},
	"SET_TIMEZONE": {min: 2, max: 2, apply: setTimezone},
	"SET_LOCALE":   {min: 2, max: 2, apply: setLocale},
}

func datePart(part func(time.Time) int) func(*evaluation, []Value) Value {
	return func(_ *evaluation, args []Value) Value {
		t, ok := args[0].toTime()
		if !ok {
			return errorValue()
		}
		return numberValue(float64(part(t.time)))
	}
}

// weekPart computes with weeks that start on Sunday or, if the second argument says so, on Monday.
func weekPart(part func(time.Time, time.Weekday) int) func(*evaluation, []Value) Value {
	return func(_ *evaluation, args []Value) Value {
		t, ok := args[0].toTime()
		first := time.Sunday
		if len(args) == 2 {
			switch strings.ToLower(args[1].Text()) {
			case "sunday":
			case "monday":
				first = time.Monday
			default:
				return errorValue()
			}
		}
		if !ok {
			return errorValue()
		}
		return numberValue(float64(part(t.time, first)))
	}
}

// daysInto counts the days since the start of the week.
func daysInto(t time.Time, first time.Weekday) int {
	return (int(t.Weekday()-first) + 7) % 7
}

// weekNumber counts weeks of the year; week 1 is the one that holds January 1, even if it starts in December.
func weekNumber(t time.Time, first time.Weekday) int {
	last := t.AddDate(0, 0, 6-daysInto(t, first))
	return (last.YearDay()-1)/7 + 1
}

// maxWorkdays bounds WORKDAY, about 400 years.
const maxWorkdays = 100_000

// workday moves a date by working days: not Saturdays, Sundays and the listed holidays.
func workday(_ *evaluation, args []Value) Value {
	start, okStart := args[0].toTime()
	count, okCount := args[1].toNumber()
	holidays, okHolidays := holidaySet(args[2:])
	if !okStart || !okCount || !okHolidays || !(math.Abs(count) <= maxWorkdays) {
		return errorValue()
	}
	step, left := 1, clampInt(count)
	if left < 0 {
		step, left = -1, -left
	}
	day := start.time
	for left > 0 {
		day = day.AddDate(0, 0, step)
		if isWorkday(day, holidays) {
			left--
		}
	}
	return calendarValue(day, start.dateOnly)
}

// workdayDiff counts working days from one date to another, both included; backwards it is negative.
func workdayDiff(ev *evaluation, args []Value) Value {
	start, okStart := args[0].toTime()
	end, okEnd := args[1].toTime()
	holidays, okHolidays := holidaySet(args[2:])
	if !okStart || !okEnd || !okHolidays {
		return errorValue()
	}
	from, to, sign := startOf(start.time, unitDay), startOf(end.time, unitDay), 1.0
	if to.Before(from) {
		from, to, sign = to, from, -1
	}
	const perDay = 256
	if days := int(unitsBetween(from, to, unitDay)); !ev.spend(days * perDay) {
		return errorValue()
	}
	days := 0.0
	for day := from; !day.After(to); day = day.AddDate(0, 0, 1) {
		if isWorkday(day, holidays) {
			days++
		}
	}
	return numberValue(positiveZero(sign * days))
}

func isWorkday(day time.Time, holidays map[string]bool) bool {
	return day.Weekday() != time.Saturday && day.Weekday() != time.Sunday && !holidays[day.Format(time.DateOnly)]
}

// holidaySet reads ISO dates separated by commas.
func holidaySet(args []Value) (map[string]bool, bool) {
	holidays := map[string]bool{}
	if len(args) == 0 || args[0].isBlank() {
		return holidays, true
	}
	for item := range strings.SplitSeq(args[0].Text(), ",") {
		day, ok := textValue(item).toTime()
		if !ok {
			return nil, false
		}
		holidays[day.time.Format(time.DateOnly)] = true
	}
	return holidays, true
}

// distance says in words how far a date is from now, in either direction.
func distance(ev *evaluation, args []Value) Value {
	t, ok := args[0].toTime()
	if !ok {
		return errorValue()
	}
	return textValue(inWords(math.Abs(float64(ev.env.Now().UnixMilli()-t.time.UnixMilli()) / 1000)))
}

// inWords rounds a number of seconds to the unit a person would name.
func inWords(seconds float64) string {
	minutes, hours, days := seconds/60, seconds/3600, seconds/86400
	plural := func(n float64, unit string) string { return fmt.Sprintf("%.0f %s", math.Round(n), unit) }
	switch {
	case seconds < 44.5:
		return "a few seconds"
	case minutes < 1.5:
		return "a minute"
	case minutes < 44.5:
		return plural(minutes, "minutes")
	case hours < 1.5:
		return "an hour"
	case hours < 21.5:
		return plural(hours, "hours")
	case days < 1.5:
		return "a day"
	case days < 25.5:
		return plural(days, "days")
	case days < 45.5:
		return "a month"
	case days < 319.5:
		return plural(days/30.437, "months")
	case days < 547.5:
		return "a year"
	default:
		return plural(days/365.25, "years")
	}
}

// setTimezone shows an instant in an IANA time zone, which counts for DATETIME_FORMAT and the parts of a date.
func setTimezone(_ *evaluation, args []Value) Value {
	t, ok := args[0].toTime()
	name := args[1].Text()
	if !ok || name == "" || strings.EqualFold(name, "local") {
		return errorValue()
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return errorValue()
	}
	return timeValue(t.time.In(zone))
}

// setLocale knows English only; any other language is #ERROR! rather than a wrong text.
func setLocale(_ *evaluation, args []Value) Value {
	t, ok := args[0].toTime()
	if !ok || !isEnglish(args[1].Text()) {
		return errorValue()
	}
	return t
}

func isEnglish(locale string) bool {
	language, _, _ := strings.Cut(strings.ToLower(locale), "-")
	return language == "en"
}
