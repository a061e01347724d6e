package pipeline

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
)

// unknown words the fault of a configured field that the table does not have: with its new name
// where it was renamed, else with the name that comes nearest.
func (t *table) unknown(name string) fault {
	text := "no field " + show(name) + " in table " + t.Name
	if id, ok := t.known[name]; ok {
		if now, ok := t.names[id]; ok {
			text += "; field " + id + " is now " + show(now)
		} else {
			text += "; field " + id + " was deleted"
		}
	} else if near := nearest(name, slices.Sorted(maps.Keys(t.fields))); near != "" {
		text += "; the nearest is " + near
	}
	return newFault(name, "exists", deadletter.ReasonUnknownField, "%s", text)
}

// unwritable is the fault of a field that takes no values; nil for one that does.
func unwritable(f airtable.Field) *fault {
	kind := KindOf(f)
	if kind != deadletter.KindComputed && kind != deadletter.KindLookup {
		return nil
	}
	text := "is a %s field, which Airtable computes; take it out of the source's fields"
	if !slices.Contains(computedTypes, f.Type) {
		text = "is of the type %s, which this service does not know how to write"
	}
	found := newFault(f.Name, "computed", deadletter.ReasonComputedField, text, f.Type)
	return &found
}

// computedTypes are the field types that Airtable fills by itself (Airtable: field model).
var computedTypes = []string{
	"formula", "rollup", "count", "autoNumber", "multipleLookupValues", "lookup", "createdTime", "lastModifiedTime",
	"createdBy", "lastModifiedBy", "button", "aiText", "externalSyncSource", "manualSort",
}

// linkFault refuses a configured link field that does not link to the target's table.
func linkFault(s *Schema, f airtable.Field, target *Target) *fault {
	linked, ok := s.Table(target.Table)
	if ok && f.Type == "multipleRecordLinks" && f.Options.LinkedTableID == linked.ID {
		return nil
	}
	found := newFault(f.Name, "exists", deadletter.ReasonUnknownField,
		"is no link to the table %s, as link: %s says; it is a %s field", show(target.Table), target.Name, f.Type)
	return &found
}

// guardFault refuses a guard that would read as "never changed" (mission C2, C4): one that is
// missing, is no Last modified time, or watches other fields.
func (t *table) guardFault(field Field, f airtable.Field) *fault {
	if field.Guard == "" {
		return nil
	}
	guard, ok := t.fields[field.Guard]
	if !ok {
		found := t.unknown(field.Guard)
		return &found
	}
	watched := guard.Options.ReferencedFieldIDs
	var found fault
	switch {
	case guard.Type != "lastModifiedTime":
		found = newFault(field.Guard, "guard", deadletter.ReasonUnknownField,
			"is a %s field and cannot guard %s; it has to be a Last modified time field", guard.Type, field.Name)
	case len(watched) > 0 && !slices.Contains(watched, f.ID):
		found = newFault(field.Guard, "guard", deadletter.ReasonUnknownField,
			"does not watch %s; add it to the fields that the Last modified time looks at", field.Name)
	default:
		return nil
	}
	return &found
}

// roleFaults refuses a table that lacks a field which the checks rely on, or has it of a type that
// cannot do its work.
func (s *Source) roleFaults(t *table) []fault {
	var faults []fault
	role := func(name, does string, types ...string) {
		f, ok := t.fields[name]
		switch {
		case name == "":
		case !ok:
			faults = append(faults, t.unknown(name))
		case len(types) > 0 && !slices.Contains(types, f.Type):
			faults = append(faults, newFault(name, "exists", deadletter.ReasonUnknownField,
				"is a %s field and cannot hold %s; it has to be of the type %s", f.Type, does, strings.Join(types, " or ")))
		}
	}
	role(s.Target.KeyField, "the key")
	role(s.Target.BusinessDate, "the business date")
	role(s.Target.Stamp, "the stamp", textTypes...)
	role(s.TieField, "the tie-break", "number")
	switch {
	case s.VersionText:
		role(s.VersionField, "version numbers as text", textTypes...)
	case s.Spec.Kind == deadletter.VersionNumber:
		role(s.VersionField, "version numbers (in a text field: say text: true)", "number")
	default:
		role(s.VersionField, "the version", append([]string{"dateTime"}, textTypes...)...)
	}
	if f := t.fields[s.VersionField]; f.Type == "dateTime" && s.Spec.Precision > 0 && s.Spec.Precision < time.Millisecond {
		faults = append(faults, newFault(s.VersionField, "exists", deadletter.ReasonUnknownField,
			"is a dateTime field, which keeps milliseconds; make it a text field, or the precision 1ms"))
	}
	return faults
}

var textTypes = []string{"singleLineText", "multilineText"}

// plainDecimal is a number as it is written once only: no exponent, no leading or trailing zeros.
var plainDecimal = regexp.MustCompile(`^(0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)\.[0-9]*[1-9])$`)

// keyFaults refuses a key that its field cannot hold exactly: the same record would have two keys.
func keyFaults(target *Target, t *table, key string) []fault {
	f := t.fields[target.KeyField]
	if key == "" || KindOf(f) != deadletter.KindNumber {
		return nil
	}
	if !plainDecimal.MatchString(key) || !exactDouble(json.Number(key)) {
		return []fault{newFault(target.KeyField, "id", deadletter.ReasonInvalidValue,
			"the ID %s is not a number that a %s field holds exactly; make it a text field", show(key), f.Type)}
	}
	return nil
}

// linkedKeyFaults is keyFaults for a key of another target, named under the link field.
func linkedKeyFaults(field string, s *Schema, target *Target, key string) []fault {
	t, ok := s.table(target.Table)
	if !ok {
		return nil
	}
	faults := keyFaults(target, t, key)
	for i := range faults {
		faults[i].Field, faults[i].Rule = field, "link"
	}
	return faults
}
