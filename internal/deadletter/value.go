package deadletter

import (
	"regexp"
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
	case KindText, KindLongText, KindNumber, KindCheckbox, KindDate, KindComputed:
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
