package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"airtable-replay/internal/deadletter"
)

// functions are what templates may call. Words for states and reasons are in words.go.
func functions(now func() time.Time) template.FuncMap {
	return template.FuncMap{
		"ago":      func(t time.Time) string { return ago(now(), t) },
		"utc":      utc,
		"brief":    func(t time.Time) string { return brief(now(), t) },
		"iso":      func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) },
		"count":    thousands,
		"share":    share,
		"value":    valueText,
		"empty":    deadletter.Empty,
		"short":    short,
		"sentence": sentence,
		"status":   statusWord,
		"outcome":  outcomeWord,
		"reason":   reasonWords,
		"advice":   reasonAdvice,
		"flag":     flagWords,
		"event":    eventWord,
		"mode":     modeWords,
		"runkind":  runKindWord,
		"runstate": runStatusWord,
		"tone":     tone,
		"plural":   plural,
		"duration": func(d time.Duration) string { return span(max(d, time.Second)) },
	}
}

// ago says how long a time is past, or how long until it comes.
func ago(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := now.Sub(t)
	if d < 0 {
		return "in " + span(-d)
	}
	if d < 5*time.Second {
		return "just now"
	}
	return span(d) + " ago"
}

func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 2*day:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d < 90*day:
		return fmt.Sprintf("%d days", int(d/day))
	case d < 2*365*day:
		return fmt.Sprintf("%d months", int(d/(30*day)))
	}
	return fmt.Sprintf("%d years", int(d/(365*day)))
}

// utc is a time in full, for a title.
func utc(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	t = t.UTC()
	if t.Nanosecond() == 0 {
		return t.Format("2006-01-02 15:04:05 UTC")
	}
	return t.Format("2006-01-02 15:04:05.000 UTC")
}

// brief is a time as short as it can be told, in UTC.
func brief(now, t time.Time) string {
	now, t = now.UTC(), t.UTC()
	switch {
	case now.Sub(t).Abs() < 12*time.Hour:
		return t.Format("15:04:05")
	case t.Year() == now.Year():
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006")
}

// thousands writes a count with commas.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var out []string
	for len(digits) > 3 {
		out = append([]string{digits[len(digits)-3:]}, out...)
		digits = digits[:len(digits)-3]
	}
	return sign + strings.Join(append([]string{digits}, out...), ",")
}

// share is a part of a whole in percent, and only all of it is 100.
func share(part, whole int) int {
	if whole <= 0 {
		return 0
	}
	if part >= whole {
		return 100
	}
	return min(99, part*100/whole)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// sentence begins with a capital and ends with a stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(first)) + s[size:]
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// short cuts a text for a list, with a mark.
func short(n int, s string) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// valueText shows a field's value. Numbers keep their digits and dates their text (cases B20, B37); text
// that could be taken for something else stands in quotes.
func valueText(v any) string {
	text, ok := v.(string)
	if ok && !mistakable(text) {
		return text
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprintf("(a value that cannot be shown: %T)", v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// mistakable tells a text that reads like a number, a list or nothing, or has blanks at its ends.
func mistakable(s string) bool {
	return s == "" || strings.TrimSpace(s) != s || json.Valid([]byte(s))
}
