package pipeline

import (
	"encoding/json"
	"errors"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
)

// TargetFault is one thing that is wrong between a target's configuration and its table.
type TargetFault struct {
	Target string
	FieldError
}

// Faults holds all targets of a base against its schema, without any payload: missing, computed and
// mistyped fields, guards that do not watch what they should, links to other tables, rules that suit
// no value of their field, two targets on one table (mission T4). It is empty when all is well.
func (b *Book) Faults(base string, s *Schema) []TargetFault {
	var found []TargetFault
	byTable := map[string]string{}
	for _, t := range b.TargetsOf(base) {
		add := func(faults ...fault) {
			for _, f := range faults {
				found = append(found, TargetFault{t.Name, f.FieldError})
			}
		}
		table, ok := s.table(t.Table)
		if !ok {
			add(newFault("", "exists", deadletter.ReasonUnknownField, "no table %s in the base %s", show(t.Table), base))
			continue
		}
		if first, taken := byTable[table.ID]; taken {
			add(newFault("", "exists", deadletter.ReasonUnknownField, "its table %s is the table of the target %s already", show(table.Name), first))
		}
		byTable[table.ID] = t.Name
		add(b.roleFaultsOf(t, table)...)
		for _, name := range t.FieldNames() {
			add(t.fieldFaults(s, table, t.Fields[name])...)
		}
	}
	return found
}

// roleFaultsOf lists each role fault once, though several sources may have it.
func (b *Book) roleFaultsOf(t *Target, table *table) []fault {
	var faults []fault
	seen := map[fault]bool{}
	for _, s := range append(b.Sources(), &Source{Target: t}) {
		if s.Target != t {
			continue
		}
		for _, f := range s.roleFaults(table) {
			if !seen[f] {
				faults = append(faults, f)
			}
			seen[f] = true
		}
	}
	return faults
}

func (t *Target) fieldFaults(s *Schema, table *table, field Field) []fault {
	f, ok := table.fields[field.Name]
	if !ok {
		return []fault{table.unknown(field.Name)}
	}
	var faults []fault
	if guard := table.guardFault(field, f); guard != nil {
		faults = append(faults, *guard)
	}
	switch computed := unwritable(f); {
	case computed != nil:
		return append(faults, *computed)
	case field.Link != "":
		if wrong := linkFault(s, f, t.links[field.Name]); wrong != nil {
			faults = append(faults, *wrong)
		}
	case !ruleSuits(field.Rules, f):
		faults = append(faults, newFault(field.Name, "rules", deadletter.ReasonValidationFailed,
			"the rules %q suit no value of a %s field", field.Rules, f.Type))
	}
	return faults
}

// ruleSuits tries rules on a value of the field's kind.
func ruleSuits(tags string, f airtable.Field) bool {
	sample, ok := samples[KindOf(f)]
	if !ok {
		sample = "text"
	}
	return !errors.As(tryForms(tags, sample), new(misfit))
}

// samples are values of the kinds that are not told to rules as text.
var samples = map[deadletter.FieldKind]any{
	deadletter.KindNumber: json.Number("1"), deadletter.KindCheckbox: true,
	deadletter.KindMultiSelect: []any{"text"}, deadletter.KindLinks: []any{"text"},
	deadletter.KindCollaborators: []any{"text"}, deadletter.KindAttachments: []any{"text"},
}
