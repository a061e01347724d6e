package sandbox

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
)

// writeText takes text as it is sent. Email, url and phone are not checked,
// because no source says that Airtable does.
func writeText(w *writer, f *field, v any) (any, error) {
	text, ok := v.(string)
	if !ok && w.typecast {
		text, ok = scalarText(v)
	}
	if !ok {
		return nil, cannotAccept(f)
	}
	if limit := w.options.TextLimit; limit > 0 {
		units := utf16.Encode([]rune(text))
		if len(units) > limit {
			if w.options.TextOverflow == "refuse" {
				return nil, cannotAccept(f)
			}
			text = string(utf16.Decode(units[:limit]))
		}
	}
	if text == "" {
		return nil, nil
	}
	return text, nil
}

func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}

var starBullet = regexp.MustCompile(`(?m)^(\s*)\* `)

// writeRichText rewrites Markdown as recorded traffic shows it: star bullets
// become dashes, and a line end is appended.
func writeRichText(w *writer, f *field, v any) (any, error) {
	stored, err := writeText(w, f, v)
	text, ok := stored.(string)
	if err != nil || !ok || !w.options.RichtextRewrite {
		return stored, err
	}
	text = starBullet.ReplaceAllString(text, "${1}- ")
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text, nil
}

// barcode is a scanned code; its type is often absent.
type barcode struct {
	Text string `json:"text"`
	Type string `json:"type,omitempty"`
}

func writeBarcode(_ *writer, f *field, v any) (any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, cannotAccept(f)
	}
	text, ok := m["text"].(string)
	if !ok {
		return nil, cannotAccept(f)
	}
	kind, ok := m["type"].(string)
	if !ok && m["type"] != nil {
		return nil, cannotAccept(f)
	}
	if text == "" {
		return nil, nil
	}
	return barcode{Text: text, Type: kind}, nil
}

func nativeBarcode(_ *reader, _ *field, v any) any {
	code, _ := v.(barcode)
	return code.Text
}
