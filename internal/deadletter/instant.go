package deadletter

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

// maxInstantLength bounds the text of a timestamp; the longest sensible one has about 40 characters.
const maxInstantLength = 64

var (
	instantExtended = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?$`)
	instantBasic    = regexp.MustCompile(`^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(?:(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?$`)

	errNotInstant   = errors.New("is not an ISO 8601 timestamp: write it like 2026-10-05T09:00:00Z")
	errNoZone       = errors.New("has no time zone: add Z or an offset such as +02:00")
	errNoTimeOfDay  = errors.New("is a date without a time of day and a zone: write it like 2026-10-05T09:00:00Z")
	errInstantRange = errors.New("is outside the years 2 to 9999; year 1 is what an unset time looks like")
	errBareNumber   = errors.New("is a number where a timestamp is declared: seconds and milliseconds are not guessed; declare the version as a number, or send ISO 8601")
)

// parseInstant reads an ISO 8601 timestamp that carries its zone. A local time names no instant, so
// one without a zone is refused.
func parseInstant(s string) (time.Time, error) {
	if len(s) > maxInstantLength {
		return time.Time{}, errNotInstant
	}
	upper := strings.ToUpper(s)
	m := instantExtended.FindStringSubmatch(upper)
	if m == nil {
		m = instantBasic.FindStringSubmatch(upper)
	}
	if m == nil {
		return time.Time{}, explainInstant(s)
	}
	offset, err := canonicalOffset(m[8])
	if err != nil {
		return time.Time{}, err
	}
	second := m[6]
	if second == "" {
		second = "00"
	}
	fraction := m[7]
	if len(fraction) > 9 {
		fraction = fraction[:9]
	}
	t, err := time.Parse(time.RFC3339, m[1]+"-"+m[2]+"-"+m[3]+"T"+m[4]+":"+m[5]+":"+second+"."+fraction+"0"+offset)
	if err != nil {
		return time.Time{}, errNotInstant
	}
	if t = t.UTC(); !InRange(t) {
		return time.Time{}, errInstantRange
	}
	return t, nil
}

// InRange tells whether a time can be stored and written as RFC 3339: it is in the years 2 to 9999, in UTC.
// Year 1 is what an unset time looks like.
func InRange(t time.Time) bool { return t.UTC().Year() >= 2 && t.UTC().Year() <= 9999 }

// canonicalOffset turns +02, +0200 and +02:00 into +02:00.
func canonicalOffset(zone string) (string, error) {
	switch zone {
	case "":
		return "", errNoZone
	case "Z":
		return "Z", nil
	}
	hours, minutes := zone[1:3], "00"
	if len(zone) > 3 {
		minutes = zone[len(zone)-2:]
	}
	if hours > "23" || minutes > "59" {
		return "", errNotInstant
	}
	return zone[:1] + hours + ":" + minutes, nil
}

func explainInstant(s string) error {
	if _, err := time.Parse(time.DateOnly, s); err == nil {
		return errNoTimeOfDay
	}
	if _, err := parseDecimal(s); err == nil {
		return errBareNumber
	}
	return errNotInstant
}
