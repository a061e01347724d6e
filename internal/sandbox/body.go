package sandbox

import (
	"bytes"
	"encoding/json"
	"slices"
)

// maxBatch is the most records that one request may write.
const maxBatch = 10

const badUpdateItems = `You must provide an array of up to 10 record objects, each with an "id" ID field and a "fields" object for cell values.`

// writeBody is the body of a create or update.
type writeBody struct {
	object   *object
	typecast bool
	shape    shape
}

func (c *call) writeBody(known ...string) (*writeBody, error) {
	raw := c.body
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}")
	}
	o, err := parseObject(raw)
	if err != nil {
		return nil, typed(c.s.options.BadBodyStatus, "INVALID_REQUEST_BODY", "Could not parse request body")
	}
	if c.s.options.UnknownBodyKeys == "refuse" {
		known = append(known, "typecast", "returnFieldsByFieldId")
		for _, key := range o.keys {
			if !slices.Contains(known, key) {
				return nil, invalidRequest()
			}
		}
	}
	b := &writeBody{object: o}
	if b.typecast, err = o.flag("typecast"); err != nil {
		return nil, err
	}
	if b.shape.byID, err = o.flag("returnFieldsByFieldId"); err != nil {
		return nil, err
	}
	return b, nil
}

// item is one element of a batch.
type item struct {
	id     string // empty: none was sent
	fields json.RawMessage
}

// items reads the "records" of a batch. An id that is sent must be text: null
// is no way to leave it out.
func (b *writeBody) items(complaint string) ([]item, error) {
	raws, ok := b.object.list("records")
	if !ok || len(raws) == 0 || len(raws) > maxBatch {
		return nil, invalidRecords(complaint)
	}
	items := make([]item, len(raws))
	for i, raw := range raws {
		o, err := parseObject(raw)
		if err != nil || !o.has("fields") || !isObject(o.values["fields"]) {
			return nil, invalidRecords(complaint)
		}
		items[i].fields = o.values["fields"]
		if o.has("id") {
			if json.Unmarshal(o.values["id"], &items[i].id) != nil || items[i].id == "" {
				return nil, invalidRecords(complaint)
			}
		}
	}
	return items, nil
}

func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '{'
}

func (c *call) writer(typecast bool) *writer {
	return &writer{options: c.s.options, base: c.base, role: c.role(), typecast: typecast, plan: newPlan(c.now)}
}

// commit applies a plan as the request's token.
func (c *call) commit(p *plan) []*record {
	tx := c.s.begin(c.base, c.actor(), c.now)
	records := tx.apply(p)
	tx.finish()
	return records
}

// show renders records after a write: whole, whatever was written.
func (c *call) show(records []*record, as shape) []recordJSON {
	rd := c.reader()
	out := make([]recordJSON, len(records))
	for i, r := range records {
		out[i] = rd.record(c.table, r, as)
	}
	return out
}

type recordsJSON struct {
	Records []recordJSON `json:"records"`
}
