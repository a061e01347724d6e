package sandbox

import (
	"encoding/json"
	"time"
)

// Record is a record as the API shows it, with all its cells.
type Record struct {
	ID      string
	Created time.Time
	Fields  map[string]any
}

// Records lists a table in the order of creation. Table is an ID or a name.
func (s *Sandbox) Records(baseID, tableName string) ([]Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleDue()
	t, err := s.find(baseID, tableName)
	if err != nil {
		return nil, err
	}
	rd := t.base.reader(s.clock.now())
	out := make([]Record, len(t.records))
	for i, r := range t.records {
		out[i] = Record{ID: r.id, Created: r.created, Fields: rd.record(t, r, shape{}).Fields}
	}
	return out, nil
}

// Edit is what a person does to a record by hand.
type Edit struct {
	// Base is an ID, Table an ID or a name.
	Base, Table string
	// Record is the ID; empty to make a new record.
	Record string
	// Fields are the cells by name or ID; nil empties one.
	Fields map[string]any
	// At is when, as last modified times will say; now by default.
	At time.Time
	// By is the person's name, one of the base's people or any.
	By string
}

// Edit writes as a person at the keyboard does and returns the record's ID.
// Nothing changes when a field is unknown, computed or does not take the value.
func (s *Sandbox) Edit(e Edit) (string, error) {
	fields, err := json.Marshal(e.Fields)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleDue()
	t, err := s.find(e.Base, e.Table)
	if err != nil {
		return "", err
	}
	var r *record
	if e.Record != "" {
		if r, err = t.find(e.Record); err != nil {
			return "", err
		}
	}
	written, err := s.editByHand(t, r, edit{Fields: fields, At: e.At, By: e.By})
	if err != nil {
		return "", err
	}
	return written.id, nil
}

// Delete removes a record as a person does.
func (s *Sandbox) Delete(baseID, tableName, recordID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleDue()
	t, err := s.find(baseID, tableName)
	if err != nil {
		return err
	}
	r, err := t.find(recordID)
	if err != nil {
		return err
	}
	tx := s.begin(t.base, t.base.human(""), s.clock.now())
	tx.destroy(t, r)
	tx.finish()
	return nil
}

// editByHand writes as a person does; a nil record makes a new one.
func (s *Sandbox) editByHand(t *table, r *record, e edit) (*record, error) {
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
	return written, nil
}

// human is a person at the keyboard: one of the base's people by name, email
// or ID, or somebody of that name.
func (b *base) human(name string) actor {
	for _, known := range b.people {
		if name != "" && (known.Name == name || known.Email == name || known.ID == name) {
			return actor{person: known, label: name, source: "client", role: roleEdit}
		}
	}
	if name == "" {
		name = "person"
	}
	return actor{person: person{ID: fixedID("usr", "person", name), Name: name}, label: name, source: "client", role: roleEdit}
}

// RenameField gives a field another name, as a person may at any time.
func (s *Sandbox) RenameField(baseID, tableName, fieldName, to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := s.findField(baseID, tableName, fieldName)
	if err != nil {
		return err
	}
	tx := s.reshape(f.table.base)
	defer tx.finish()
	return f.rename(to)
}

// DeleteField removes a field with its cells.
func (s *Sandbox) DeleteField(baseID, tableName, fieldName string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := s.findField(baseID, tableName, fieldName)
	if err != nil {
		return err
	}
	tx := s.reshape(f.table.base)
	defer tx.finish()
	return f.remove()
}
