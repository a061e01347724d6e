package pipeline

import (
	"maps"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
)

// Schema is a base's schema as read once: tables by name or ID, fields by name. It does not change
// and is safe for concurrent use; a nil Schema has no tables.
type Schema struct {
	tables map[string]*table // by name and by ID
}

type table struct {
	airtable.Table
	fields map[string]airtable.Field // by name
	names  map[string]string         // field ID to its name now
	known  map[string]string         // every name that a field has or had, to its ID
}

// NewSchema reads the tables of a base.
func NewSchema(tables []airtable.Table) *Schema {
	s := &Schema{tables: map[string]*table{}}
	for _, t := range tables {
		entry := &table{
			Table: t, fields: map[string]airtable.Field{}, names: map[string]string{}, known: map[string]string{},
		}
		for _, f := range t.Fields {
			entry.fields[f.Name], entry.names[f.ID], entry.known[f.Name] = f, f.Name, f.ID
		}
		s.tables[t.ID] = entry
	}
	for _, t := range tables {
		s.tables[t.Name] = s.tables[t.ID]
	}
	return s
}

// After is the schema with the memory of an earlier one of the same base, so that Validate can name
// a field's new name when a configured one is gone (case B38). Memory adds up over several schemas.
func (s *Schema) After(prev *Schema) *Schema {
	next := &Schema{tables: maps.Clone(s.tables)}
	if prev == nil {
		return next
	}
	for ref, t := range next.tables {
		before, ok := prev.tables[t.ID]
		if !ok {
			continue
		}
		with := *t
		with.known = maps.Clone(before.known)
		maps.Copy(with.known, t.known)
		next.tables[ref] = &with
	}
	return next
}

// Table is the table of a name or ID.
func (s *Schema) Table(ref string) (airtable.Table, bool) {
	t, ok := s.table(ref)
	if !ok {
		return airtable.Table{}, false
	}
	return t.Table, true
}

// Field is a field by table (name or ID) and exact field name.
func (s *Schema) Field(ref, name string) (airtable.Field, bool) {
	t, ok := s.table(ref)
	if !ok {
		return airtable.Field{}, false
	}
	f, ok := t.fields[name]
	return f, ok
}

// Kind is the kind of a field; false when the schema does not have it.
func (s *Schema) Kind(ref, name string) (deadletter.FieldKind, bool) {
	f, ok := s.Field(ref, name)
	return KindOf(f), ok
}

// RenamedFrom is the name that a field of an earlier schema bears now. It is for wording errors
// only: nothing is ever written through a rename.
func (s *Schema) RenamedFrom(prev *Schema, ref, field string) (newName string, ok bool) {
	before, ok := prev.table(ref)
	if !ok {
		return "", false
	}
	now, ok := s.table(before.ID)
	if !ok {
		return "", false
	}
	id, ok := before.known[field]
	if !ok {
		return "", false
	}
	newName, ok = now.names[id]
	return newName, ok && newName != field
}

func (s *Schema) table(ref string) (*table, bool) {
	if s == nil {
		return nil, false
	}
	t, ok := s.tables[ref]
	return t, ok
}

// kinds groups Airtable's field types (Airtable: field model).
var kinds = map[string]deadletter.FieldKind{
	"singleLineText": deadletter.KindText, "email": deadletter.KindText, "url": deadletter.KindText,
	"phoneNumber": deadletter.KindText, "multilineText": deadletter.KindLongText,
	"richText": deadletter.KindRichText,
	"number":   deadletter.KindNumber, "currency": deadletter.KindNumber, "percent": deadletter.KindNumber,
	"duration": deadletter.KindNumber, "rating": deadletter.KindNumber,
	"checkbox": deadletter.KindCheckbox, "singleSelect": deadletter.KindSelect,
	"multipleSelects": deadletter.KindMultiSelect, "date": deadletter.KindDate,
	"dateTime": deadletter.KindDateTime, "multipleRecordLinks": deadletter.KindLinks,
	"singleCollaborator": deadletter.KindCollaborator, "multipleCollaborators": deadletter.KindCollaborators,
	"multipleAttachments": deadletter.KindAttachments, "barcode": deadletter.KindBarcode,
	"multipleLookupValues": deadletter.KindLookup, "lookup": deadletter.KindLookup,
}

// KindOf is the kind of a field. Types that cannot be written, or that are not known here, are
// KindComputed; a field without a type has no kind.
func KindOf(f airtable.Field) deadletter.FieldKind {
	if f.Type == "" {
		return ""
	}
	if kind, ok := kinds[f.Type]; ok {
		return kind
	}
	return deadletter.KindComputed
}
