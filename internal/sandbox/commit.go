package sandbox

import (
	"reflect"
	"slices"
	"time"
)

// actor is who makes a change, and through what.
type actor struct {
	person  person
	label   string // as the log of changes names it
	source  string // as webhooks name it: client, publicApi, automation
	role    role
	request int // the API request, 0 for none
}

// commit is one transaction of a base: it applies changes that were checked
// before, and hands them to the log, the webhooks and the automations.
type commit struct {
	s         *Sandbox
	base      *base
	by        actor
	at        time.Time // the sandbox's clock
	stamp     time.Time // what last modified times will say
	turn      int
	changes   []*cellChange
	created   map[*record]*table
	destroyed map[*record]*table
	before    outline // the schema, where the commit changes it
	reshaped  *schemaChange
}

func (s *Sandbox) begin(b *base, by actor, at time.Time) *commit {
	s.lastTurn++
	return &commit{s: s, base: b, by: by, at: at, stamp: s.options.stamp(at), turn: s.lastTurn,
		created: map[*record]*table{}, destroyed: map[*record]*table{}}
}

// apply carries out a plan and returns its records in order.
func (c *commit) apply(p *plan) []*record {
	if len(p.minted) > 0 {
		c.reshapes()
	}
	for f, choices := range p.minted {
		f.choices = append(f.choices, choices...)
	}
	for _, item := range p.linked {
		c.carryOut(item)
	}
	records := make([]*record, len(p.items))
	for i, item := range p.items {
		records[i] = c.carryOut(item)
	}
	return records
}

func (c *commit) carryOut(item *planned) *record {
	r, isNew := item.record, item.record == nil
	if isNew {
		r = c.create(item.table, item.id)
	}
	before := len(c.changes)
	for _, v := range item.values {
		c.set(item.table, r, v.field, v.value, true)
	}
	if isNew && len(c.changes) == before {
		c.changes = append(c.changes, &cellChange{table: item.table, record: r, kind: changeCreate})
	}
	return r
}

func (c *commit) create(t *table, id string) *record {
	t.lastSeq++
	t.lastNumber++
	r := &record{id: id, seq: t.lastSeq, number: t.lastNumber, created: c.stamp, createdBy: c.by.person,
		cells: map[string]any{}, stamps: map[string]stamp{}}
	t.records = append(t.records, r)
	t.byID[id] = r
	for field, ix := range t.indexes {
		ix.add(r.cells[field], r)
	}
	t.touched(r)
	c.created[r] = t
	return r
}

// set changes one cell, and the other end of a link with it.
func (c *commit) set(t *table, r *record, f *field, value any, bump bool) {
	old := r.cells[f.id]
	if c.put(t, r, f, value, bump) && f.inverse != nil {
		c.mirrorLinks(r, f, old, value)
	}
}

// put stores a cell and says whether its value is another one now. bump says
// whether that counts as an edit, which a link set from its other end may not.
func (c *commit) put(t *table, r *record, f *field, value any, bump bool) bool {
	old := r.cells[f.id]
	same := reflect.DeepEqual(old, value)
	t.touched(r)
	if bump && (!same || c.s.options.SameValueBumps) {
		r.stamps[f.id] = stamp{at: c.stamp, by: c.by.person, turn: c.turn}
	}
	if same {
		return false
	}
	change := &cellChange{table: t, record: r, field: f, kind: changeUpdate, old: old, new: value}
	switch {
	case c.destroyed[r] != nil:
		change.kind = changeDelete
	case c.created[r] != nil:
		change.kind = changeCreate
	}
	c.changes = append(c.changes, change)
	if value == nil {
		delete(r.cells, f.id)
	} else {
		r.cells[f.id] = value
	}
	t.reindex(f, r, old, value)
	c.fetch(f, r, value)
	return true
}

// mirrorLinks keeps the field at the other end of a link in step.
func (c *commit) mirrorLinks(r *record, f *field, old, now any) {
	before, _ := old.([]string)
	after, _ := now.([]string)
	bump := c.s.options.InverseLinkBumps
	for _, id := range before {
		if other := f.linked.byID[id]; other != nil && !slices.Contains(after, id) {
			c.relink(other, f, bump, func(ids []string) []string {
				return slices.DeleteFunc(ids, func(x string) bool { return x == r.id })
			})
		}
	}
	for _, id := range after {
		if other := f.linked.byID[id]; other != nil && !slices.Contains(before, id) {
			c.relink(other, f, bump, func(ids []string) []string {
				if slices.Contains(ids, r.id) {
					return ids
				}
				return append(ids, r.id)
			})
		}
	}
}

// relink edits the other end, which is not mirrored back.
func (c *commit) relink(other *record, f *field, bump bool, edit func([]string) []string) {
	held, _ := other.cells[f.inverse.id].([]string)
	var value any
	if ids := edit(slices.Clone(held)); len(ids) > 0 {
		value = ids
	}
	c.put(f.linked, other, f.inverse, value, bump)
}

// destroy deletes a record and takes it out of every link.
func (c *commit) destroy(t *table, r *record) {
	c.destroyed[r] = t
	for _, other := range c.base.tables {
		for _, f := range other.fields {
			if f.linked == t && !f.kind.computed {
				c.unlink(other, f, r.id)
			}
		}
	}
	for _, f := range t.fields {
		if old := r.cells[f.id]; old != nil {
			c.changes = append(c.changes, &cellChange{table: t, record: r, field: f, kind: changeDelete, old: old})
		}
	}
	for field, ix := range t.indexes {
		ix.remove(r.cells[field], r)
	}
	t.touched(r)
	t.records = slices.DeleteFunc(t.records, func(x *record) bool { return x == r })
	delete(t.byID, r.id)
}

func (c *commit) unlink(t *table, f *field, id string) {
	for _, r := range t.records {
		ids, _ := r.cells[f.id].([]string)
		if !slices.Contains(ids, id) {
			continue
		}
		var value any
		if left := slices.DeleteFunc(slices.Clone(ids), func(x string) bool { return x == id }); len(left) > 0 {
			value = left
		}
		c.set(t, r, f, value, c.s.options.InverseLinkBumps)
	}
}

// finish tells everybody who listens. The commit must not be used afterwards.
func (c *commit) finish() {
	if c.before != nil {
		c.reshaped = c.before.until(c.base.outline())
		c.base.reshaped()
	}
	if len(c.changes) == 0 && len(c.destroyed) == 0 && c.reshaped.none() {
		return
	}
	c.base.transactions++
	c.s.recordChanges(c)
	c.s.stirred()
	c.s.notifyHooks(c)
	c.s.triggerAutomations(c)
}
