package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
)

// targetCheck is one target with its table.
type targetCheck struct {
	line     *line
	book     *pipeline.Book
	target   *pipeline.Target
	schema   *pipeline.Schema
	tables   []airtable.Table
	table    airtable.Table
	readable bool // records can be read
	records  int  // seen by checkKeys; -1: not read
}

// checkTarget holds a table to its target's configuration.
func (c *check) checkTarget(ctx context.Context, t *targetCheck) {
	table, ok := t.schema.Table(t.target.Table)
	if !ok {
		c.add(AreaTarget, t.target.Name, Fault, fmt.Sprintf("there is no table %q in the base", t.target.Table),
			fmt.Sprintf("give targets.%s.table its name or ID as it is now (there are %s)", t.target.Name, tableNames(t.tables)))
		return
	}
	t.table, t.records = table, -1
	before := len(c.list)
	c.checkKeys(ctx, t)
	c.checkRules(t)
	c.checkGuards(t)
	c.checkChoices(t)
	what := fmt.Sprintf("table %q has %s as configured", table.Name, count(len(t.target.ReadFields(t.target.VersionFields()...)), "field"))
	if t.records >= 0 {
		what += "; " + t.seen()
	}
	c.wellSince(before, AreaTarget, t.target.Name, what)
}

func tableNames(tables []airtable.Table) string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = fmt.Sprintf("%q", t.Name)
	}
	return strings.Join(names, ", ")
}

// checkRules tells what the pipeline would refuse, and how to mend it.
func (c *check) checkRules(t *targetCheck) {
	for _, f := range c.book.Faults(t.line.base.Name, t.schema) {
		if f.Target != t.target.Name {
			continue
		}
		fix, makes := t.mend(f.FieldError)
		c.add(AreaTarget, t.subject(f.Field), Fault, f.Detail, fix).missing = makes
	}
}

func (t *targetCheck) subject(field string) string {
	if field == "" {
		return t.target.Name
	}
	return t.target.Name + ": " + field
}

// mend says what to do about a fault, and what setup can make of it.
func (t *targetCheck) mend(f pipeline.FieldError) (string, *missing) {
	_, there := t.schema.Field(t.target.Table, f.Field)
	switch {
	case f.Field == "":
		return fmt.Sprintf("give each target a table of its own: see targets.%s.table", t.target.Name), nil
	case !there:
		return t.mendMissing(f.Field)
	case f.Rule == "guard":
		return t.mendGuard(f.Field), nil
	case f.Rule == "rules":
		return fmt.Sprintf("change targets.%s.fields.%s.rules, or the field's type", t.target.Name, f.Field), nil
	case f.Rule == "computed":
		return fmt.Sprintf("take %s out of targets.%s.fields and of its sources' fields, or make it a field that can be edited", f.Field, t.target.Name), nil
	}
	return "change the field's type in Airtable, or name another field in the configuration", nil
}

// mendMissing says how to come by a field that the table does not have. A version field is made in an
// empty table alone: beside records, a new one says of each that the sender has never written it, and
// then an older payload could win over what a renamed field holds.
func (t *targetCheck) mendMissing(name string) (string, *missing) {
	made := func(f airtable.Field) *missing {
		return &missing{base: t.line.base.ID, table: t.table, field: f}
	}
	const renamed = "if it was renamed, name it in the configuration as it is called now; "
	version := t.versionField(name)
	switch {
	case len(t.guarded(name)) > 0:
		return renamed + "else " + t.mendGuard(name), nil
	case name == t.target.Stamp:
		return renamed + "else run airtable-replay setup", made(airtable.Field{Name: name, Type: "singleLineText", Description: stampText})
	case version.Name != "" && t.records == 0:
		return renamed + "else run airtable-replay setup", made(version)
	case version.Name != "":
		return renamed + fmt.Sprintf("else add a field of type %s by hand: while it is empty, the sender counts as never having written these records", words(version.Type)), nil
	case name == t.target.KeyField:
		return renamed + "else add a single line text field and fill in the sender's ID of every record", nil
	}
	return renamed + "else add it in Airtable", nil
}

const stampText = "Marks the last write of airtable-replay. Not to be edited by hand."

// versionField is a version or tie-break field as it is best made; without a name when it is neither.
func (t *targetCheck) versionField(name string) airtable.Field {
	if !slices.Contains(t.target.VersionFields(), name) {
		return airtable.Field{}
	}
	f := airtable.Field{Name: name, Type: "dateTime", Description: "The sender's version of the record. Not to be edited by hand.", Options: airtable.FieldOptions{
		DateFormat: &airtable.Format{Name: "iso", Format: "YYYY-MM-DD"}, TimeFormat: &airtable.Format{Name: "24hour", Format: "HH:mm"}, TimeZone: "utc",
	}}
	for _, s := range t.sources() {
		switch {
		case s.TieField == name || s.VersionField == name && s.Spec.Kind == deadletter.VersionNumber && !s.VersionText:
			f.Type, f.Options = "number", airtable.FieldOptions{Precision: new(int)}
		case s.VersionField == name && s.VersionText:
			f.Type, f.Options = "singleLineText", airtable.FieldOptions{}
		}
	}
	return f
}

func words(fieldType string) string {
	switch fieldType {
	case "dateTime":
		return "date with time"
	case "singleLineText":
		return "single line text"
	case "multilineText":
		return "long text"
	}
	return fieldType
}

// sources lists those that feed the target.
func (t *targetCheck) sources() []*pipeline.Source {
	return slices.DeleteFunc(t.book.Sources(), func(s *pipeline.Source) bool { return s.Target != t.target })
}

// guarded lists the fields that a Last modified time field is to watch.
func (t *targetCheck) guarded(guard string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(t.target.Fields)) {
		if t.target.Fields[name].Guard == guard {
			names = append(names, name)
		}
	}
	return names
}

func (t *targetCheck) mendGuard(guard string) string {
	return fmt.Sprintf("in Airtable, open the table %q and make %q a field of type Last modified time, with \"Specific fields\" set to %s alone and with the time shown; the API cannot make such fields",
		t.table.Name, guard, strings.Join(t.guarded(guard), " and "))
}
