package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"airtable-replay/internal/httpapi/internal/oapi"
)

var rawMessage = reflect.TypeFor[json.RawMessage]()

// refuseUnknown refuses what the generated binding overlooks: query parameters and members of the body
// that the operation does not know, members given twice, and broken characters. A misspelt filter
// would otherwise select everything.
func refuseUnknown(next oapi.StrictHandlerFunc, _ string) oapi.StrictHandlerFunc {
	return func(ctx context.Context, w http.ResponseWriter, r *http.Request, request any) (any, error) {
		bound := reflect.ValueOf(request)
		if err := checkQuery(r.URL.RawQuery, bound.FieldByName("Params")); err != nil {
			return nil, err
		}
		if body := bound.FieldByName("Body"); body.IsValid() && !body.IsNil() {
			var f faults
			f.checkShape("", exchangeOf(ctx).body, body.Type())
			if err := f.inBody(); err != nil {
				return nil, err
			}
		}
		return next(ctx, w, r, request)
	}
}

func checkQuery(raw string, params reflect.Value) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return malformed("the query is not in percent-encoding: " + err.Error())
	}
	var known []string
	if params.IsValid() {
		for i := range params.NumField() {
			if name, _, _ := strings.Cut(params.Type().Field(i).Tag.Get("form"), ","); name != "" {
				known = append(known, name)
			}
		}
	}
	var f faults
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !slices.Contains(known, name) {
			f.add(name, "unknown", "is no parameter here"+suggestion(known))
		}
	}
	return f.inQuery()
}

func suggestion(known []string) string {
	if len(known) == 0 {
		return "; none is known"
	}
	return "; known are " + strings.Join(known, ", ")
}

// checkShape walks the raw JSON beside the type into which it was bound. Raw values are the sender's
// and not looked into.
func (f *faults) checkShape(path string, raw json.RawMessage, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == rawMessage || string(raw) == "null":
	case t.Kind() == reflect.Struct:
		f.checkMembers(path, raw, t)
	case t.Kind() == reflect.Map:
		for _, m := range f.members(path, raw) {
			f.checkShape(join(path, m.name), m.value, t.Elem())
		}
	case t.Kind() == reflect.Slice:
		var elements []json.RawMessage
		if json.Unmarshal(raw, &elements) == nil {
			for i, e := range elements {
				f.checkShape(fmt.Sprintf("%s[%d]", path, i), e, t.Elem())
			}
		}
	case t.Kind() == reflect.String && loneSurrogate(raw):
		f.add(path, "unicode", `holds a \u escape of half a character; a payload that is not text goes into raw_payload_base64`)
	}
}

func (f *faults) checkMembers(path string, raw json.RawMessage, t reflect.Type) {
	known := map[string]reflect.Type{}
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		known[name], names = t.Field(i).Type, append(names, name)
	}
	for _, m := range f.members(path, raw) {
		if member, ok := known[m.name]; ok {
			f.checkShape(join(path, m.name), m.value, member)
			continue
		}
		f.add(join(path, m.name), "unknown", "is no member here"+suggestion(names))
	}
}

type member struct {
	name  string
	value json.RawMessage
}

// members lists the members of an object in their order and complains of a name given twice.
func (f *faults) members(path string, raw json.RawMessage) []member {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		return nil // the binding has accepted it, so it is an object
	}
	var ms []member
	seen := map[string]bool{}
	for decoder.More() {
		name, err := decoder.Token()
		var m member
		if err != nil || decoder.Decode(&m.value) != nil {
			return ms
		}
		m.name, _ = name.(string)
		if seen[m.name] {
			f.add(join(path, m.name), "duplicate", "is given twice; give it once")
		}
		seen[m.name] = true
		ms = append(ms, m)
	}
	return ms
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// loneSurrogate tells whether a JSON string escapes half of a surrogate pair, which the decoder would
// replace without a word.
func loneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if raw[i+1] != 'u' {
			i++
			continue
		}
		switch unit := hexUnit(raw[i+2:]); {
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return true
		case unit >= 0xD800 && unit <= 0xDBFF:
			low := raw[i+6:]
			if len(low) < 6 || low[0] != '\\' || low[1] != 'u' || hexUnit(low[2:])>>10 != 0xDC00>>10 {
				return true
			}
			i += 6
		}
		i += 5
	}
	return false
}

// hexUnit reads the four digits of a \u escape, which are there in valid JSON.
func hexUnit(b []byte) int {
	unit := 0
	for _, c := range b[:4] {
		switch {
		case c >= 'a':
			unit = unit<<4 | int(c-'a'+10)
		case c >= 'A':
			unit = unit<<4 | int(c-'A'+10)
		default:
			unit = unit<<4 | int(c-'0')
		}
	}
	return unit
}
