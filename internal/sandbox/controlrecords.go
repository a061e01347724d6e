package sandbox

import (
	"encoding/json"
	"net/http"
	"time"
)

func (c *control) records() (any, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.settleDue()
	t, err := c.table(c.param("base"), c.param("table"))
	if err != nil {
		return nil, err
	}
	rd := t.base.reader(c.s.clock.now())
	out := recordsJSON{Records: make([]recordJSON, len(t.records))}
	for i, r := range t.records {
		out.Records[i] = rd.record(t, r, shape{})
	}
	return out, nil
}

// edit is what a person does to a record by hand.
type edit struct {
	Fields json.RawMessage `json:"fields"`
	// At is when; now by default.
	At time.Time `json:"at"`
	// By is the person's name.
	By string `json:"by"`
}

func (c *control) createRecord() (any, error) {
	return c.edit(func(t *table) (*record, error) { return nil, nil })
}

func (c *control) editRecord() (any, error) {
	return c.edit(func(t *table) (*record, error) { return c.record(t) })
}

func (c *control) record(t *table) (*record, error) {
	id := c.param("record")
	if r := t.byID[id]; r != nil {
		return r, nil
	}
	return nil, refuse(http.StatusNotFound, "record: table %q has no record %q", t.name, id)
}

func (c *control) edit(find func(*table) (*record, error)) (any, error) {
	var e edit
	if err := c.decode(&e); err != nil {
		return nil, err
	}
	if !isObject(e.Fields) {
		return nil, refuse(http.StatusUnprocessableEntity, "fields: an object of field names and values is needed")
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.settleDue()
	t, err := c.table(c.param("base"), c.param("table"))
	if err != nil {
		return nil, err
	}
	r, err := find(t)
	if err != nil {
		return nil, err
	}
	return c.s.editByHand(t, r, e)
}

// editByHand writes as a person does; a nil record makes a new one.
func (s *Sandbox) editByHand(t *table, r *record, e edit) (any, error) {
	values, err := t.parseFields(e.Fields)
	if err != nil {
		return nil, err
	}
	at := e.At
	if at.IsZero() {
		at = s.clock.now()
	}
	w := &writer{options: s.options, base: t.base, plan: newPlan(at)}
	if _, err := w.add(t, r, values); err != nil {
		return nil, err
	}
	tx := s.begin(t.base, t.base.human(e.By), at.UTC())
	written := tx.apply(w.plan)[0]
	tx.finish()
	return t.base.reader(s.clock.now()).record(t, written, shape{}), nil
}

func (c *control) deleteRecord() (any, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.settleDue()
	t, err := c.table(c.param("base"), c.param("table"))
	if err != nil {
		return nil, err
	}
	r, err := c.record(t)
	if err != nil {
		return nil, err
	}
	tx := c.s.begin(t.base, t.base.human(""), c.s.clock.now())
	tx.destroy(t, r)
	tx.finish()
	return deletedJSON{Deleted: true, ID: r.id}, nil
}

// human is a person at the keyboard: one of the base's people by name or
// email, or somebody of that name.
func (b *base) human(name string) actor {
	p := person{ID: fixedID("usr", "person", name), Name: name}
	for _, known := range b.people {
		if name != "" && (known.Name == name || known.Email == name || known.ID == name) {
			p = known
		}
	}
	if name == "" {
		p.Name = "Person"
	}
	label := name
	if label == "" {
		label = "person"
	}
	return actor{person: p, label: label, source: "client"}
}
