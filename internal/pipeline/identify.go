package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"airtable-replay/internal/deadletter"
)

// Bounds, in bytes: an ID has to fit into an index and a lookup formula, a version into a column.
const (
	maxID      = 1024
	maxVersion = 200
)

// Identify reads what filing needs from a payload: the sender's ID of the record and the version. It
// takes any bytes at all, needs no schema, and answers the same for the same bytes.
func (s *Source) Identify(payload []byte) Identity {
	identity, faults, _ := s.identify(payload)
	if invalid := newInvalid(faults); invalid != nil {
		identity.Problem = invalid.Problem()
	}
	return identity
}

// identify also tells whether the payload can be read at all.
func (s *Source) identify(payload []byte) (identity Identity, faults []fault, readable bool) {
	if s.id.SHA256 {
		sum := sha256.Sum256(payload)
		identity.TargetID = hex.EncodeToString(sum[:])
	}
	if f := inspect(payload); f != nil {
		return identity, []fault{*f}, false
	}
	text := string(payload)
	if !s.id.SHA256 {
		id, f := s.readID(text)
		identity.TargetID = id
		faults = append(faults, f...)
	}
	faults = append(faults, s.readVersion(text, &identity)...)
	return identity, faults, true
}

var wholeNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

func (s *Source) readID(payload string) (string, []fault) {
	refuse := func(format string, args ...any) (string, []fault) {
		return "", []fault{newFault(s.Target.KeyField, "id", deadletter.ReasonValidationFailed, format, args...)}
	}
	value, ok, err := lookup(payload, &s.id.Path)
	if err != nil {
		return refuse("%v", err)
	}
	if !ok || value == nil {
		return refuse("the payload has no ID at %s", s.id.Text)
	}
	id, err := idText(value)
	if err != nil {
		return refuse("the ID at %s %v", s.id.Text, err)
	}
	return id, nil
}

// idText is the exact text of an ID: a string as it is, a number by its digits, a list of one by its
// element.
func idText(value any) (string, error) {
	if list, ok := value.([]any); ok && len(list) == 1 {
		value = list[0]
	}
	switch id := value.(type) {
	case string:
		switch {
		case id == "":
			return "", fmt.Errorf("is empty")
		case len(id) > maxID:
			return "", fmt.Errorf("is longer than %d bytes", maxID)
		case strings.ContainsRune(id, 0):
			return "", fmt.Errorf("holds a NUL character")
		}
		return id, nil
	case json.Number:
		if len(id) > maxID || !wholeNumber.MatchString(id.String()) {
			return "", fmt.Errorf("is %s; an ID is text or a whole number without an exponent", describe(value))
		}
		return id.String(), nil
	}
	return "", fmt.Errorf("is %s; an ID is text or a whole number", describe(value))
}

func (s *Source) readVersion(payload string, identity *Identity) []fault {
	if s.version == nil {
		return nil
	}
	refuse := func(reason deadletter.Reason, format string, args ...any) []fault {
		return []fault{newFault(s.VersionField, "version", reason, format, args...)}
	}
	raw, _, err := lookup(payload, s.version)
	if err != nil {
		return refuse(deadletter.ReasonInvalidValue, "%v", err)
	}
	var tie any
	if s.tie != nil {
		if tie, _, err = lookup(payload, s.tie); err != nil {
			return refuse(deadletter.ReasonInvalidValue, "%v", err)
		}
	}
	text := scalarText(raw)
	if len(text) > maxVersion || strings.ContainsRune(text, 0) {
		return refuse(deadletter.ReasonInvalidValue, "the version at %s is longer than %d bytes or holds a NUL character", s.version.Text, maxVersion)
	}
	identity.VersionRaw = text
	version, err := deadletter.ParseVersion(s.Spec, raw, tie)
	switch {
	case err != nil && s.unlike(raw):
		return refuse(deadletter.ReasonVersionKindMismatch, "%v", err)
	case err != nil:
		return refuse(deadletter.ReasonInvalidValue, "%v", err)
	}
	if number, ok := version.Cell().(json.Number); ok && !s.VersionText && !exactDouble(number) {
		return refuse(deadletter.ReasonInvalidValue, "version %s is not exact in a number field, which keeps about 15 digits; keep it in a text field and say text: true", show(text))
	}
	identity.Version = version
	return nil
}

// unlike tells whether a version is of the other kind than the declared one.
func (s *Source) unlike(raw any) bool {
	other := deadletter.VersionSpec{Kind: deadletter.VersionNumber}
	if s.Spec.Kind == deadletter.VersionNumber {
		other.Kind = deadletter.VersionTimestamp
	}
	_, err := deadletter.ParseVersion(other, raw, nil)
	return err == nil
}

func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}
