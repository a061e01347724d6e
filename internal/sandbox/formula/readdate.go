package formula

import (
	"strconv"
	"strings"
	"time"
)

// dateReader takes a text apart along a format.
type dateReader struct {
	rest                             string
	year, month, day                 int
	hour, minute, second, nanosecond int
	afternoon, twelveHours, hasClock bool
	offset                           int // seconds east of UTC
	instant                          time.Time
}

// readDate is DATETIME_PARSE with a format. Every part of the format must be found, and nothing may be left over.
func readDate(text, format string) Value {
	if len(format) > maxFormat {
		return errorValue()
	}
	r := &dateReader{rest: strings.TrimSpace(text), year: 1, month: 1, day: 1}
	for _, p := range parseFormat(format) {
		if !r.read(p) {
			return errorValue()
		}
	}
	if strings.TrimSpace(r.rest) != "" {
		return errorValue()
	}
	return r.value()
}

func (r *dateReader) read(p part) bool {
	if p.token == "" {
		rest, ok := strings.CutPrefix(r.rest, p.literal)
		r.rest = rest
		return ok
	}
	switch p.token {
	case "MMMM", "MMM":
		return r.monthName()
	case "dddd", "ddd", "dd":
		return r.letters() != ""
	case "A", "a":
		return r.meridiem()
	case "Z", "ZZ":
		return r.zone()
	case "X", "x":
		return r.epoch(p.token)
	case "Do":
		return r.number(&r.day, 2) && len(r.letters()) == 2
	default:
		return r.digits(p.token)
	}
}

// digits reads a token that is a number. Tokens that only describe a date, such as its week, cannot be read.
func (r *dateReader) digits(token string) bool {
	clock := func(field *int, most int) bool {
		r.hasClock = true
		return r.number(field, most)
	}
	switch token {
	case "YYYY":
		return r.number(&r.year, 4)
	case "YY":
		ok := r.number(&r.year, 2)
		r.year += 2000
		if r.year > 2068 {
			r.year -= 100
		}
		return ok
	case "MM", "M":
		return r.number(&r.month, 2)
	case "DD", "D":
		return r.number(&r.day, 2)
	case "HH", "H":
		return clock(&r.hour, 2)
	case "hh", "h":
		r.twelveHours = true
		return clock(&r.hour, 2)
	case "mm", "m":
		return clock(&r.minute, 2)
	case "ss", "s":
		return clock(&r.second, 2)
	case "SSS", "SS", "S":
		before := len(r.rest)
		ok := clock(&r.nanosecond, len(token))
		for range 9 - (before - len(r.rest)) {
			r.nanosecond *= 10
		}
		return ok
	default:
		return false
	}
}

// number reads one to most digits.
func (r *dateReader) number(field *int, most int) bool {
	n := 0
	for n < len(r.rest) && n < most && isDigit(r.rest[n]) {
		n++
	}
	value, err := strconv.Atoi(r.rest[:n])
	*field, r.rest = value, r.rest[n:]
	return err == nil
}

func (r *dateReader) letters() string {
	n := 0
	for n < len(r.rest) && ('a' <= r.rest[n]|0x20 && r.rest[n]|0x20 <= 'z') {
		n++
	}
	word := r.rest[:n]
	r.rest = r.rest[n:]
	return word
}

func (r *dateReader) monthName() bool {
	word := r.letters()
	for month := time.January; month <= time.December; month++ {
		if strings.EqualFold(word, month.String()) || strings.EqualFold(word, month.String()[:3]) {
			r.month = int(month)
			return true
		}
	}
	return false
}

func (r *dateReader) meridiem() bool {
	word := strings.ToLower(r.letters())
	r.afternoon, r.twelveHours = word == "pm", true
	return word == "am" || word == "pm"
}

// zone reads Z, +02:00 or +0200.
func (r *dateReader) zone() bool {
	if rest, ok := strings.CutPrefix(r.rest, "Z"); ok {
		r.rest = rest
		return true
	}
	if r.rest == "" || strings.IndexByte("+-", r.rest[0]) < 0 {
		return false
	}
	sign := 1
	if r.rest[0] == '-' {
		sign = -1
	}
	r.rest = r.rest[1:]
	hours, minutes := 0, 0
	ok := r.number(&hours, 2)
	r.rest = strings.TrimPrefix(r.rest, ":")
	ok = r.number(&minutes, 2) && ok
	r.offset = sign * (hours*3600 + minutes*60)
	return ok && hours < 24 && minutes < 60
}

// epoch reads seconds (X) or milliseconds (x) since 1970.
func (r *dateReader) epoch(token string) bool {
	const digits = 14
	value := 0
	if !r.number(&value, digits) {
		return false
	}
	r.instant = time.UnixMilli(int64(value)).UTC()
	if token == "X" {
		r.instant = time.Unix(int64(value), 0).UTC()
	}
	return r.instant.Year() <= 9999
}

// value builds the date, and fails on a day or time that does not exist.
func (r *dateReader) value() Value {
	if !r.instant.IsZero() {
		return timeValue(r.instant)
	}
	if r.twelveHours {
		if r.hour < 1 || r.hour > 12 {
			return errorValue()
		}
		r.hour %= 12
		if r.afternoon {
			r.hour += 12
		}
	}
	date := time.Date(r.year, time.Month(r.month), r.day, r.hour, r.minute, r.second, r.nanosecond, time.UTC)
	exists := date.Year() == r.year && int(date.Month()) == r.month && date.Day() == r.day &&
		date.Hour() == r.hour && date.Minute() == r.minute && date.Second() == r.second
	switch {
	case !exists || r.year < 1:
		return errorValue()
	case !r.hasClock:
		return dateValue(date)
	default:
		return timeValue(date.Add(-time.Duration(r.offset) * time.Second))
	}
}
