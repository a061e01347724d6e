package pipeline

import (
	"encoding/json"
	"errors"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
)

var errNested = errors.New("is a list in a list; an ID is text or a whole number")

// typeFaults checks a value that is not null against the field's own type (Airtable: field model).
// The value itself is never changed.
func typeFaults(field Field, f airtable.Field, value any) []fault {
	v := typing{field: field, f: f}
	switch KindOf(f) {
	case deadletter.KindText, deadletter.KindLongText, deadletter.KindRichText:
		v.text(value)
	case deadletter.KindNumber:
		v.number(value)
	case deadletter.KindCheckbox:
		if _, ok := value.(bool); !ok {
			v.wrong(value, "true or false")
		}
	case deadletter.KindSelect:
		v.option(value)
	case deadletter.KindMultiSelect:
		v.each(value, "a list of option names", v.option)
	case deadletter.KindDate:
		v.date(value)
	case deadletter.KindDateTime:
		v.dateTime(value)
	case deadletter.KindLinks:
		v.each(value, "a list of record IDs (rec…); [] clears it", v.recordID)
	case deadletter.KindCollaborator:
		v.collaborator(value)
	case deadletter.KindCollaborators:
		v.each(value, "a list of collaborators, each {id} or {email}", v.collaborator)
	case deadletter.KindAttachments:
		v.each(value, `a list of attachments, each {"url": "https://…"}`, v.attachment)
	case deadletter.KindBarcode:
		v.barcode(value)
	case deadletter.KindLookup, deadletter.KindComputed: // never written: unwritable has refused them
	}
	return v.faults
}

// typing checks values for one field and collects what is wrong with them.
type typing struct {
	field  Field
	f      airtable.Field
	faults []fault
}

func (v *typing) fault(rule string, reason deadletter.Reason, format string, args ...any) {
	v.faults = append(v.faults, newFault(v.field.Name, rule, reason, format, args...))
}

// wrong says that the value is not of the field's type, and what would be.
func (v *typing) wrong(value any, takes string) {
	hint := ""
	if value == "" {
		hint = "; send null to clear it"
	}
	v.fault("type", deadletter.ReasonInvalidValue, "is a %s field and takes %s, not %s%s", v.f.Type, takes, describe(value), hint)
}

func (v *typing) each(value any, takes string, one func(any)) {
	list, ok := value.([]any)
	if !ok {
		v.wrong(value, takes)
		return
	}
	seen := map[string]bool{}
	for _, element := range list {
		one(element)
		if text, ok := element.(string); ok && seen[text] {
			v.fault("type", deadletter.ReasonInvalidValue, "names %s twice", show(text))
		} else if ok {
			seen[text] = true
		}
	}
}

func (v *typing) text(value any) {
	text, ok := value.(string)
	if !ok {
		v.wrong(value, "text")
		return
	}
	v.plain(text)
}

// plain checks text: no NUL, which neither a cell nor our own store holds, and not too long.
func (v *typing) plain(text string) {
	if i := strings.IndexByte(text, 0); i >= 0 {
		v.fault("type", deadletter.ReasonInvalidValue, "holds a NUL character (after %d bytes), which no cell can hold", i)
	}
	if len(text) <= v.field.MaxLength {
		return // a string has at least as many bytes as UTF-16 code units
	}
	if n := len(utf16.Encode([]rune(text))); n > v.field.MaxLength {
		v.fault("max_length", deadletter.ReasonPayloadTooLarge, "is %d UTF-16 code units long; at most %d are allowed, and nothing is cut", n, v.field.MaxLength)
	}
}

func (v *typing) number(value any) {
	number, ok := value.(json.Number)
	if !ok {
		if text, isText := value.(string); isText && plainDecimal.MatchString(text) {
			v.fault("type", deadletter.ReasonInvalidValue, "is a %s field and takes a number, not %s; send it without the quotes", v.f.Type, describe(value))
			return
		}
		v.wrong(value, "a number")
		return
	}
	if !exactDouble(number) {
		v.fault("type", deadletter.ReasonInvalidValue, "%s is not exact in a %s field, which keeps about 15 digits; use a text field", show(number.String()), v.f.Type)
		return
	}
	if v.f.Type != "rating" {
		return
	}
	top := v.f.Options.Max
	if stars, err := number.Float64(); err != nil || stars < 1 || stars != float64(int(stars)) || top > 0 && stars > float64(top) {
		v.fault("type", deadletter.ReasonInvalidValue, "is a rating of 1 to %d, not %s; send null for none", max(top, 1), number)
	}
}

// exactDouble tells whether a number cell, which is a double, gives the number back: whole numbers
// and numbers of more than 15 digits before the point exactly, fractions rounded to a double's 15 to
// 17 digits.
func exactDouble(number json.Number) bool {
	text := number.String()
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || len(text) > 400 {
		return false
	}
	if f == 0 {
		return strings.Trim(mantissa(text), "-0.") == ""
	}
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return false
	}
	const fifteenDigits = 1e15
	if !exact.IsInt() && f > -fifteenDigits && f < fifteenDigits {
		return true
	}
	back, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return ok && back.Cmp(exact) == 0
}

func mantissa(number string) string {
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		return number[:i]
	}
	return number
}

func (v *typing) option(value any) {
	name, ok := value.(string)
	if !ok || name == "" {
		v.wrong(value, "an option's name")
		return
	}
	options := make([]string, 0, len(v.f.Options.Choices))
	for _, choice := range v.f.Options.Choices {
		options = append(options, choice.Name)
	}
	if slices.Contains(options, name) {
		return
	}
	text := "has no option " + show(name)
	if near := nearest(name, options); near != "" {
		text += "; the nearest is " + near
	}
	v.fault("option", deadletter.ReasonInvalidOption, "%s", text)
}

// date takes a calendar date as text, which has no zone and stays as it is (case B37).
func (v *typing) date(value any) {
	text, _ := value.(string)
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		v.wrong(value, "a calendar date as YYYY-MM-DD")
	}
}

// dateTime takes an instant. Without a zone, Airtable would read it in the field's own.
func (v *typing) dateTime(value any) {
	text, _ := value.(string)
	if _, err := time.Parse(time.RFC3339, text); err != nil || !instant.MatchString(text) {
		v.wrong(value, "a time with its zone, as 2026-10-04T08:00:00Z")
	}
}

var (
	// instant is RFC 3339 strictly: Go's parser lets a comma and a one-digit hour pass.
	instant  = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)
	recordID = regexp.MustCompile(`^rec[A-Za-z0-9]{10,}$`)
	webURL   = regexp.MustCompile(`^https?://[^\s]+$`)
)

func (v *typing) recordID(value any) {
	if id, ok := value.(string); !ok || !recordID.MatchString(id) {
		v.fault("type", deadletter.ReasonInvalidValue, "links by Airtable record IDs (rec…), not %s; to send the sender's IDs, configure the field with link: TARGET", describe(value))
	}
}

func (v *typing) collaborator(value any) {
	person, _ := value.(map[string]any)
	id, _ := person["id"].(string)
	email, _ := person["email"].(string)
	if id == "" && email == "" || v.strange(person, "id", "email", "name") {
		v.wrong(value, `a collaborator as {"id": "usr…"} or {"email": "…"}`)
	}
}

func (v *typing) attachment(value any) {
	file, _ := value.(map[string]any)
	id, _ := file["id"].(string)
	address, _ := file["url"].(string)
	if id == "" && !webURL.MatchString(address) || v.strange(file, "id", "url", "filename") {
		v.wrong(value, `attachments as {"url": "https://…", "filename": "…"}`)
	}
}

func (v *typing) barcode(value any) {
	code, _ := value.(map[string]any)
	text, ok := code["text"].(string)
	if !ok || text == "" || v.strange(code, "text", "type") {
		v.wrong(value, `a barcode as {"text": "…"}`)
		return
	}
	v.plain(text)
}

// strange tells whether an object has keys beyond the known ones, or values that are not text.
func (v *typing) strange(object map[string]any, known ...string) bool {
	for key, value := range object {
		if text, ok := value.(string); !ok || strings.ContainsRune(text, 0) || !slices.Contains(known, key) {
			return true
		}
	}
	return false
}
