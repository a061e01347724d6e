package sandbox

import (
	"encoding/json"
	"time"
)

// plan is a whole request's writes, found valid before anything is touched:
// a batch with one bad cell changes nothing.
type plan struct {
	now    time.Time
	items  []*planned
	linked []*planned // records that typecast creates in linked tables
	minted map[*field][]*choice
}

// planned is one record's part of it.
type planned struct {
	table  *table
	record *record // nil: to be created
	id     string
	values []cellValue
}

type cellValue struct {
	field *field
	value any
}

func newPlan(now time.Time) *plan {
	return &plan{now: now, minted: map[*field][]*choice{}}
}

// mintRecord plans a record of a linked table with the text as its name, once
// for the request.
func (p *plan) mintRecord(w *writer, t *table, name string) (string, error) {
	for _, item := range p.linked {
		if item.table == t && item.values[0].value == any(name) {
			return item.id, nil
		}
	}
	if !t.primary.texty() {
		return "", cannotAccept(t.primary)
	}
	item := &planned{table: t, id: newID("rec"), values: []cellValue{{t.primary, name}}}
	p.linked = append(p.linked, item)
	return item.id, nil
}

// fieldValue is a value sent for a field, not yet checked.
type fieldValue struct {
	field *field
	value any
}

// parseFields reads a record's "fields" object. An unknown name is reported
// before any value is looked at.
func (t *table) parseFields(raw json.RawMessage) ([]fieldValue, error) {
	o, err := parseObject(raw)
	if err != nil {
		return nil, invalidRequest()
	}
	var values []fieldValue
	at := map[*field]int{}
	for _, name := range o.keys {
		f := t.field(name)
		if f == nil {
			return nil, unknownField(name)
		}
		v, err := decodeValue(o.values[name])
		if err != nil {
			return nil, invalidRequest()
		}
		if i, twice := at[f]; twice {
			values[i].value = v
			continue
		}
		at[f] = len(values)
		values = append(values, fieldValue{f, v})
	}
	return values, nil
}

// add checks the values for a record (nil: a new one) and puts them on the plan.
func (w *writer) add(t *table, r *record, values []fieldValue) (*planned, error) {
	item := &planned{table: t, record: r}
	if r == nil {
		item.id = newID("rec")
	} else {
		item.id = r.id
	}
	for _, v := range values {
		var current any
		if r != nil {
			current = r.cells[v.field.id]
		}
		cell, err := w.cell(v.field, current, v.value)
		if err != nil {
			return nil, err
		}
		item.values = append(item.values, cellValue{v.field, cell})
	}
	w.plan.items = append(w.plan.items, item)
	return item, nil
}

// clearOthers completes a PUT: every writable field that was not sent is emptied.
func (t *table) clearOthers(values []fieldValue) []fieldValue {
	sent := map[*field]bool{}
	for _, v := range values {
		sent[v.field] = true
	}
	for _, f := range t.fields {
		if !f.kind.computed && !sent[f] {
			values = append(values, fieldValue{f, nil})
		}
	}
	return values
}
