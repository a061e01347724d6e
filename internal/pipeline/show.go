package pipeline

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// maxShown is how many characters of a payload's value an error repeats.
const maxShown = 60

// show quotes a text for an error, with marks for blanks that would not be seen, cut where it is long.
func show(text string) string {
	if len(text) > 8*maxShown {
		text = strings.ToValidUTF8(text[:8*maxShown], "")
	}
	marked, _ := mark(text)
	if runes := []rune(marked); len(runes) > maxShown {
		marked = string(runes[:maxShown]) + "…"
	}
	return `"` + marked + `"`
}

// describe says what kind of value it is, and which, for an error.
func describe(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case json.Number:
		return "the number " + clip(v.String())
	case string:
		if v == "" {
			return "empty text"
		}
		return "the text " + show(v)
	case []any:
		return "a list"
	}
	return "an object"
}

func clip(text string) string {
	if len(text) > maxShown {
		return text[:maxShown] + "…"
	}
	return text
}

// mark makes visible what the eye would miss: blanks at the ends or in a row, blanks that are not
// plain ones, and characters without a glyph.
func mark(text string) (marked string, any bool) {
	runes := []rune(text)
	var out strings.Builder
	for i, r := range runes {
		switch {
		case r == ' ' && i > 0 && i < len(runes)-1 && runes[i-1] != ' ' && runes[i+1] != ' ':
			out.WriteRune(' ')
			continue
		case r == ' ':
			out.WriteRune('·')
		case r == '\u00a0' || r == '\u202f':
			out.WriteRune('⍽')
		case r == '\t':
			out.WriteRune('⇥')
		case r == '\n':
			out.WriteRune('⏎')
		case !unicode.IsGraphic(r) || unicode.IsSpace(r):
			fmt.Fprintf(&out, "<U+%04X>", r)
		default:
			out.WriteRune(r)
			continue
		}
		any = true
	}
	return out.String(), any
}
