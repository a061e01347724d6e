package formula

import (
	"strings"
	"unicode/utf8"
)

// Positions and lengths count characters (code points) from 1.
var textFunctions = map[string]*function{
	"FIND":        {min: 2, max: 3, apply: find},
	"SEARCH":      {min: 2, max: 3, apply: search},
	"LOWER":       {min: 1, max: 1, apply: mapText(strings.ToLower)},
	"UPPER":       {min: 1, max: 1, apply: mapText(strings.ToUpper)},
	"TRIM":        {min: 1, max: 1, apply: mapText(strings.TrimSpace)},
	"EXACT":       {min: 2, max: 2, apply: exact},
	"LEN":         {min: 1, max: 1, apply: length},
	"CONCATENATE": {min: 1, max: many, apply: concatenate},
}

func mapText(convert func(string) string) func(*evaluation, []Value) Value {
	return func(ev *evaluation, args []Value) Value { return ev.text(convert(args[0].Text())) }
}

// find returns the 1-based position of a text, 0 if it is absent. It is case-sensitive.
func find(ev *evaluation, args []Value) Value {
	position, ok := ev.position(args, func(s string) string { return s })
	if !ok {
		return errorValue()
	}
	return numberValue(float64(position))
}

// search is find without regard to case, and blank if the text is absent.
func search(ev *evaluation, args []Value) Value {
	position, ok := ev.position(args, strings.ToLower)
	switch {
	case !ok:
		return errorValue()
	case position == 0:
		return Value{}
	default:
		return numberValue(float64(position))
	}
}

func (ev *evaluation) position(args []Value, fold func(string) string) (int, bool) {
	needle, hay := fold(args[0].Text()), fold(args[1].Text())
	skip := 0
	if len(args) == 3 {
		start, ok := args[2].toNumber()
		if !ok {
			return 0, false
		}
		skip = byteOffset(hay, clampInt(start)-1)
	}
	at := strings.Index(hay[skip:], needle)
	if at < 0 {
		return 0, true
	}
	return utf8.RuneCountInString(hay[:skip+at]) + 1, true
}

// clampInt cuts a number to an integer that is safe to add to and index with.
func clampInt(n float64) int {
	const most = 1 << 30
	switch {
	case n != n:
		return 0
	case n > most:
		return most
	case n < -most:
		return -most
	default:
		return int(n)
	}
}

// byteOffset is where the given number of characters of s ends, in bytes.
func byteOffset(s string, characters int) int {
	for offset := range s {
		if characters <= 0 {
			return offset
		}
		characters--
	}
	return len(s)
}

func exact(_ *evaluation, args []Value) Value { return boolValue(args[0].Text() == args[1].Text()) }

func length(_ *evaluation, args []Value) Value {
	return numberValue(float64(utf8.RuneCountInString(args[0].Text())))
}

func concatenate(ev *evaluation, args []Value) Value {
	var joined strings.Builder
	for _, arg := range args {
		text := arg.Text()
		if joined.Len()+len(text) > MaxText {
			return errorValue()
		}
		joined.WriteString(text)
	}
	return ev.text(joined.String())
}
