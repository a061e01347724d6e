package deadletter

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Empty tells whether a value reads back as an absent cell: Airtable leaves out null, "", [] and
// false. A present 0 is a value.
func Empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	}
	values, ok := list(v)
	return ok && len(values) == 0
}

// Equal tells whether writing b over a would change nothing that Airtable keeps in a field of the
// kind. Both may be values as read or as sent. In doubt they differ, which costs a write or a review,
// never a value:
//
//   - everything empty is the same (see Empty); a rich text that was cleared reads as "\n";
//   - numbers compare as decimals and as the doubles that Airtable keeps; text never equals a number;
//   - options compare by exact name; a multi-select is a set, for its options have no order;
//   - collaborators compare by ID, else by e-mail address; several of them are a set;
//   - links keep their order, since rollups and people see it;
//   - dates compare as text; times as instants, to the millisecond that a cell shows;
//   - rich text compares after Airtable's own rewriting (bullets, trailing line ends);
//   - attachments never equal unless both are empty, for their URLs change with each read;
//   - a one-element array equals its element in a lookup; a barcode is its text;
//   - any other kind, a computed one among them, compares as JSON.
func Equal(kind FieldKind, a, b any) bool {
	if blank(kind, a) || blank(kind, b) {
		return blank(kind, a) && blank(kind, b)
	}
	switch kind {
	case KindAttachments:
		return false
	case KindRichText:
		return equalBy(richText, a, b)
	case KindDateTime:
		return sameText(a, b) || equalBy(cellInstant, a, b)
	case KindSelect:
		return equalBy(optionName, a, b)
	case KindMultiSelect:
		return sameSet(a, b, optionName)
	case KindLinks:
		return sameOrder(a, b, linkID)
	case KindBarcode:
		return equalBy(barcodeText, a, b)
	case KindCollaborator:
		return samePerson(a, b)
	case KindCollaborators:
		return samePeople(a, b)
	case KindLookup:
		return sameJSON(element(a), element(b))
	}
	return sameJSON(a, b)
}

// sameRead tells whether two reads of one cell show the same value. Beyond Equal it knows
// attachments by their IDs, which a read always has and which never change.
func sameRead(kind FieldKind, a, b any) bool {
	if kind != KindAttachments || Empty(a) || Empty(b) {
		return Equal(kind, a, b)
	}
	return sameOrder(a, b, objectID)
}

func blank(kind FieldKind, v any) bool {
	if kind == KindRichText {
		text, ok := v.(string)
		return Empty(v) || ok && strings.Trim(text, "\r\n") == ""
	}
	return Empty(v)
}

// equalBy compares by a part of the values; a value without that part equals nothing.
func equalBy[T comparable](part func(any) (T, bool), a, b any) bool {
	x, ok := part(a)
	y, alsoOK := part(b)
	return ok && alsoOK && x == y
}

func sameText(a, b any) bool {
	x, ok := a.(string)
	return ok && x == b
}

var starBullet = regexp.MustCompile(`(?m)^([ \t]*)\* `)

// richText is Markdown as Airtable gives it back. Inside fenced code a star is no bullet.
func richText(v any) (string, bool) {
	text, ok := v.(string)
	if !strings.Contains(text, "```") {
		text = starBullet.ReplaceAllString(text, "$1- ")
	}
	return strings.TrimRight(text, "\n"), ok
}

func cellInstant(v any) (time.Time, bool) {
	text, ok := v.(string)
	if !ok {
		return time.Time{}, false
	}
	at, err := parseInstant(text)
	return at.Truncate(time.Millisecond), err == nil
}

func optionName(v any) (string, bool) { return nameOr(v, "name") }
func linkID(v any) (string, bool)     { return nameOr(v, "id") }
func objectID(v any) (string, bool)   { return member(v, "id") }
func barcodeText(v any) (string, bool) {
	return member(v, "text")
}

// nameOr is the value itself where it is text, else the named member: webhooks send objects where
// records hold plain names and IDs.
func nameOr(v any, key string) (string, bool) {
	if text, ok := v.(string); ok {
		return text, true
	}
	return member(v, key)
}

func member(v any, key string) (string, bool) {
	object, _ := v.(map[string]any)
	text, ok := object[key].(string)
	return text, ok && text != ""
}

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

// samePerson compares collaborators; a name may be missing and says nothing.
func samePerson(a, b any) bool {
	id, email := person(a)
	otherID, otherEmail := person(b)
	if id != "" && otherID != "" {
		return id == otherID
	}
	return email != "" && email == otherEmail
}

func person(v any) (id, email string) {
	if text, ok := v.(string); ok {
		if strings.Contains(text, "@") {
			return "", text
		}
		return text, ""
	}
	id, _ = member(v, "id")
	email, _ = member(v, "email")
	return id, email
}

// samePeople compares collaborators as sets: each has exactly one counterpart on the other side.
func samePeople(a, b any) bool {
	x, ok := list(a)
	y, alsoOK := list(b)
	if !ok || !alsoOK || len(x) != len(y) {
		return false
	}
	return reflect.DeepEqual(x, y) || pairedOnce(x, y) && pairedOnce(y, x)
}

func pairedOnce(x, y []any) bool {
	for _, a := range x {
		n := 0
		for _, b := range y {
			if samePerson(a, b) {
				n++
			}
		}
		if n != 1 {
			return false
		}
	}
	return true
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
