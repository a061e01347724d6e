package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// object is a JSON object with its keys in the order sent, so that the first
// fault of a request is the one that is reported.
type object struct {
	keys   []string
	values map[string]json.RawMessage
}

var errNotObject = errors.New("not one JSON object")

// parseObject reads exactly one JSON object. Of a key sent twice the last
// value counts, as in JavaScript.
func parseObject(raw []byte) (*object, error) {
	if !json.Valid(raw) {
		return nil, errNotObject
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errNotObject
	}
	o := &object{values: map[string]json.RawMessage{}}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if _, seen := o.values[name]; !seen {
			o.keys = append(o.keys, name)
		}
		o.values[name] = value
	}
	return o, nil
}

// has says whether key was sent, null included.
func (o *object) has(key string) bool {
	_, ok := o.values[key]
	return ok
}

// flag reads an optional boolean.
func (o *object) flag(key string) (bool, error) {
	raw, ok := o.values[key]
	if !ok {
		return false, nil
	}
	var set *bool
	if err := json.Unmarshal(raw, &set); err != nil || set == nil {
		return false, invalidRequest()
	}
	return *set, nil
}

// list reads an array of raw values; ok is false when the value is no array.
func (o *object) list(key string) (items []json.RawMessage, ok bool) {
	raw := bytes.TrimSpace(o.values[key])
	if len(raw) == 0 || raw[0] != '[' {
		return nil, false
	}
	return items, json.Unmarshal(raw, &items) == nil
}

// decodeValue reads a value, keeping its numbers as text.
func decodeValue(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errNotObject
	}
	return v, nil
}

// encode writes v as Airtable would: no HTML escapes, no line end.
func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}
