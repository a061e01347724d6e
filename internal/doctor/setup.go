package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/mirror"
)

// missing is a field that Airtable's schema API can make, or a whole table: then it has no ID and the
// fields that it is to get.
type missing struct {
	base     string // ID
	table    airtable.Table
	field    airtable.Field
	mirrored bool // of the dead letter table
}

// Addition is a field that setup adds, or a table with all its fields.
type Addition struct {
	Table string `json:"table"`
	Field string `json:"field"` // empty: the table itself
	Type  string `json:"type"`  // Airtable's word for the field; of a table: table
	Added bool   `json:"added"`
	// Problem says why it could not be added; empty when it was, and when nothing was tried.
	Problem string `json:"problem,omitempty"`
}

// Work is what setup did, or would do.
type Work struct {
	Additions []Addition `json:"additions"`
	// ByHand is what only a person can mend.
	ByHand []Finding `json:"by_hand"`
	// Unread names the bases whose tables could not be looked at: what they lack is not known.
	Unread []string `json:"unread,omitempty"`
	// Remirrored says that every entry's row will be sent again, to fill the new fields.
	Remirrored bool `json:"remirrored"`
}

// Failed tells whether an addition was tried in vain.
func (w Work) Failed() bool {
	return slices.ContainsFunc(w.Additions, func(a Addition) bool { return a.Problem != "" })
}

// tableText describes the dead letter table to people who come across it.
const tableText = "Dead letters of airtable-replay: writes that failed, with the Replay button's box."

// Setup adds the fields that are missing and that the schema API can make: the dead letter table
// or its fields, stamps, and version fields of empty tables. A dry run only tells. After an addition to the dead
// letter table the rows of all entries are due once every process has looked at the table anew.
func Setup(ctx context.Context, c Config, dryRun bool) (Work, error) {
	c.Records = 1 // enough to know whether a table is empty
	work := Work{Additions: []Addition{}, ByHand: []Finding{}}
	found, err := c.inspect(ctx, func(ctx context.Context, run *check) error {
		err := run.everySchema(ctx)
		work.Unread = run.unread
		return err
	})
	if err != nil {
		return Work{}, err
	}
	mirrored := false
	for _, f := range found {
		if f.missing == nil {
			work.ByHand = append(work.ByHand, f.Finding)
			continue
		}
		a := Addition{Table: f.missing.table.Name, Field: f.missing.field.Name, Type: f.missing.field.Type}
		if f.missing.table.ID == "" {
			a.Type = "table"
		}
		if !dryRun {
			a.Problem = c.provide(ctx, f.missing)
			a.Added = a.Problem == ""
			mirrored = mirrored || a.Added && f.missing.mirrored
		}
		work.Additions = append(work.Additions, a)
	}
	work.ByHand = slices.DeleteFunc(work.ByHand, func(f Finding) bool { return f.Level == OK })
	if mirrored && c.Store != nil {
		if err := c.Store.RemirrorEntries(ctx, mirror.LayoutAge); err != nil {
			return work, err
		}
		work.Remirrored = true
	}
	return work, ctx.Err()
}

// everySchema looks at what setup could mend: the tables, by way of the tokens.
func (c *check) everySchema(ctx context.Context) error {
	for _, name := range slices.Sorted(maps.Keys(c.File.Bases)) {
		b := c.File.Bases[name]
		l := c.dial(b)
		if tables, ok := c.readSchema(ctx, l); ok {
			c.checkTables(ctx, l, tables)
		} else {
			c.unread = append(c.unread, name)
		}
		l.close()
		if ctx.Err() != nil {
			return fmt.Errorf("look at base %s: %w", name, ctx.Err())
		}
	}
	return nil
}

// provide makes a field or a table; the answer says why it could not, and is empty when it was made.
func (c Config) provide(ctx context.Context, m *missing) string {
	var l *line
	for _, b := range c.File.Bases {
		if b.ID == m.base {
			l = (&check{Config: c}).dial(b)
		}
	}
	defer l.close()
	err := l.wait(ctx)
	switch {
	case err != nil:
	case m.table.ID == "":
		_, err = l.client.CreateTable(ctx, m.base, m.table.Name, tableText, m.table.Fields)
	default:
		_, err = l.client.CreateField(ctx, m.base, m.table.ID, m.field)
	}
	if err == nil {
		return ""
	}
	if refusal, ok := errors.AsType[*airtable.Error](err); ok && refusal.Status == http.StatusForbidden {
		return fmt.Sprintf("the token may not change the base's tables: give it the scope %s for this once, and see that its user has the creator's role; or do it by hand", scopeSetup)
	}
	return err.Error()
}
