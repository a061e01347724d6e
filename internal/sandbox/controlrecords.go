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
	t, err := c.table()
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

// table finds the table of the path. The sandbox must be locked.
func (c *control) table() (*table, error) { return c.s.find(c.param("base"), c.param("table")) }

// edit is what a person does to a record by hand.
type edit struct {
	Fields json.RawMessage `json:"fields"`
	At     time.Time       `json:"at"`
	By     string          `json:"by"`
}

func (c *control) createRecord() (any, error) {
	return c.edit(func(*table) (*record, error) { return nil, nil })
}

func (c *control) editRecord() (any, error) {
	return c.edit(func(t *table) (*record, error) { return t.find(c.param("record")) })
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
	t, err := c.table()
	if err != nil {
		return nil, err
	}
	r, err := find(t)
	if err != nil {
		return nil, err
	}
	if r, err = c.s.editByHand(t, r, e); err != nil {
		return nil, err
	}
	return t.base.reader(c.s.clock.now()).record(t, r, shape{}), nil
}

func (c *control) deleteRecord() (any, error) {
	id := c.param("record")
	if err := c.s.Delete(c.param("base"), c.param("table"), id); err != nil {
		return nil, err
	}
	return deletedJSON{Deleted: true, ID: id}, nil
}
