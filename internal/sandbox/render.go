package sandbox

import "net/url"

// recordJSON is a record on the wire. Empty cells have no key.
type recordJSON struct {
	ID           string         `json:"id"`
	CreatedTime  string         `json:"createdTime"`
	CommentCount *int           `json:"commentCount,omitempty"`
	Fields       map[string]any `json:"fields"`
}

// shape is how a request wants its records shown.
type shape struct {
	byID     bool
	asText   bool     // cellFormat=string
	comments bool     // recordMetadata
	only     []*field // nil: all
}

func (rd *reader) record(t *table, r *record, as shape) recordJSON {
	fields := as.only
	if fields == nil {
		fields = t.fields
	}
	out := recordJSON{ID: r.id, CreatedTime: formatTime(r.created), Fields: map[string]any{}}
	for _, f := range fields {
		v := rd.wire(r, f)
		if as.asText {
			v = wireComputed(f, rd.text(r, f))
		}
		if v == nil {
			continue
		}
		if as.byID {
			out.Fields[f.id] = v
		} else {
			out.Fields[f.name] = v
		}
	}
	if as.comments {
		out.CommentCount = new(int)
	}
	return out
}

// parseShape reads cellFormat and returnFieldsByFieldId of a query.
func parseShape(query url.Values) (shape, error) {
	var as shape
	var err error
	if as.byID, err = queryFlag(query, "returnFieldsByFieldId"); err != nil {
		return as, err
	}
	as.asText, err = parseCellFormat(query.Get("cellFormat"), query)
	return as, err
}

// parseCellFormat wants time zone and locale beside string, and both in the
// query, also of a POST.
func parseCellFormat(format string, query url.Values) (bool, error) {
	switch format {
	case "", "json":
		return false, nil
	case "string":
		if query.Get("timeZone") != "" && query.Get("userLocale") != "" {
			return true, nil
		}
	}
	return false, invalidRequest()
}

func queryFlag(query url.Values, name string) (bool, error) {
	switch query.Get(name) {
	case "", "0", "false":
		return false, nil
	case "1", "true":
		return true, nil
	}
	return false, invalidRequest()
}

func serveRecord(c *call) (any, error) {
	as, err := parseShape(c.query)
	if err != nil {
		return nil, err
	}
	r, err := c.record()
	if err != nil {
		return nil, err
	}
	return c.reader().record(c.table, r, as), nil
}

// record finds the record of the path. What is not shaped like an ID is no
// endpoint; an ID that is gone is a record not found.
func (c *call) record() (*record, error) {
	id := c.params["record"]
	if r := c.table.byID[id]; r != nil {
		return r, nil
	}
	if !shapedID("rec", id) {
		return nil, bareNotFound()
	}
	return nil, recordNotFound()
}
