package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// names are what the exchanges so far have bound: "rec A" => "recXXX".
type names map[string]string

var placeholder = regexp.MustCompile(`<([a-z]+)( [A-Z])?(\+1)?>`)

// put replaces the placeholders of a request by what they are bound to.
func (n names) put(text string) (string, error) {
	var unbound error
	out := placeholder.ReplaceAllStringFunc(text, func(p string) string {
		value, ok := n[strings.Trim(p, "<>")]
		if !ok {
			unbound = fmt.Errorf("%s is not known yet", p)
		}
		return value
	})
	return out, unbound
}

// shapes are the kinds of placeholders that an answer may have.
var shapes = map[string]*regexp.Regexp{
	"rec": regexp.MustCompile(`^rec[0-9A-Za-z]{14}$`),
	// A whole second, as all recorded stamps are.
	"stamp":  regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$`),
	"number": regexp.MustCompile(`^\d+$`),
	"any":    regexp.MustCompile(``),
}

// answered is an answer as far as the body needs to know it.
type answered struct {
	names names
	date  time.Time // its Date header
}

// compare tells what of the body is not as expected; nothing when all is. Keys
// must be the same, unless the pattern has the key "...".
func (a answered) compare(pattern, body string) error {
	want, err := decode(pattern)
	if err != nil {
		return fmt.Errorf("pattern: %w", err)
	}
	got, err := decode(body)
	if err != nil {
		return fmt.Errorf("body %q: %w", body, err)
	}
	return a.value("$", want, got)
}

func decode(text string) (any, error) {
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	var v any
	return v, dec.Decode(&v)
}

func (a answered) value(path string, want, got any) error {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: want an object, got %v", path, got)
		}
		return a.object(path, want, object)
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Errorf("%s: want a list of %d, got %v", path, len(want), got)
		}
		for i := range want {
			if err := a.value(fmt.Sprintf("%s[%d]", path, i), want[i], list[i]); err != nil {
				return err
			}
		}
		return nil
	case json.Number:
		number, ok := got.(json.Number)
		if !ok || !sameNumber(want, number) {
			return fmt.Errorf("%s: want %s, got %v", path, want, got)
		}
		return nil
	case string:
		return a.text(path, want, got)
	}
	if want != got {
		return fmt.Errorf("%s: want %v, got %v", path, want, got)
	}
	return nil
}

func sameNumber(a, b json.Number) bool {
	x, errX := a.Float64()
	y, errY := b.Float64()
	return errX == nil && errY == nil && x == y
}

func (a answered) object(path string, want, got map[string]any) error {
	_, open := want["..."]
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if key == "..." {
			continue
		}
		value, ok := got[key]
		if !ok {
			return fmt.Errorf("%s.%s: is missing", path, key)
		}
		if err := a.value(path+"."+key, want[key], value); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, known := want[key]; !known && !open {
			return fmt.Errorf("%s.%s: was not expected, got %v", path, key, got[key])
		}
	}
	return nil
}

// text compares a string, which may be a placeholder: it is bound where it
// stands first and has to be the same from then on. <fresh X> is a stamp that
// equals the Date header or is one second ahead of it.
func (a answered) text(path, want string, got any) error {
	p := placeholder.FindStringSubmatch(want)
	if p == nil || p[0] != want || (shapes[p[1]] == nil && p[1] != "fresh") {
		bound, err := a.names.put(want)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if bound != got {
			return fmt.Errorf("%s: want %q, got %v", path, bound, got)
		}
		return nil
	}
	text := fmt.Sprint(got)
	kind, name := p[1], p[1]+p[2]
	if kind == "fresh" {
		kind, name = "stamp", "stamp"+p[2]
		at, err := time.Parse(time.RFC3339, text)
		if ahead := at.Sub(a.date); err != nil || ahead < 0 || ahead > time.Second {
			return fmt.Errorf("%s: want the second of %s or the next one, got %v", path, a.date.Format(time.RFC3339), got)
		}
	}
	if !shapes[kind].MatchString(text) {
		return fmt.Errorf("%s: want %s, got %v", path, want, got)
	}
	bound, known := a.names[name]
	if p[3] != "" {
		n, err := strconv.Atoi(bound)
		if err != nil {
			return fmt.Errorf("%s: %s is not known yet", path, want)
		}
		bound = strconv.Itoa(n + 1)
	}
	if known && bound != text {
		return fmt.Errorf("%s: want %s, which is %s, got %s", path, want, bound, text)
	}
	if p[2] != "" && !known {
		a.names[name] = text
	}
	return nil
}
