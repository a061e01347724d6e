package sandbox

import "net/http"

// serveUpdate changes the record of the path: PATCH the fields sent, PUT all.
func serveUpdate(c *call) (any, error) {
	body, err := c.writeBody("fields")
	if err != nil {
		return nil, err
	}
	r, err := c.record()
	if err != nil {
		return nil, err
	}
	if !isObject(body.object.values["fields"]) {
		return nil, missingFields()
	}
	w := c.writer(body.typecast)
	if err := c.planUpdate(w, r, item{fields: body.object.values["fields"]}); err != nil {
		return nil, err
	}
	return c.show(c.commit(w.plan), body.shape)[0], nil
}

func (c *call) planUpdate(w *writer, r *record, it item) error {
	values, err := c.table.parseFields(it.fields)
	if err != nil {
		return err
	}
	if c.method == http.MethodPut {
		values = c.table.clearOthers(values)
	}
	_, err = w.add(c.table, r, values)
	return err
}

// serveUpdateBatch changes up to ten records, all or none.
func serveUpdateBatch(c *call) (any, error) {
	body, err := c.writeBody("records", "performUpsert")
	if err != nil {
		return nil, err
	}
	if body.object.has("performUpsert") {
		return c.upsert(body)
	}
	items, err := body.items(badUpdateItems)
	if err != nil {
		return nil, err
	}
	w := c.writer(body.typecast)
	seen := map[*record]bool{}
	for _, it := range items {
		if it.id == "" {
			return nil, invalidRecords(badUpdateItems)
		}
		r := c.table.byID[it.id]
		if r == nil {
			return nil, rowMissing(it.id)
		}
		if seen[r] {
			return nil, twiceInBatch()
		}
		seen[r] = true
		if err := c.planUpdate(w, r, it); err != nil {
			return nil, err
		}
	}
	return recordsJSON{c.show(c.commit(w.plan), body.shape)}, nil
}

func twiceInBatch() *apiError {
	return invalidRecords("You cannot update the same record multiple times in a single request.")
}
