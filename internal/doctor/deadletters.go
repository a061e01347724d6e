package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/config"
	"airtable-replay/internal/mirror"
)

// checkDeadLetters holds the dead letter table to the columns that it is to have (mission T1).
func (c *check) checkDeadLetters(b *config.Base, tables []airtable.Table) {
	d := c.File.DeadLetters
	if d == nil || d.Base != b.Name {
		return
	}
	at := slices.IndexFunc(tables, func(t airtable.Table) bool { return t.Name == d.Table || t.ID == d.Table })
	if at < 0 {
		c.noDeadLetters(b, d, tables)
		return
	}
	table, before := tables[at], len(c.list)
	lacks := mirror.Missing(table)
	for i := range lacks {
		level := Warning
		if lacks[i].Name == mirror.KeyField {
			level = Fault
		}
		c.add(AreaDeadLetters, table.Name+": "+lacks[i].Name, level, "is missing", "run airtable-replay setup").
			missing = &missing{base: b.ID, table: table, field: lacks[i], mirrored: true}
	}
	c.checkColumns(table, lacks)
	if state := c.bases[b.Name]; !state.MirrorHeldUntil.IsZero() {
		c.add(AreaDeadLetters, table.Name, Warning, fmt.Sprintf("gets no rows until %s: %s", state.MirrorHeldUntil.UTC().Format(time.RFC3339), state.MirrorProblem),
			"mend what it says; the rows then go on by themselves")
	}
	c.wellSince(before, AreaDeadLetters, table.Name, fmt.Sprintf("has all %d fields", len(mirror.Columns())))
}

// noDeadLetters tells that there is no dead letter table. It can be made, unless another one looks as if
// it had been that: then people's button and automations are there.
func (c *check) noDeadLetters(b *config.Base, d *config.DeadLetters, tables []airtable.Table) {
	detail := fmt.Sprintf("there is no table %q in the base", d.Table)
	renamed := slices.IndexFunc(tables, func(t airtable.Table) bool { return len(mirror.Missing(t)) < len(mirror.Columns())/2 })
	switch {
	case renamed >= 0:
		c.add(AreaDeadLetters, d.Table, Fault, fmt.Sprintf("%s, but %q has its fields", detail, tables[renamed].Name),
			fmt.Sprintf("name it under dead_letters.table: %q, or %s", tables[renamed].Name, tables[renamed].ID))
	case strings.HasPrefix(d.Table, "tbl"):
		c.add(AreaDeadLetters, d.Table, Fault, detail, "give dead_letters.table its name or ID as it is now; or a new name, and run airtable-replay setup to have it made")
	default:
		c.add(AreaDeadLetters, d.Table, Fault, detail, "run airtable-replay setup, which makes it; or give dead_letters.table its name or ID as it is now").
			missing = &missing{base: b.ID, table: airtable.Table{Name: d.Table, Fields: mirror.Columns()}, mirrored: true}
	}
}

// checkColumns tells what the fields that are there cannot take.
func (c *check) checkColumns(table airtable.Table, lacks []airtable.Field) {
	for _, want := range mirror.Columns() {
		if slices.ContainsFunc(lacks, func(f airtable.Field) bool { return f.Name == want.Name }) {
			continue
		}
		// The table is judged with this column of its own and with every other as it should be.
		alone := airtable.Table{Name: table.Name, Fields: mirror.Columns()}
		for i := range alone.Fields {
			if alone.Fields[i].Name == want.Name {
				alone.Fields[i] = fieldOf(table, want.Name)
			}
		}
		faults := mirror.Check(alone)
		if len(faults) == 0 {
			continue
		}
		level, fix := Warning, "make it a field of type "+words(want.Type)
		switch {
		case want.Name == mirror.KeyField:
			level = Fault
		case len(want.Options.Choices) > 0:
			fix = "make it a single select with the options " + strings.Join(names(want.Options.Choices), ", ") + ": the API cannot add options"
		}
		for i := range faults {
			faults[i], _, _ = strings.Cut(strings.TrimPrefix(faults[i], fmt.Sprintf("table %q: field %q ", table.Name, want.Name)), ": ")
		}
		c.add(AreaDeadLetters, table.Name+": "+want.Name, level, strings.Join(faults, ", "), fix)
	}
}

func fieldOf(table airtable.Table, name string) airtable.Field {
	return table.Fields[slices.IndexFunc(table.Fields, func(f airtable.Field) bool { return f.Name == name })]
}

func names(choices []airtable.Choice) []string {
	out := make([]string, len(choices))
	for i, c := range choices {
		out[i] = c.Name
	}
	return out
}
