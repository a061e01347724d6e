package deadletter

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// VersionKind says how a sender counts (mission C1). Unlike kinds are never compared.
type VersionKind string

// The two kinds of version.
const (
	VersionTimestamp VersionKind = "timestamp"
	VersionNumber    VersionKind = "number"
)

// VersionSpec is how one source's version is read, compared and stored.
type VersionSpec struct {
	Kind      VersionKind
	Precision time.Duration // timestamps: the precision at which versions are stored and compared; 0 means 1 ms
	TieBreak  bool          // an integer beside a timestamp
}

// Version is a sender's timestamp or version number of one payload (mission C1). The zero Version
// means that there is none. Versions are values: copy them freely; == holds only between versions
// that are alike in every part, so compare them with Compare.
type Version struct {
	kind   VersionKind
	at     time.Time // UTC, truncated to the precision
	number decimal
	tie    decimal
	tied   bool // a tie-break was given
}

// IsZero tells whether there is no version.
func (v Version) IsZero() bool { return v.kind == "" }

// Kind is the kind of the version; empty for the zero Version.
func (v Version) Kind() VersionKind { return v.kind }

// Compare orders two versions: negative when v is older than w, 0 when they are the same, positive
// when v is newer. It answers false, and nothing else may be concluded, when the kinds differ or
// either version is zero. A missing tie-break counts as 0.
func (v Version) Compare(w Version) (int, bool) {
	if v.kind == "" || v.kind != w.kind {
		return 0, false
	}
	c := v.number.compare(w.number)
	if v.kind == VersionTimestamp {
		c = v.at.Compare(w.at)
	}
	if c == 0 {
		c = v.tie.compare(w.tie)
	}
	return c, true
}

// Equal tells whether two versions are alike in every part, a missing tie-break included. It is for
// telling writes apart and for tests; decisions use Compare.
func (v Version) Equal(w Version) bool { return v == w }

// Later is the later of two versions, or the one that exists; of two that are the same it is a. It is
// zero when the kinds differ, since then neither is known to be later.
func Later(a, b Version) Version {
	if a.IsZero() || b.IsZero() {
		if a.IsZero() {
			return b
		}
		return a
	}
	c, ok := a.Compare(b)
	switch {
	case !ok:
		return Version{}
	case c < 0:
		return b
	}
	return a
}

// wholeSecond is the version as a cell shows it that cuts fractions of a second off.
func (v Version) wholeSecond() Version {
	v.at = v.at.Truncate(time.Second)
	return v
}

// Time is the instant of a timestamp version, in UTC; false for numbers and the zero Version.
func (v Version) Time() (time.Time, bool) { return v.at, v.kind == VersionTimestamp }

// String is the version in canonical form, for people: an RFC 3339 time in UTC or a number, then the
// tie-break after a #. It is empty for the zero Version.
func (v Version) String() string {
	var text string
	switch v.kind {
	case VersionTimestamp:
		text = v.at.Format(time.RFC3339Nano)
	case VersionNumber:
		text = v.number.String()
	}
	if v.tied {
		text += "#" + v.tie.String()
	}
	return text
}

// cellLayouts hold a timestamp in a cell: milliseconds as Airtable writes them, more where needed.
const (
	cellMillis = "2006-01-02T15:04:05.000Z07:00"
	cellMicros = "2006-01-02T15:04:05.000000Z07:00"
	cellNanos  = "2006-01-02T15:04:05.000000000Z07:00"
)

// Cell is what goes into Airtable's version field: RFC 3339 in UTC with at least milliseconds, a
// json.Number, or nil for the zero Version. A version field of a text type takes String of it.
func (v Version) Cell() any {
	switch v.kind {
	case VersionNumber:
		return json.Number(v.number.String())
	case VersionTimestamp:
		layout := cellMillis
		if v.at.Nanosecond()%int(time.Millisecond) != 0 {
			layout = cellMicros
		}
		if v.at.Nanosecond()%int(time.Microsecond) != 0 {
			layout = cellNanos
		}
		return v.at.Format(layout)
	}
	return nil
}

// Tie is what goes into Airtable's tie-break field: a json.Number, or nil where the version has no
// tie-break. Nil is to be written too: the tie-break of an older version must not stay behind.
func (v Version) Tie() any {
	if !v.tied {
		return nil
	}
	return json.Number(v.tie.String())
}

// MarshalText writes the version without loss, for storage: kind, colon, String; empty for zero.
func (v Version) MarshalText() ([]byte, error) {
	if v.IsZero() {
		return []byte{}, nil
	}
	return []byte(string(v.kind) + ":" + v.String()), nil
}

var errVersionText = errors.New(`stored version is not "timestamp:…" or "number:…"`)

// UnmarshalText reads what MarshalText wrote.
func (v *Version) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*v = Version{}
		return nil
	}
	kind, rest, ok := strings.Cut(string(text), ":")
	if !ok || rest == "" {
		return errVersionText
	}
	value, tie, tied := strings.Cut(rest, "#")
	spec := VersionSpec{Kind: VersionKind(kind), Precision: time.Nanosecond, TieBreak: tied}
	parsed, err := ParseVersion(spec, value, tie)
	if err != nil {
		return fmt.Errorf("read stored version: %w", err)
	}
	if parsed.tied != tied || parsed.IsZero() {
		return errVersionText
	}
	*v = parsed
	return nil
}
