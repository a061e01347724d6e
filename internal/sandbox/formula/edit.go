package formula

import (
	"strconv"
	"strings"
)

var editFunctions = map[string]*function{
	"LEFT":                 {min: 2, max: 2, apply: left},
	"RIGHT":                {min: 2, max: 2, apply: right},
	"MID":                  {min: 3, max: 3, apply: mid},
	"REPLACE":              {min: 4, max: 4, apply: replace},
	"SUBSTITUTE":           {min: 3, max: 4, apply: substitute},
	"REPT":                 {min: 2, max: 2, apply: repeat},
	"T":                    {min: 1, max: 1, apply: onlyText},
	"VALUE":                {min: 1, max: 1, apply: parseNumber},
	"ENCODE_URL_COMPONENT": {min: 1, max: 1, apply: encodeURLComponent},
}

// split cuts a text into the characters before a 1-based start, the count characters from it, and the rest.
func split(text string, start, count int) (before, middle, after string) {
	from := byteOffset(text, start-1)
	to := from + byteOffset(text[from:], max(count, 0))
	return text[:from], text[from:to], text[to:]
}

func left(ev *evaluation, args []Value) Value {
	count, ok := args[1].toNumber()
	if !ok {
		return errorValue()
	}
	_, kept, _ := split(args[0].Text(), 1, clampInt(count))
	return ev.text(kept)
}

func right(ev *evaluation, args []Value) Value {
	count, ok := args[1].toNumber()
	if !ok {
		return errorValue()
	}
	text := args[0].Text()
	_, _, kept := split(text, 1, len([]rune(text))-max(clampInt(count), 0))
	return ev.text(kept)
}

func mid(ev *evaluation, args []Value) Value {
	start, okStart := args[1].toNumber()
	count, okCount := args[2].toNumber()
	if !okStart || !okCount {
		return errorValue()
	}
	_, kept, _ := split(args[0].Text(), clampInt(start), clampInt(count))
	return ev.text(kept)
}

func replace(ev *evaluation, args []Value) Value {
	start, okStart := args[1].toNumber()
	count, okCount := args[2].toNumber()
	if !okStart || !okCount {
		return errorValue()
	}
	before, _, after := split(args[0].Text(), clampInt(start), clampInt(count))
	return ev.text(before + args[3].Text() + after)
}

// substitute replaces all occurrences of a text, or only the one with the given 1-based index.
func substitute(ev *evaluation, args []Value) Value {
	text, old, replacement := args[0].Text(), args[1].Text(), args[2].Text()
	if old == "" {
		return ev.text(text)
	}
	if len(args) == 4 {
		index, ok := args[3].toNumber()
		if !ok || index < 1 {
			return errorValue()
		}
		return ev.text(substituteNth(text, old, replacement, clampInt(index)))
	}
	if len(text)+strings.Count(text, old)*(len(replacement)-len(old)) > MaxText {
		return errorValue()
	}
	return ev.text(strings.ReplaceAll(text, old, replacement))
}

func substituteNth(text, old, replacement string, index int) string {
	for at := 0; ; index-- {
		found := strings.Index(text[at:], old)
		if found < 0 {
			return text
		}
		at += found
		if index == 1 {
			return text[:at] + replacement + text[at+len(old):]
		}
		at += len(old)
	}
}

func repeat(ev *evaluation, args []Value) Value {
	count, ok := args[1].toNumber()
	if !ok {
		return errorValue()
	}
	text, times := args[0].Text(), max(clampInt(count), 0)
	if times > 0 && len(text) > MaxText/times {
		return errorValue()
	}
	return ev.text(strings.Repeat(text, times))
}

func onlyText(_ *evaluation, args []Value) Value {
	if !args[0].isText() {
		return Value{}
	}
	return args[0].scalar()
}

// parseNumber is VALUE: it drops every character that is no part of a number, so "$1,234.50" is 1234.5.
func parseNumber(_ *evaluation, args []Value) Value {
	if n, ok := args[0].toNumber(); ok && !args[0].isBlank() {
		return numberValue(n)
	}
	var digits strings.Builder
	for _, c := range args[0].Text() {
		startsNegative := c == '-' && digits.Len() == 0
		if ('0' <= c && c <= '9') || c == '.' || startsNegative {
			digits.WriteRune(c)
		}
	}
	n, err := strconv.ParseFloat(digits.String(), 64)
	if err != nil {
		return errorValue()
	}
	return numberValue(n)
}

// encodeURLComponent keeps letters, digits and -_.~ and percent-encodes the rest.
func encodeURLComponent(ev *evaluation, args []Value) Value {
	const hex = "0123456789ABCDEF"
	text := args[0].Text()
	if len(text) > MaxText/3 {
		return errorValue()
	}
	var encoded strings.Builder
	for i := range len(text) {
		c := text[i]
		if isDigit(c) || ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || strings.IndexByte("-_.~", c) >= 0 {
			encoded.WriteByte(c)
			continue
		}
		encoded.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return ev.text(encoded.String())
}
