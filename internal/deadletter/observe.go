package deadletter

import "time"

// Fate is what is known about a write of ours that was sent (R2).
type Fate string

// The fates of a write. FateOpen means: not known yet, the record rests.
const (
	FateOpen      Fate = "open"
	FateLanded    Fate = "landed"
	FateNotLanded Fate = "not_landed"
	FateUnknown   Fate = "unknown" // may have been written; never reported as "nothing was written"
)

// Intent is a write that was stored durably before it was sent (mission P5, R2).
type Intent struct {
	ID       string
	Creates  bool           // an upsert of a key that matched nothing
	RecordID string         // empty when Creates
	Fields   map[string]any // the payload fields that were sent
	Before   map[string]any // their values as read before the write; nil for an empty cell
	Version  Version        // the version that was sent; zero: none
	// VersionBefore is the record's version as read before the write; zero: blank.
	VersionBefore Version
	// MayLandUntil is the instant after which no attempt of it can land any more (R4b).
	MayLandUntil time.Time
}

// Sighting is what a fresh read says about an intent.
type Sighting struct {
	Fate      Fate
	RecordID  string // the record that holds the write, when landed
	ByContent bool   // recognised by equal values alone, for want of a stamp and a version
}

// Observe tells from a fresh read whether a write of ours has landed (R2). matches are the records
// that the read found by key or by ID; stampField is the stamp field that the write carried, empty
// where its target had none; now is the instant of the read, on the clock of MayLandUntil. In order:
//
//   - the stamp, which only we write: the intent's means landed, another one not landed;
//   - the version, where the intent changed it: the intent's means landed; where the record shows it
//     without fractions of a second, every value as sent bears it out;
//   - the content, where no version tells: every value as sent, one of them changed, means landed;
//   - everything as read before means not landed.
//
// Landed is known at once. Everything else is known only once no attempt can land any more, and is
// open until then; what fits none of these stays unknown, a newer version on the record included.
func Observe(in Intent, matches []Record, stampField string, now time.Time, fields map[string]Field) Sighting {
	o := observation{in, stampField, fields}
	record, found := o.record(matches)
	if found {
		if landed, byContent := o.landed(record); landed {
			return Sighting{Fate: FateLanded, RecordID: record.ID, ByContent: byContent}
		}
	}
	switch {
	case now.Before(in.MayLandUntil):
		return Sighting{Fate: FateOpen}
	case found && o.untouched(record), in.Creates && len(matches) == 0:
		return Sighting{Fate: FateNotLanded}
	}
	return Sighting{Fate: FateUnknown}
}

// observation is an intent with what is needed to recognise it.
type observation struct {
	in         Intent
	stampField string
	fields     map[string]Field
}

// record is the one record that the intent was about. Of several rows with a new key it is the one
// that carries the stamp; two of those are one landing too many, and nobody's.
func (o observation) record(matches []Record) (Record, bool) {
	var candidates []Record
	for _, r := range matches {
		switch {
		case o.in.Creates && len(matches) > 1 && !o.stamped(r):
		case !o.in.Creates && r.ID != o.in.RecordID:
		default:
			candidates = append(candidates, r)
		}
	}
	if len(candidates) != 1 {
		return Record{}, false
	}
	return candidates[0], true
}

func (o observation) stamped(r Record) bool {
	return o.stampField != "" && r.Fields[o.stampField] == any(o.in.ID)
}

func (o observation) landed(r Record) (landed, byContent bool) {
	switch {
	case o.stampField != "":
		return o.stamped(r), false
	case o.versionTells() && !r.VersionUnreadable && sameVersion(r.Version, o.in.Version):
		return true, false
	case o.versionTells():
		byContent = o.cutVersion(r) && o.holds(r, o.in.Fields)
		return byContent, byContent
	}
	byContent = o.versionUntouched(r) && o.holds(r, o.in.Fields) && o.changesSomething()
	return byContent, byContent
}

// cutVersion tells whether the record shows the version that was sent without its fractions of a
// second, which some cells do not keep, and showed another one before.
func (o observation) cutVersion(r Record) bool {
	return !r.VersionUnreadable && sameVersion(r.Version, o.in.Version.wholeSecond()) && !sameVersion(r.Version, o.in.VersionBefore)
}

func sameVersion(a, b Version) bool {
	c, ok := a.Compare(b)
	return ok && c == 0
}

// versionTells tells whether the write gave the record another version than it had.
func (o observation) versionTells() bool {
	c, ok := o.in.Version.Compare(o.in.VersionBefore)
	return !o.in.Version.IsZero() && (!ok || c != 0)
}

func (o observation) versionUntouched(r Record) bool {
	if r.VersionUnreadable {
		return false
	}
	if r.Version.IsZero() || o.in.VersionBefore.IsZero() {
		return r.Version.IsZero() && o.in.VersionBefore.IsZero()
	}
	c, ok := r.Version.Compare(o.in.VersionBefore)
	return ok && c == 0
}

// holds tells whether the record reads as if every given value had been written.
func (o observation) holds(r Record, values map[string]any) bool {
	for name := range o.in.Fields {
		if !sameRead(o.fields[name].Kind, r.Fields[name], values[name]) {
			return false
		}
	}
	return true
}

// changesSomething tells whether the write was to change any value at all.
func (o observation) changesSomething() bool {
	for name, value := range o.in.Fields {
		if !Equal(o.fields[name].Kind, o.in.Before[name], value) {
			return true
		}
	}
	return false
}

// untouched tells whether the record shows for certain that the write is not on it. A creation that
// finds a record without its stamp was forestalled; without stamps nobody can tell.
func (o observation) untouched(r Record) bool {
	if o.stampField != "" {
		return true
	}
	return !o.in.Creates && o.versionUntouched(r) && o.holds(r, o.in.Before)
}

// SameWrite tells whether a plan is the same write as an intent: same record, fields and version.
// Only such a plan may be sent as a further attempt of the intent (R3, R4b).
func SameWrite(p Plan, in Intent) bool {
	if !p.Writes() || in.Creates != (p.Action == ActionCreate) || !p.Version.Equal(in.Version) {
		return false
	}
	return (in.Creates || p.RecordID == in.RecordID) && sameObject(p.Fields, in.Fields)
}
