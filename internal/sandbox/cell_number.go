package sandbox

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// writeNumber stores a double, as Airtable does: digits past 2^53 are lost on
// the way in. Text needs typecast.
func writeNumber(w *writer, f *field, v any) (any, error) {
	text, isText := v.(string)
	if number, ok := v.(json.Number); ok {
		text = number.String()
	} else if !isText || !w.typecast {
		return nil, cannotAccept(f)
	}
	if isText {
		text = strings.NewReplacer("$", "", "€", "", "£", "", ",", "", " ", "").Replace(text)
	}
	text, isPercent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return nil, cannotAccept(f)
	}
	if isPercent {
		n /= 100
	}
	if n == 0 {
		n = 0 // no negative zero
	}
	return n, nil
}

// writeRating takes a whole number from 1 to the field's maximum.
func writeRating(w *writer, f *field, v any) (any, error) {
	stored, err := writeNumber(w, f, v)
	if err != nil {
		return nil, err
	}
	n, _ := stored.(float64)
	if n != math.Trunc(n) || n < 1 || n > float64(f.max) {
		return nil, cannotAccept(f)
	}
	return n, nil
}

// writeCheckbox stores true or nothing.
func writeCheckbox(w *writer, f *field, v any) (any, error) {
	ticked, ok := v.(bool)
	if text, isText := v.(string); isText && w.typecast {
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true", "checked", "yes", "1":
			ticked, ok = true, true
		case "false", "unchecked", "no", "0", "":
			ok = true
		}
	}
	if !ok {
		return nil, cannotAccept(f)
	}
	if !ticked {
		return nil, nil
	}
	return true, nil
}
