package sandbox

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// requests gives the whole log, or what came after ?after=ID.
func (c *control) requests() (any, error) {
	after, err := c.after()
	if err != nil {
		return nil, err
	}
	list := c.s.Requests()
	from := slices.IndexFunc(list, func(r Request) bool { return r.ID > after })
	if from < 0 {
		from = len(list)
	}
	return map[string]any{"requests": list[from:]}, nil
}

func (c *control) after() (int, error) {
	text := c.r.URL.Query().Get("after")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, refuse(http.StatusBadRequest, "after: %q is no number of a line", text)
	}
	return n, nil
}

func (c *control) clearRequests() (any, error) {
	c.s.ClearRequests()
	return struct{}{}, nil
}

// changes gives the whole log, or what came after ?after=SEQ.
func (c *control) changes() (any, error) {
	after, err := c.after()
	if err != nil {
		return nil, err
	}
	list := c.s.Changes()
	return map[string]any{"changes": list[min(after, len(list)):]}, nil
}

func (c *control) faults() (any, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return map[string]any{"faults": c.s.armed()}, nil
}

// armed are the faults with what is left of them.
func (s *Sandbox) armed() []Fault {
	list := make([]Fault, len(s.faults))
	for i, f := range s.faults {
		list[i] = f.Fault
		list[i].Times, list[i].Skip = f.left, f.skip
	}
	return list
}

func (c *control) addFault() (any, error) {
	var f Fault
	if err := c.decode(&f); err != nil {
		return nil, err
	}
	id, err := c.s.AddFault(f)
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": id}, nil
}

func (c *control) clearFaults() (any, error) {
	c.s.ClearFaults()
	return struct{}{}, nil
}

func (c *control) clock() (any, error) {
	return map[string]any{"now": c.s.Now(), "offset": Duration(c.s.clock.currentOffset())}, nil
}

// moveClock sets the time, the distance to the real time, or goes forward.
func (c *control) moveClock() (any, error) {
	var move struct {
		Now     *time.Time `json:"now"`
		Offset  *Duration  `json:"offset"`
		Advance *Duration  `json:"advance"`
	}
	if err := c.decode(&move); err != nil {
		return nil, err
	}
	switch {
	case move.Now != nil && move.Offset == nil && move.Advance == nil:
		c.s.SetNow(*move.Now)
	case move.Offset != nil && move.Now == nil && move.Advance == nil:
		c.s.clock.shift(time.Duration(*move.Offset))
		c.s.settle()
	case move.Advance != nil && move.Now == nil && move.Offset == nil:
		c.s.Advance(time.Duration(*move.Advance))
	default:
		return nil, refuse(http.StatusUnprocessableEntity, "now, offset, advance: exactly one of them is needed")
	}
	return c.clock()
}

func (c *control) options() (any, error) { return c.s.Options(), nil }

func (c *control) changeOptions() (any, error) {
	raw, err := io.ReadAll(io.LimitReader(c.r.Body, hardBodyLimit))
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "body: %s", err)
	}
	var malformed error
	err = c.s.SetOptions(func(o *Options) {
		next := *o
		c.r.Body = io.NopCloser(bytes.NewReader(raw))
		if malformed = c.decode(&next); malformed == nil {
			*o = next
		}
	})
	if err := errors.Join(malformed, err); err != nil {
		return nil, err
	}
	return c.s.Options(), nil
}

func (c *control) bases() (any, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	type tableJSON struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Records int    `json:"records"`
	}
	type baseJSON struct {
		ID     string      `json:"id"`
		Name   string      `json:"name"`
		Tables []tableJSON `json:"tables"`
	}
	out := []baseJSON{}
	for _, b := range c.s.bases {
		bj := baseJSON{ID: b.id, Name: b.name, Tables: []tableJSON{}}
		for _, t := range b.tables {
			bj.Tables = append(bj.Tables, tableJSON{t.id, t.name, len(t.records)})
		}
		out = append(out, bj)
	}
	return map[string]any{"bases": out}, nil
}
