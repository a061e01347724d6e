package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// doc encodes a value for a json column: exact digits, no HTML escaping.
func doc(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("encode document: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// read decodes a json column; numbers keep their digits, an empty document leaves into alone.
func read(text []byte, into any) error {
	if len(text) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("decode document: %w", err)
	}
	return nil
}

// maxText bounds the error texts and notes that are kept (4 KiB).
const maxText = 4096

// text makes a string fit for a text column: valid UTF-8 without NUL, cut at maxText with a mark.
func text(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\u2400")
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (cut, %d bytes in all)", s[:cut], len(s))
}
