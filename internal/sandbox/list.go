package sandbox

import "slices"

// serveList answers GET on a table, serveListByPost its twin with a body.
func serveList(c *call) (any, error) {
	p, err := c.listQuery()
	if err != nil {
		return nil, err
	}
	return c.list(p)
}

func serveListByPost(c *call) (any, error) {
	p, err := c.listBody()
	if err != nil {
		return nil, err
	}
	return c.list(p)
}

// pageJSON has no offset key on the last page.
type pageJSON struct {
	Records []recordJSON `json:"records"`
	Offset  string       `json:"offset,omitempty"`
}

// list answers one page. A first page takes down which records the listing
// has; later pages show those that still exist as they are by then.
func (c *call) list(p *listParams) (any, error) {
	as, err := c.listShape(p)
	if err != nil {
		return nil, err
	}
	var ids []string
	if p.offset == "" {
		found, err := c.find(p)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			ids = append(ids, r.id)
		}
	} else if ids, err = c.resume(p.offset); err != nil {
		return nil, err
	}
	page := pageJSON{Records: []recordJSON{}}
	rd := c.reader()
	for i, id := range ids {
		if len(page.Records) == p.pageSize {
			page.Offset = c.pause(p.offset, ids[i:])
			break
		}
		if r := c.table.byID[id]; r != nil {
			page.Records = append(page.Records, rd.record(c.table, r, as))
		}
	}
	return page, nil
}

func (c *call) listShape(p *listParams) (shape, error) {
	as := p.shape
	for _, name := range p.fields {
		f := c.table.field(name)
		if f == nil {
			return as, unknownField(name)
		}
		as.only = append(as.only, f)
	}
	return as, nil
}

// find gives the records of a listing in their order.
func (c *call) find(p *listParams) ([]*record, error) {
	v, err := c.findView(p.view)
	if err != nil {
		return nil, err
	}
	keys, err := c.sortKeys(p.sort)
	if err != nil {
		return nil, err
	}
	rd := c.reader()
	records := c.table.records
	if p.formula != "" {
		if records, err = c.byFormula(rd, p.formula); err != nil {
			return nil, err
		}
	}
	if v != nil && v.filter != nil {
		records = filter(rd, records, v.filter)
	}
	if len(keys) == 0 && v != nil {
		keys = v.sort
	}
	if len(keys) == 0 && v == nil && c.s.options.ListOrder == "shuffled" {
		records = shuffled(records)
	} else {
		records = sorted(rd, records, keys)
	}
	if p.maxRecords > 0 && len(records) > p.maxRecords {
		records = records[:p.maxRecords]
	}
	return records, nil
}

func (c *call) findView(ref string) (*view, error) {
	if ref == "" {
		return nil, nil
	}
	if v := c.table.view(ref); v != nil {
		return v, nil
	}
	if !shapedID("viw", ref) {
		return nil, unprocessable("VIEW_NAME_NOT_FOUND", "View %s not found", ref)
	}
	for _, other := range c.base.tables {
		if other.view(ref) != nil {
			return nil, unprocessable("FAILED_STATE_CHECK", "")
		}
	}
	return nil, unprocessable("VIEW_ID_NOT_FOUND", "View %s not found", ref)
}

// byFormula finds the records for which the formula holds. Equality with
// constants is looked up instead of tried on every record.
func (c *call) byFormula(rd *reader, source string) ([]*record, error) {
	code, complaint := c.table.compile(source, c.s.options.formula())
	if code == nil {
		return nil, invalidFormula(complaint)
	}
	asked, ok := code.expr.Lookup()
	if !ok {
		return filter(rd, c.table.records, code), nil
	}
	subject := code.part(asked.Subject)
	if found, ok := c.table.lookUp(rd, subject, asked.Keys); ok {
		return found, nil
	}
	var found []*record
	for _, r := range c.table.records {
		if slices.Contains(asked.Keys, subject.eval(rd, r).Key()) {
			found = append(found, r)
		}
	}
	return found, nil
}

func filter(rd *reader, records []*record, code *code) []*record {
	var kept []*record
	for _, r := range records {
		if code.eval(rd, r).Truthy() {
			kept = append(kept, r)
		}
	}
	return kept
}
