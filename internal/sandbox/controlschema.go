package sandbox

import (
	"net/http"
	"slices"
)

// breakField renames or deletes a field, as a person may at any time, or adds
// one that the schema API would refuse to create.
func (c *control) breakField() (any, error) {
	var order struct {
		Base     string     `json:"base"`
		Table    string     `json:"table"`
		Field    string     `json:"field"`
		RenameTo string     `json:"rename_to"`
		Delete   bool       `json:"delete"`
		Create   *fieldSpec `json:"create"`
	}
	if err := c.decode(&order); err != nil {
		return nil, err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.settleDue()
	t, err := c.s.find(order.Base, order.Table)
	if err != nil {
		return nil, err
	}
	f := t.field(order.Field)
	tx := c.s.reshape(t.base)
	defer tx.finish()
	switch {
	case order.Create != nil && order.RenameTo == "" && !order.Delete:
		return c.s.addByHand(t, order.Field, order.Create)
	case f == nil:
		return nil, refuse(http.StatusNotFound, "field: table %q has no field %q", t.name, order.Field)
	case order.RenameTo != "" && !order.Delete && order.Create == nil:
		return struct{}{}, f.rename(order.RenameTo)
	case order.Delete && order.RenameTo == "" && order.Create == nil:
		return struct{}{}, f.remove()
	}
	return nil, refuse(http.StatusUnprocessableEntity, "rename_to, delete, create: exactly one of them is needed")
}

// reshape begins what a person does to the schema of a base.
func (s *Sandbox) reshape(b *base) *commit {
	tx := s.begin(b, b.human(""), s.clock.now())
	tx.reshapes()
	return tx
}

// fieldSpec is a field as a seed describes it.
type fieldSpec struct {
	Type        string   `json:"type"`
	Choices     []string `json:"choices"`
	LinkedTable string   `json:"linked_table"`
	Inverse     string   `json:"inverse"`
	Watches     []string `json:"watches"`
	Link        string   `json:"link"`
	Field       string   `json:"field"`
	Formula     string   `json:"formula"`
	Label       string   `json:"label"`
	TimeZone    string   `json:"time_zone"`
	Result      string   `json:"result"`
	Max         int      `json:"max"`
}

func (s *Sandbox) addByHand(t *table, name string, spec *fieldSpec) (any, error) {
	sf := SeedField{Name: name, Type: spec.Type, Choices: spec.Choices, LinkedTable: spec.LinkedTable,
		Inverse: spec.Inverse, Watches: spec.Watches, Link: spec.Link, Field: spec.Field, Formula: spec.Formula,
		Label: spec.Label, TimeZone: spec.TimeZone, Result: spec.Result, Max: spec.Max}
	k := kinds[spec.Type]
	switch {
	case name == "" || t.field(name) != nil:
		return nil, refuse(http.StatusUnprocessableEntity, "field: a name is needed that table %q has not yet", t.name)
	case k == nil:
		return nil, refuse(http.StatusUnprocessableEntity, "create.type: unknown field type %q", spec.Type)
	}
	f := t.addField(newID("fld"), name, k)
	problem := f.configure(sf)
	if problem == "" {
		problem = f.bind(sf, s.options)
	}
	if problem != "" {
		t.fields = slices.DeleteFunc(t.fields, func(x *field) bool { return x == f })
		return nil, refuse(http.StatusUnprocessableEntity, "create.%s", problem)
	}
	return map[string]any{"id": f.id}, nil
}

// rename changes the name alone: cells, formulas and watches follow the ID.
func (f *field) rename(name string) error {
	if other := f.table.field(name); other != nil && other != f {
		return refuse(http.StatusUnprocessableEntity, "rename_to: table %q has a field %q already", f.table.name, name)
	}
	f.name = name
	return nil
}

// remove deletes the field with its cells. What refers to it shows an error from now on.
func (f *field) remove() error {
	t := f.table
	if f == t.primary {
		return refuse(http.StatusUnprocessableEntity, "field: the primary field cannot be deleted")
	}
	t.fields = slices.DeleteFunc(t.fields, func(x *field) bool { return x == f })
	for _, r := range t.records {
		delete(r.cells, f.id)
		delete(r.stamps, f.id)
	}
	for _, other := range t.fields {
		other.watches = slices.DeleteFunc(other.watches, func(x *field) bool { return x == f })
	}
	if f.inverse != nil {
		f.inverse.inverse = nil
	}
	delete(t.indexes, f.id)
	f.table = nil
	return nil
}

// breakTable renames or deletes a table.
func (c *control) breakTable() (any, error) {
	var order struct {
		Base     string `json:"base"`
		Table    string `json:"table"`
		RenameTo string `json:"rename_to"`
		Delete   bool   `json:"delete"`
	}
	if err := c.decode(&order); err != nil {
		return nil, err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.settleDue()
	t, err := c.s.find(order.Base, order.Table)
	if err != nil {
		return nil, err
	}
	tx := c.s.reshape(t.base)
	defer tx.finish()
	switch {
	case order.Delete == (order.RenameTo != ""):
		return nil, refuse(http.StatusUnprocessableEntity, "rename_to, delete: exactly one of them is needed")
	case order.Delete:
		t.remove()
	case t.base.table(order.RenameTo) != nil:
		return nil, refuse(http.StatusUnprocessableEntity, "rename_to: base %s has a table %q already", t.base.id, order.RenameTo)
	default:
		t.name = order.RenameTo
	}
	return struct{}{}, nil
}

// remove deletes the table, and the fields of others that link to it.
func (t *table) remove() {
	t.base.tables = slices.DeleteFunc(t.base.tables, func(x *table) bool { return x == t })
	for _, other := range t.base.tables {
		for _, f := range slices.Clone(other.fields) {
			if f.linked == t && f != other.primary {
				_ = f.remove() // only a primary field can refuse
			}
		}
	}
}
