package airtable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// encode is JSON as sent: no HTML escaping, keys sorted, so that two attempts of
// one write are the same bytes (case B57).
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// invalid is the error for a request that is not sent.
func invalid(op string, err error) *Error {
	return &Error{Op: op, Message: err.Error(), Fate: FateUnsent, Err: ErrInvalidRequest}
}

func validTable(base, table string) error {
	if base == "" || table == "" {
		return fmt.Errorf("base %q, table %q: both must be named", base, table)
	}
	return errors.Join(validText("base", base), validText("table name", table))
}

// validText refuses what JSON and URLs cannot carry unchanged.
func validText(what, s string) error {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Errorf("%s is not valid UTF-8 (byte 0x%02x at offset %d): correct the text at its source", what, s[i], i)
		}
		i += size
	}
	return nil
}

// validValue refuses cell values that encoding/json would alter: it replaces
// invalid UTF-8, reads an empty json.Number as 0 and rounds floats.
func validValue(what string, v any) error {
	switch v := v.(type) {
	case nil, bool, int, int64:
		return nil
	case string:
		return validText(what, v)
	case json.Number:
		return validNumber(what, v)
	case []string:
		return eachValid(what, v)
	case []any:
		return eachValid(what, v)
	case map[string]any:
		for key, item := range v {
			if err := validText("a key in "+what, key); err != nil {
				return err
			}
			if err := validValue(what+"."+key, item); err != nil {
				return err
			}
		}
		return nil
	case float32, float64:
		return fmt.Errorf("%s is a float, which may have lost digits: pass a json.Number", what)
	}
	return fmt.Errorf("%s is a %T: pass text, json.Number, bool, nil, a list or a map", what, v)
}

func eachValid[T any](what string, list []T) error {
	for i, item := range list {
		if err := validValue(fmt.Sprintf("%s[%d]", what, i), item); err != nil {
			return err
		}
	}
	return nil
}

func validNumber(what string, n json.Number) error {
	if n == "" || !json.Valid([]byte(n)) || n[0] != '-' && (n[0] < '0' || n[0] > '9') {
		return fmt.Errorf("%s is no JSON number: pass digits as they stand in JSON", what)
	}
	return nil
}
