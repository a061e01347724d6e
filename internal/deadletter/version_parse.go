package deadletter

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

var (
	errVersionType    = errors.New("must be text or a number")
	errVersionSpaces  = errors.New("holds only spaces")
	errNumberDeclared = errors.New("is not a number, and the version is declared as one")
	errTieFraction    = errors.New("must be a whole number")
)

// ParseVersion reads a version as its source declares it, from a payload or from a record's cells.
// raw and tie are a string, a json.Number or nil; nil and "" give the zero Version. Nothing is
// guessed: a timestamp needs its zone, a number is never taken for seconds or milliseconds, and a
// number where a timestamp is declared (or the reverse) is an error. The error says what is wrong
// and how to mend it. The tie-break is read only where spec declares one.
func ParseVersion(spec VersionSpec, raw, tie any) (Version, error) {
	if raw == nil || raw == "" {
		return Version{}, nil
	}
	v, err := parseVersionValue(spec, raw)
	if err != nil {
		return Version{}, fmt.Errorf("version %s %w", clip(raw), err)
	}
	if !spec.TieBreak || tie == nil || tie == "" {
		return v, nil
	}
	if v.tie, err = parseTie(tie); err != nil {
		return Version{}, fmt.Errorf("tie-break %s %w", clip(tie), err)
	}
	v.tied = true
	return v, nil
}

func parseVersionValue(spec VersionSpec, raw any) (Version, error) {
	text, isNumber, err := versionText(raw)
	if err != nil {
		return Version{}, err
	}
	switch spec.Kind {
	case VersionTimestamp:
		if isNumber {
			return Version{}, errBareNumber
		}
		at, err := parseInstant(text)
		if err != nil {
			return Version{}, err
		}
		return Version{kind: VersionTimestamp, at: at.Truncate(spec.precision())}, nil
	case VersionNumber:
		number, err := parseDecimal(text)
		if errors.Is(err, errNotNumber) {
			return Version{}, errNumberDeclared
		}
		return Version{kind: VersionNumber, number: number}, err
	}
	return Version{}, fmt.Errorf("has the undeclared kind %q: use timestamp or number", string(spec.Kind))
}

func parseTie(tie any) (decimal, error) {
	text, _, err := versionText(tie)
	if err != nil {
		return decimal{}, err
	}
	number, err := parseDecimal(text)
	if err != nil {
		return decimal{}, err
	}
	if !number.isInteger() {
		return decimal{}, errTieFraction
	}
	return number, nil
}

// versionText is the text of a cell or payload value, and whether it came as a JSON number.
func versionText(raw any) (text string, isNumber bool, err error) {
	switch raw := raw.(type) {
	case json.Number:
		return raw.String(), true, nil
	case string:
		text := strings.TrimSpace(raw)
		if text == "" {
			return "", false, errVersionSpaces
		}
		return text, false, nil
	}
	return "", false, errVersionType
}

func (s VersionSpec) precision() time.Duration {
	if s.Precision <= 0 {
		return time.Millisecond
	}
	return s.Precision
}

// clip quotes a value for an error text, cut where it is long: payloads are never repeated whole.
func clip(v any) string {
	const limit = 60
	text, ok := v.(string)
	if number, isNumber := v.(json.Number); isNumber {
		text, ok = number.String(), true
	}
	if !ok {
		return fmt.Sprintf("(a %T)", v)
	}
	if len(text) > limit {
		cut := limit
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	return fmt.Sprintf("%q", text)
}
