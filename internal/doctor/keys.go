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

// namedKeys is how many double keys a finding names.
const namedKeys = 3

// checkKeys looks for keys that several records have: their entries would match none for certain
// (mission C6).
func (c *check) checkKeys(ctx context.Context, t *targetCheck) {
	key, ok := t.schema.Field(t.target.Table, t.target.KeyField)
	if !t.readable {
		return
	}
	fields := []string{key.Name}
	if !ok {
		fields = nil
	}
	byKey := map[string][]string{}
	t.records = 0
	for offset, more := "", true; more && (c.Records < 0 || t.records < c.Records); more = offset != "" {
		var page []airtable.Record
		err := t.line.wait(ctx)
		if err == nil {
			req := airtable.ListRequest{Base: t.line.base.ID, Table: t.table.ID, Fields: fields, PageSize: 100}
			page, offset, err = t.line.client.ListPage(ctx, req, offset)
		}
		if err != nil {
			c.refused(t.line.base, AreaTarget, err)
			t.records = -1
			return
		}
		t.records += len(page)
		for _, r := range page {
			if value := r.Fields[key.Name]; ok && value != nil && value != "" {
				byKey[fmt.Sprint(value)] = append(byKey[fmt.Sprint(value)], r.ID)
			}
		}
		if !ok {
			return // one page tells whether there are records
		}
	}
	c.tellDouble(t, byKey)
	if kind := pipeline.KindOf(key); kind == deadletter.KindComputed || kind == deadletter.KindLookup {
		c.add(AreaTarget, t.subject(key.Name), Warning, "is computed, so missing records cannot be created", "make it a single line text field, unless records are only ever updated")
	}
}

func (c *check) tellDouble(t *targetCheck, byKey map[string][]string) {
	var double []string
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		if len(byKey[key]) > 1 {
			double = append(double, fmt.Sprintf("%q (%s)", key, strings.Join(byKey[key], ", ")))
		}
	}
	if len(double) == 0 {
		return
	}
	shown := double[:min(len(double), namedKeys)]
	detail := "several records have the key " + strings.Join(shown, " and ")
	if left := len(double) - len(shown); left > 0 {
		detail += fmt.Sprintf(" and %d more keys", left)
	}
	c.add(AreaTarget, t.subject(t.target.KeyField), Fault, detail+", so no write of theirs finds its record",
		"merge the records in Airtable, or clear the key of all but one")
}

// seen tells how many records were looked at.
func (t *targetCheck) seen() string { return count(t.records, "record") + " looked at, no key twice" }
