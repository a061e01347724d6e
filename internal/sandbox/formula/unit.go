package formula

import (
	"math"
	"strings"
	"time"
)

// unit is a step of the calendar, from the finest to the coarsest.
type unit int

const (
	unitMillisecond unit = iota
	unitSecond
	unitMinute
	unitHour
	unitDay
	unitWeek
	unitMonth
	unitQuarter
	unitYear
)

// clockUnits are those of fixed length.
var clockUnits = map[unit]time.Duration{
	unitMillisecond: time.Millisecond,
	unitSecond:      time.Second,
	unitMinute:      time.Minute,
	unitHour:        time.Hour,
	unitDay:         24 * time.Hour,
	unitWeek:        7 * 24 * time.Hour,
}

// monthUnits are those made of months.
var monthUnits = map[unit]int{unitMonth: 1, unitQuarter: 3, unitYear: 12}

// unitLength is the length of a unit, for those made of months the least.
func unitLength(u unit) time.Duration {
	if length, ok := clockUnits[u]; ok {
		return length
	}
	return time.Duration(monthUnits[u]) * 28 * clockUnits[unitDay]
}

// unitNames are the long forms without plural s, and the short ones, where M and m differ.
var unitNames = map[string]unit{
	"millisecond": unitMillisecond, "ms": unitMillisecond,
	"second": unitSecond, "s": unitSecond,
	"minute": unitMinute, "m": unitMinute,
	"hour": unitHour, "h": unitHour,
	"day": unitDay, "d": unitDay,
	"week": unitWeek, "w": unitWeek,
	"month": unitMonth, "M": unitMonth,
	"quarter": unitQuarter, "Q": unitQuarter,
	"year": unitYear, "y": unitYear,
}

func unitNamed(name string) (unit, bool) {
	if u, ok := unitNames[name]; ok {
		return u, true
	}
	u, ok := unitNames[strings.TrimSuffix(strings.ToLower(name), "s")]
	return u, ok && len(name) > 2
}

// unitArgument reads the unit at an index of the arguments, or the default where there is none.
func unitArgument(args []Value, index int, missing unit) (unit, bool) {
	if len(args) <= index {
		return missing, true
	}
	return unitNamed(args[index].Text())
}

// startOf cuts a time to the start of its unit, in its own zone. Weeks start on Sunday.
func startOf(t time.Time, u unit) time.Time {
	year, month, day := t.Date()
	switch u {
	case unitMillisecond, unitSecond, unitMinute:
		return t.Truncate(clockUnits[u])
	case unitHour:
		return time.Date(year, month, day, t.Hour(), 0, 0, 0, t.Location())
	case unitWeek:
		day -= int(t.Weekday())
	case unitMonth:
		day = 1
	case unitQuarter:
		month, day = month-(month-1)%3, 1
	case unitYear:
		month, day = time.January, 1
	case unitDay:
	}
	return time.Date(year, month, day, 0, 0, 0, 0, t.Location())
}

// addUnits moves a time by whole units; the fraction of a count of months is dropped, as is that of days and weeks.
// It fails on a count that leads out of the calendar by far.
func addUnits(t time.Time, count float64, u unit) (time.Time, bool) {
	const msPerDay, farthest = 86_400_000, 10_000 * 366 * 86_400_000
	ms := count * float64(unitLength(u)/time.Millisecond)
	if math.IsNaN(ms) || math.Abs(ms) > farthest {
		return time.Time{}, false
	}
	whole := int(count)
	switch months, isMonths := monthUnits[u]; {
	case isMonths:
		t = addMonths(t, whole*months)
	case u == unitDay:
		t = t.AddDate(0, 0, whole)
	case u == unitWeek:
		t = t.AddDate(0, 0, 7*whole)
	default:
		moved := t.UTC().AddDate(0, 0, int(ms/msPerDay)).Add(time.Duration(math.Mod(ms, msPerDay)) * time.Millisecond)
		t = moved.In(t.Location())
	}
	return t, true
}

// addMonths keeps the day of the month, or takes the last one where the month is shorter.
func addMonths(t time.Time, months int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(months), 1, 0, 0, 0, 0, t.Location())
	last := first.AddDate(0, 1, -1).Day()
	hour, minute, second := t.Clock()
	return time.Date(first.Year(), first.Month(), min(t.Day(), last), hour, minute, second, t.Nanosecond(), t.Location())
}

// unitsBetween counts whole units from one time to another, cut towards zero.
func unitsBetween(from, to time.Time, u unit) float64 {
	if length, ok := clockUnits[u]; ok {
		ms := float64(to.UnixMilli() - from.UnixMilli())
		return positiveZero(math.Trunc(ms / float64(length/time.Millisecond)))
	}
	to = to.In(from.Location())
	months := (to.Year()-from.Year())*12 + int(to.Month()-from.Month())
	if months > 0 && addMonths(from, months).After(to) {
		months--
	} else if months < 0 && addMonths(from, months).Before(to) {
		months++
	}
	return float64(months / monthUnits[u])
}

func positiveZero(n float64) float64 { return n + 0 }
