package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// reader turns the syntax tree into structs, field by field, and collects what is wrong on the way.
type reader struct {
	env     func(string) (string, bool)
	file    func(string) ([]byte, error)
	anchors map[string]ast.Node
	lines   map[string]int // key path to line
	found   []Problem
}

// keyPath is the way from the top of the file to a value.
type keyPath []string

var plainKey = regexp.MustCompile(`^[^."\x00-\x1f]+$`)

// String joins the keys with dots; a key that holds dots is quoted.
func (p keyPath) String() string {
	parts := make([]string, len(p))
	for i, key := range p {
		if parts[i] = key; !plainKey.MatchString(key) {
			parts[i] = strconv.Quote(key)
		}
	}
	return strings.Join(parts, ".")
}

func (p keyPath) sub(keys ...string) keyPath { return append(slices.Clip(p), keys...) }

// fault records a problem at a key, or at the nearest key above it that stands in the file.
func (r *reader) fault(at keyPath, format string, args ...any) {
	line := 0
	for p := at; line == 0 && len(p) > 0; p = p[:len(p)-1] {
		line = r.lines[p.String()]
	}
	r.found = append(r.found, Problem{Line: line, Path: at.String(), Detail: fmt.Sprintf(format, args...)})
}

// defaulter is a struct with values to start from.
type defaulter interface{ defaults() }

// scanner is a type that reads itself.
type scanner interface {
	scan(r *reader, n ast.Node, at keyPath)
}

// decode reads a node into v. A null leaves v as it is, like a key that is left out.
func (r *reader) decode(n ast.Node, v reflect.Value, at keyPath) {
	n = r.resolve(n, at)
	if n == nil {
		return
	}
	if s, ok := v.Addr().Interface().(scanner); ok {
		s.scan(r, n, at)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		r.decodeNew(n, p.Elem(), at)
		v.Set(p)
	case reflect.Struct:
		r.decodeStruct(n, v, at)
	case reflect.Map:
		r.decodeMap(n, v, at)
	case reflect.Slice:
		r.decodeList(n, v, at)
	default:
		r.decodeScalar(n, v, at)
	}
}

// decodeNew reads a node into a value that starts from its defaults.
func (r *reader) decodeNew(n ast.Node, v reflect.Value, at keyPath) {
	if d, ok := v.Addr().Interface().(defaulter); ok {
		d.defaults()
	}
	r.decode(n, v, at)
}

func (r *reader) decodeStruct(n ast.Node, v reflect.Value, at keyPath) {
	entries, ok := r.entries(n, at)
	if !ok {
		return
	}
	known := map[string]int{}
	for i := range v.NumField() {
		if key := v.Type().Field(i).Tag.Get("yaml"); key != "" && key != "-" {
			known[key] = i
		}
	}
	given := map[string]bool{}
	for _, e := range entries {
		i, ok := known[e.key]
		if !ok {
			r.fault(at.sub(e.key), "unknown key; known here are %s", strings.Join(sortedKeys(known), ", "))
			continue
		}
		node := r.resolve(e.value, at.sub(e.key))
		given[e.key] = node != nil
		if node != nil && v.Type().Field(i).Tag.Get("reference") != "" {
			text, _ := r.text(node, at.sub(e.key))
			v.Field(i).SetString(text)
			continue
		}
		r.decode(e.value, v.Field(i), at.sub(e.key))
	}
	for _, key := range sortedKeys(known) {
		if v.Type().Field(known[key]).Tag.Get("required") != "" && !given[key] {
			r.fault(at.sub(key), "is required")
		}
	}
}

func (r *reader) decodeMap(n ast.Node, v reflect.Value, at keyPath) {
	entries, ok := r.entries(n, at)
	if !ok {
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, e := range entries {
		if e.key == "" {
			r.fault(at, "a name in it is empty")
		}
		elem := reflect.New(v.Type().Elem().Elem())
		r.decodeNew(e.value, elem.Elem(), at.sub(e.key))
		v.SetMapIndex(reflect.ValueOf(e.key), elem)
	}
}

func (r *reader) decodeList(n ast.Node, v reflect.Value, at keyPath) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		r.fault(at, "write a list: [a, b]")
		return
	}
	for i, n := range list.Values {
		at := at.sub(strconv.Itoa(i))
		r.lines[at.String()] = n.GetToken().Position.Line
		elem := reflect.New(v.Type().Elem()).Elem()
		r.decode(n, elem, at)
		v.Set(reflect.Append(v, elem))
	}
}

func (r *reader) decodeScalar(n ast.Node, v reflect.Value, at keyPath) {
	text, ok := r.literal(n, at)
	if !ok {
		return
	}
	switch {
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Type() == reflect.TypeFor[time.Duration]():
		if d, err := time.ParseDuration(text); err == nil {
			v.SetInt(int64(d))
		} else {
			r.fault(at, "%q is not a duration; write one such as 10s, 500ms or 1m30s", text)
		}
	case v.Kind() == reflect.Bool:
		if text != "true" && text != "false" {
			r.fault(at, "%q is neither true nor false", text)
		}
		v.SetBool(text == "true")
	case v.Kind() == reflect.Int:
		if i, err := strconv.Atoi(text); err == nil {
			v.SetInt(int64(i))
		} else {
			r.fault(at, "%q is not a whole number", text)
		}
	case v.Kind() == reflect.Float64:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			v.SetFloat(f)
		} else {
			r.fault(at, "%q is not a number", text)
		}
	default:
		panic("no reader for " + v.Type().String())
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
