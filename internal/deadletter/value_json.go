package deadletter

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
)

func sameOrder(a, b any, part func(any) (string, bool)) bool {
	x, ok := parts(a, part)
	y, alsoOK := parts(b, part)
	return ok && alsoOK && slices.Equal(x, y)
}

func sameSet(a, b any, part func(any) (string, bool)) bool {
	x, ok := parts(a, part)
	y, alsoOK := parts(b, part)
	slices.Sort(x)
	slices.Sort(y)
	return ok && alsoOK && slices.Equal(x, y)
}

func parts(v any, part func(any) (string, bool)) ([]string, bool) {
	values, ok := list(v)
	if !ok {
		return nil, false
	}
	texts := make([]string, 0, len(values))
	for _, value := range values {
		text, ok := part(value)
		if !ok {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, true
}

// element is the only element of a one-element array, else the value itself.
func element(v any) any {
	if values, ok := list(v); ok && len(values) == 1 {
		return values[0]
	}
	return v
}

// sameJSON compares values as JSON, numbers by value.
func sameJSON(a, b any) bool {
	if x, ok := numberText(a); ok {
		y, alsoOK := numberText(b)
		return alsoOK && sameNumber(x, y)
	}
	if x, ok := list(a); ok {
		y, alsoOK := list(b)
		return alsoOK && slices.EqualFunc(x, y, sameJSON)
	}
	if x, ok := a.(map[string]any); ok {
		y, alsoOK := b.(map[string]any)
		return alsoOK && sameObject(x, y)
	}
	return reflect.DeepEqual(a, b)
}

func sameObject(x, y map[string]any) bool {
	if len(x) != len(y) {
		return false
	}
	for key, value := range x {
		other, ok := y[key]
		if !ok || !sameJSON(value, other) {
			return false
		}
	}
	return true
}

// sameNumber compares exactly, then as doubles: a number cell keeps no more than that.
func sameNumber(a, b string) bool {
	x, err := parseDecimal(a)
	if err != nil {
		return a == b
	}
	y, err := parseDecimal(b)
	if err != nil {
		return false
	}
	if x == y {
		return true
	}
	f, err := strconv.ParseFloat(x.String(), 64)
	g, otherErr := strconv.ParseFloat(y.String(), 64)
	return err == nil && otherErr == nil && f == g
}

func numberText(v any) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return v.String(), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	}
	return "", false
}

// list is an array however it was built: decoded from JSON or by our own code.
func list(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []string:
		values := make([]any, len(v))
		for i, text := range v {
			values[i] = text
		}
		return values, true
	}
	return nil, false
}
