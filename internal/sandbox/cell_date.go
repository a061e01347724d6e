package sandbox

import (
	"encoding/json"
	"strings"
	"time"

	"airtable-replay/internal/sandbox/formula"
)

// writeDate stores YYYY-MM-DD. A full instant is taken by its date in UTC;
// what Airtable does with one is not known.
func writeDate(_ *writer, f *field, v any) (any, error) {
	text, ok := v.(string)
	if !ok {
		return nil, cannotAccept(f)
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.Format(time.DateOnly), nil
	}
	at, ok := parseInstant(text, time.UTC)
	if !ok {
		return nil, cannotAccept(f)
	}
	return at.Format(time.DateOnly), nil
}

// writeDateTime stores an instant in UTC. Text without an offset is read in
// the field's time zone; a number is milliseconds since 1970.
func writeDateTime(w *writer, f *field, v any) (any, error) {
	var at time.Time
	switch v := v.(type) {
	case string:
		parsed, ok := parseInstant(v, f.zone)
		if !ok {
			return nil, cannotAccept(f)
		}
		at = parsed
	case json.Number:
		ms, err := v.Float64()
		if err != nil || ms < -62135596800000 || ms > 253402300799999 {
			return nil, cannotAccept(f)
		}
		at = time.UnixMilli(int64(ms)).UTC()
	default:
		return nil, cannotAccept(f)
	}
	if w.options.Subsecond == "truncated" {
		at = at.Truncate(time.Second)
	}
	return formatTime(at), nil
}

var localLayouts = []string{
	"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly,
}

// parseInstant reads an ISO 8601 time, in zone when it names no offset.
func parseInstant(text string, zone *time.Location) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02 15:04:05Z07:00"} {
		if at, err := time.Parse(layout, strings.TrimSpace(text)); err == nil {
			return inRange(at)
		}
	}
	if zone == nil {
		zone = time.UTC
	}
	for _, layout := range localLayouts {
		if at, err := time.ParseInLocation(layout, strings.TrimSpace(text), zone); err == nil {
			return inRange(at)
		}
	}
	return time.Time{}, false
}

func inRange(at time.Time) (time.Time, bool) {
	at = at.UTC().Truncate(time.Millisecond)
	return at, at.Year() >= 1 && at.Year() <= 9999
}

func nativeDate(_ *reader, _ *field, v any) any {
	text, _ := v.(string)
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return nil
	}
	return formula.Date(day)
}

func nativeDateTime(_ *reader, _ *field, v any) any {
	text, _ := v.(string)
	at, err := time.Parse(wireTime, text)
	if err != nil {
		return nil
	}
	return at
}
