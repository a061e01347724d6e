package sandbox

import "fmt"

// serveCreate makes one record or a batch. The answer is 200, not 201.
func serveCreate(c *call) (any, error) {
	body, err := c.writeBody("fields", "records")
	if err != nil {
		return nil, err
	}
	if !body.object.has("records") {
		return c.createOne(body)
	}
	complaint := `You must provide an array of up to 10 record objects, each with a "fields" object for cell values.`
	if raws, ok := body.object.list("records"); ok && len(raws) > maxBatch {
		complaint = fmt.Sprintf("A maximum of 10 records can be created per request but you have provided %d.", len(raws))
	}
	items, err := body.items(complaint)
	if err != nil {
		return nil, err
	}
	w := c.writer(body.typecast)
	for _, it := range items {
		if it.id != "" {
			return nil, invalidRecords(complaint)
		}
		if err := c.planCreate(w, it); err != nil {
			return nil, err
		}
	}
	return recordsJSON{c.show(c.commit(w.plan), body.shape)}, nil
}

func (c *call) createOne(body *writeBody) (any, error) {
	if !isObject(body.object.values["fields"]) {
		return nil, missingFields()
	}
	w := c.writer(body.typecast)
	if err := c.planCreate(w, item{fields: body.object.values["fields"]}); err != nil {
		return nil, err
	}
	return c.show(c.commit(w.plan), body.shape)[0], nil
}

func (c *call) planCreate(w *writer, it item) error {
	values, err := c.table.parseFields(it.fields)
	if err != nil {
		return err
	}
	_, err = w.add(c.table, nil, values)
	return err
}
