package formula

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// part is a piece of a date format: a token such as MM, or literal text.
type part struct {
	token   string
	literal string
}

// tokens are the format specifiers Airtable shares with Moment, a longer one before its own start.
var tokens = []string{
	"YYYY", "YY", "MMMM", "MMM", "MM", "Mo", "M", "DDDD", "DDD", "DD", "Do", "D",
	"dddd", "ddd", "dd", "d", "HH", "H", "hh", "h", "mm", "m", "ss", "s", "SSS", "SS", "S",
	"A", "a", "ZZ", "Z", "X", "x", "Q", "ww", "w", "WW", "W", "E",
}

// shorthands are tokens that stand for a whole format, in American English.
var shorthands = []struct{ token, format string }{
	{"LLLL", "dddd, MMMM D, YYYY h:mm A"}, {"LLL", "MMMM D, YYYY h:mm A"}, {"LL", "MMMM D, YYYY"},
	{"LTS", "h:mm:ss A"}, {"LT", "h:mm A"}, {"L", "MM/DD/YYYY"},
	{"llll", "ddd, MMM D, YYYY h:mm A"}, {"lll", "MMM D, YYYY h:mm A"}, {"ll", "MMM D, YYYY"}, {"l", "M/D/YYYY"},
}

// parseFormat cuts a format into parts. Text in brackets is literal, and so is what no token starts with.
func parseFormat(format string) []part {
	var parts []part
	for format != "" {
		if end := strings.IndexByte(format, ']'); format[0] == '[' && end > 0 {
			parts = append(parts, part{literal: format[1:end]})
			format = format[end+1:]
			continue
		}
		if token, expansion := shorthandAt(format); token != "" {
			parts = append(parts, parseFormat(expansion)...)
			format = format[len(token):]
			continue
		}
		token := tokenAt(format)
		if token == "" {
			parts = append(parts, part{literal: format[:1]})
			format = format[1:]
			continue
		}
		parts = append(parts, part{token: token})
		format = format[len(token):]
	}
	return parts
}

func shorthandAt(format string) (token, expansion string) {
	for _, s := range shorthands {
		if strings.HasPrefix(format, s.token) {
			return s.token, s.format
		}
	}
	return "", ""
}

func tokenAt(format string) string {
	for _, token := range tokens {
		if strings.HasPrefix(format, token) {
			return token
		}
	}
	return ""
}

// maxFormat is the longest date format, in bytes.
const maxFormat = 1000

// formatDate is DATETIME_FORMAT; without a format it writes ISO 8601 with an offset.
func formatDate(ev *evaluation, args []Value) Value {
	format := "YYYY-MM-DDTHH:mm:ssZ"
	if len(args) == 2 {
		format = args[1].Text()
	}
	return formatAs(format)(ev, args)
}

func formatAs(format string) func(*evaluation, []Value) Value {
	return func(ev *evaluation, args []Value) Value {
		t, ok := args[0].toTime()
		if !ok || len(format) > maxFormat {
			return errorValue()
		}
		var text strings.Builder
		for _, p := range parseFormat(format) {
			text.WriteString(p.literal)
			if p.token != "" {
				text.WriteString(writeToken(t.time, p.token))
			}
		}
		return ev.text(text.String())
	}
}

// goLayouts are the tokens Go has a layout for.
var goLayouts = map[string]string{
	"YYYY": "2006", "YY": "06", "MMMM": "January", "MMM": "Jan", "MM": "01", "M": "1", "DDDD": "002", "DD": "02", "D": "2",
	"dddd": "Monday", "ddd": "Mon", "HH": "15", "hh": "03", "h": "3", "mm": "04", "m": "4", "ss": "05", "s": "5",
	"A": "PM", "a": "pm", "Z": "-07:00", "ZZ": "-0700",
}

func writeToken(t time.Time, token string) string {
	if layout, ok := goLayouts[token]; ok {
		return t.Format(layout)
	}
	_, isoWeek := t.ISOWeek()
	switch token {
	case "Mo":
		return ordinal(int(t.Month()))
	case "Do":
		return ordinal(t.Day())
	case "DDD":
		return strconv.Itoa(t.YearDay())
	case "dd":
		return t.Format("Mon")[:2]
	case "d":
		return strconv.Itoa(int(t.Weekday()))
	case "E":
		return strconv.Itoa(daysInto(t, time.Monday) + 1)
	case "H":
		return strconv.Itoa(t.Hour())
	case "SSS", "SS", "S":
		return fmt.Sprintf("%03d", t.Nanosecond()/int(time.Millisecond))[:len(token)]
	case "X":
		return strconv.FormatInt(t.Unix(), 10)
	case "x":
		return strconv.FormatInt(t.UnixMilli(), 10)
	case "Q":
		return strconv.Itoa(int(t.Month()-1)/3 + 1)
	case "w", "ww":
		return fmt.Sprintf("%0*d", len(token), weekNumber(t, time.Sunday))
	default: // W, WW
		return fmt.Sprintf("%0*d", len(token), isoWeek)
	}
}

func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}
