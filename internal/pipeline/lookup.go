package pipeline

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"airtable-replay/internal/config"
)

// lookup is the value at a path of a payload that inspect has passed, as a plain JSON value with
// numbers as json.Number; false where nothing stands there. It errs where a path runs through each
// element of an array and some elements lack the rest of it: leaving them out would be a guess.
func lookup(payload string, path *config.Path) (any, bool, error) {
	raw, ok, err := walk(payload, path.Segments)
	if err != nil || !ok {
		return nil, false, err
	}
	decoder := json.NewDecoder(strings.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, false, fmt.Errorf("the value at %s is unreadable: %w", path.Text, err)
	}
	return value, true, nil
}

func walk(raw string, segments []string) (string, bool, error) {
	for i, segment := range segments {
		if config.IsEach(segment) && i+1 < len(segments) {
			return walkEach(raw, segment, segments[i+1:])
		}
		found := gjson.Get(raw, segment)
		if !found.Exists() {
			return "", false, nil
		}
		raw = found.Raw
	}
	return raw, true, nil
}

func walkEach(raw, segment string, rest []string) (string, bool, error) {
	list := gjson.Parse(raw)
	if segment != "#" {
		list = list.Get(segment)
	}
	if !list.IsArray() {
		return "", false, nil
	}
	var values []string
	for n, element := range list.Array() {
		value, ok, err := walk(element.Raw, rest)
		if err != nil {
			return "", false, err
		}
		if !ok {
			return "", false, fmt.Errorf("element %d of the list has no %s", n+1, strings.Join(rest, "."))
		}
		values = append(values, value)
	}
	return "[" + strings.Join(values, ",") + "]", true, nil
}
