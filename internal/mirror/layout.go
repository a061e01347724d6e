package mirror

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"airtable-replay/internal/airtable"
)

// LayoutAge is how long a table that lacks something is believed to lack it.
const LayoutAge = 10 * time.Minute

// layout is the dead letter table as its schema said.
type layout struct {
	fields map[string]airtable.Field // by name
	faults []string                  // what the table lacks
	readAt time.Time                 // on the shared clock
	fresh  bool                      // read since the last refusal that could be about the schema
}

// tableError says that the table cannot be written at all.
type tableError struct{ text string }

func (e *tableError) Error() string { return e.text }

// Check tells what is to be mended in a dead letter table, in sentences for people (mission T4); none
// where all is well.
func Check(table airtable.Table) []string {
	var faults []string
	for _, c := range columns() {
		at := slices.IndexFunc(table.Fields, func(f airtable.Field) bool { return f.Name == c.field.Name })
		if at < 0 {
			faults = append(faults, fmt.Sprintf("table %q has no field %q (%s): add it, or run setup", table.Name, c.field.Name, c.field.Type))
			continue
		}
		faults = append(faults, checkField(table.Name, table.Fields[at], c.field)...)
	}
	return faults
}

// checkField tries the values that the column is made for.
func checkField(table string, has, wants airtable.Field) []string {
	samples := []any{"text"}
	switch wants.Type {
	case "number":
		samples = []any{digits(1)}
	case "dateTime":
		samples = []any{time.Unix(1, 0)}
	case "checkbox":
		samples = []any{false}
	case "singleSelect":
		samples = nil
		for _, c := range wants.Options.Choices {
			samples = append(samples, c.Name)
		}
	}
	if has.Type == "singleSelect" && len(wants.Options.Choices) == 0 && wants.Type != "checkbox" {
		samples = nil // any options may do; those that a value lacks are named when it comes
	}
	if has.Name == KeyField && !mergeable(has) {
		return []string{fmt.Sprintf("table %q: field %q has type %s, by which no row can be found: make it single line text", table, has.Name, has.Type)}
	}
	var faults []string
	for _, v := range samples {
		p := &pen{at: has.Name, limit: cellLimit}
		if _, fault := p.fit(has, v); fault != "" {
			faults = append(faults, fmt.Sprintf("table %q: field %q %s", table, has.Name, fault))
		}
	}
	return faults
}

// mergeable tells whether rows can be found by texts in the field (Airtable: update multiple records).
func mergeable(f airtable.Field) bool { return f.Type == "singleLineText" || f.Type == "multilineText" }

// Missing lists the fields that a dead letter table lacks, as they are best made (mission T4).
func Missing(table airtable.Table) []airtable.Field {
	return slices.DeleteFunc(Columns(), func(want airtable.Field) bool {
		return slices.ContainsFunc(table.Fields, func(f airtable.Field) bool { return f.Name == want.Name })
	})
}

// layoutNow is the table's layout; where it is not known, one request is sent. A table that lacked
// something is looked at again after a while.
func (m *Mirror) layoutNow(ctx context.Context) (*layout, error) {
	known := m.known()
	if known != nil && len(known.faults) == 0 {
		return known, nil
	}
	now, err := m.Store.Now(ctx)
	if err != nil || known != nil && now.Sub(known.readAt) < LayoutAge {
		return known, err
	}
	if err := m.Pacer.Wait(ctx, m.BaseName, 1); err != nil {
		return nil, err
	}
	tables, err := m.Client.Schema(ctx, m.BaseID)
	if err != nil {
		return nil, err
	}
	next, err := m.readLayout(tables)
	if err != nil {
		return nil, err
	}
	next.readAt, next.fresh = now, true
	for _, fault := range next.faults {
		m.warnOnce(ctx, fault)
	}
	m.learn(next)
	return next, nil
}

func (m *Mirror) readLayout(tables []airtable.Table) (*layout, error) {
	at := slices.IndexFunc(tables, func(t airtable.Table) bool { return t.Name == m.Table || t.ID == m.Table })
	if at < 0 {
		return nil, &tableError{fmt.Sprintf("the base has no table %q: name the dead letter table as it is called now", m.Table)}
	}
	out := &layout{fields: map[string]airtable.Field{}, faults: Check(tables[at])}
	for _, f := range tables[at].Fields {
		out.fields[f.Name] = f
	}
	if key, ok := out.fields[KeyField]; !ok || !mergeable(key) {
		first := slices.IndexFunc(out.faults, func(text string) bool { return strings.Contains(text, KeyField) })
		return nil, &tableError{out.faults[first]}
	}
	return out, nil
}

func (m *Mirror) known() *layout {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.layout
}

func (m *Mirror) learn(l *layout) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.layout = l
}

// Problems tells what the dead letter table lacked when it was last looked at, in sentences for
// people.
func (m *Mirror) Problems() []string {
	if l := m.known(); l != nil {
		return slices.Clone(l.faults)
	}
	return nil
}
