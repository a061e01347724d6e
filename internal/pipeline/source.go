package pipeline

import (
	"encoding/json"
	"maps"
	"slices"

	"airtable-replay/internal/config"
	"airtable-replay/internal/deadletter"
)

// Source is how one sender's payloads are read. It is not to be changed.
type Source struct {
	Name         string
	Target       *Target
	Sends        deadletter.Sends
	Versionless  bool   // its payloads have no versions at all (mission C5)
	VersionField string // where its versions are kept on the record; empty: none
	TieField     string // empty: none
	Spec         deadletter.VersionSpec
	VersionText  bool              // the version field is a text field that holds numbers
	Reextract    *config.Reextract // nil: the sender cannot be asked

	id         config.KeyPath
	version    *config.Path
	tie        *config.Path
	fields     map[string]*config.Path
	fieldNames []string // sorted
}

func newSource(file *config.File, c *config.Source, t *Target) *Source {
	s := &Source{
		Name: c.Name, Target: t, Sends: c.Sends, Versionless: c.Version == nil, Reextract: c.Reextract,
		id: c.ID, version: c.Version, tie: c.Tie, fields: c.Fields,
		fieldNames: slices.Sorted(maps.Keys(c.Fields)),
	}
	if v := file.VersionOf(c); v != nil {
		s.VersionField, s.Spec, s.VersionText = v.Field, v.Spec(), v.Text
		if v.TieBreak != nil {
			s.TieField = v.TieBreak.Field
		}
	}
	return s
}

// VersionFields lists the source's version and tie-break fields, as ReadFields takes them.
func (s *Source) VersionFields() []string {
	return slices.DeleteFunc([]string{s.VersionField, s.TieField}, func(field string) bool { return field == "" })
}

// FieldNames lists the target's fields that the source's payloads carry, sorted.
func (s *Source) FieldNames() []string { return slices.Clone(s.fieldNames) }

// ReadVersion is the version that a record's cells hold for this source, zero when blank. The error
// says that the cell holds something that is not of the declared kind.
func (s *Source) ReadVersion(cells map[string]any) (deadletter.Version, error) {
	if s.VersionField == "" {
		return deadletter.Version{}, nil
	}
	return deadletter.ParseVersion(s.Spec, cells[s.VersionField], cells[s.TieField])
}

// VersionCells are the cells to write for a version: the version field and, where there is one, the
// tie-break field. It is empty for the zero version and for a source without a version field.
func (s *Source) VersionCells(v deadletter.Version) map[string]any {
	if v.IsZero() || s.VersionField == "" {
		return nil
	}
	cells := map[string]any{s.VersionField: v.Cell()}
	if number, ok := v.Cell().(json.Number); ok && s.VersionText {
		cells[s.VersionField] = number.String()
	}
	if s.TieField != "" {
		cells[s.TieField] = v.Tie()
	}
	return cells
}
