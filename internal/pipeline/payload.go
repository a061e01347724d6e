package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"airtable-replay/internal/deadletter"
)

// maxDepth is how deep a payload may nest. Real ones stay below ten; the bound keeps hostile ones
// from costing stack.
const maxDepth = 100

// inspect refuses a payload that two readers could understand differently: bytes that are not UTF-8,
// a key that stands twice in one object (readers take the first or the last), half a surrogate pair
// (decoders replace it). It is nil for a payload that is fit to be read.
func inspect(payload []byte) *fault {
	if len(bytes.Trim(payload, " \t\r\n")) == 0 {
		return &fault{FieldError{"", "payload", "nothing to write: the payload is empty"}, deadletter.ReasonValidationFailed}
	}
	if err := wellFormed(payload); err != nil {
		return &fault{FieldError{"", "json", err.Error()}, deadletter.ReasonUnparseablePayload}
	}
	return nil
}

func wellFormed(payload []byte) error {
	if n := invalidUTF8(payload); n >= 0 {
		return fmt.Errorf("the payload is not UTF-8: byte %d is 0x%02x", n, payload[n])
	}
	if bytes.HasPrefix(payload, []byte("\uFEFF")) {
		return errors.New("the payload begins with a byte order mark, which JSON forbids")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(payload, &whole); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return fmt.Errorf("the payload is not JSON: %s at byte %d", syntax.Error(), syntax.Offset)
		}
		return fmt.Errorf("the payload is not JSON: %w", err)
	}
	return (&scan{payload: payload}).run()
}

func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// scan walks over a payload that is known to be valid JSON.
type scan struct {
	payload []byte
	open    []scope
}

// scope is an object or array that is open; keys is nil for arrays.
type scope struct {
	keys map[string]bool
	key  bool // a key comes next
}

func (s *scan) run() error {
	for i := 0; i < len(s.payload); i++ {
		switch s.payload[i] {
		case '{':
			s.open = append(s.open, scope{keys: map[string]bool{}, key: true})
		case '[':
			s.open = append(s.open, scope{})
		case '}', ']':
			s.open = s.open[:len(s.open)-1]
		case ',':
			top := &s.open[len(s.open)-1]
			top.key = top.keys != nil
		case '"':
			n := stringLen(s.payload[i:])
			if err := s.text(s.payload[i:i+n], i); err != nil {
				return err
			}
			i += n - 1
		}
		if len(s.open) > maxDepth {
			return fmt.Errorf("the payload nests deeper than %d levels", maxDepth)
		}
	}
	return nil
}

// text takes one string: a key of the innermost object, or a value.
func (s *scan) text(literal []byte, at int) error {
	if loneSurrogate(literal) {
		return fmt.Errorf("the text at byte %d holds half a surrogate pair (\\ud800 to \\udfff), which is no character", at)
	}
	if len(s.open) == 0 || !s.open[len(s.open)-1].key {
		return nil
	}
	top := &s.open[len(s.open)-1]
	top.key = false
	var key string
	if err := json.Unmarshal(literal, &key); err != nil {
		return fmt.Errorf("the key at byte %d is unreadable: %w", at, err)
	}
	if top.keys[key] {
		return fmt.Errorf("the key %s stands twice in one object (byte %d); which of the two counts is not defined", show(key), at)
	}
	top.keys[key] = true
	return nil
}

// stringLen is the length of the string literal that b begins with, quotes included.
func stringLen(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

func loneSurrogate(literal []byte) bool {
	for i := 0; i+1 < len(literal); i++ {
		if literal[i] != '\\' {
			continue
		}
		if literal[i+1] != 'u' {
			i++
			continue
		}
		switch unit := codeUnit(literal[i:]); {
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return true
		case unit >= 0xD800 && unit <= 0xDBFF:
			if low := codeUnit(literal[i+6:]); low < 0xDC00 || low > 0xDFFF {
				return true
			}
			i += 6
		}
		i += 5
	}
	return false
}

// codeUnit is the UTF-16 code unit of a \uXXXX escape at the beginning of b, else -1.
func codeUnit(b []byte) int {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int(unit)
}
