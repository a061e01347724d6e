package sandbox

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
	if v != nil && v.filter != nil {
		records = filter(rd, records, v.filter)
	}
	if p.formula != "" {
		if records, err = c.byFormula(rd, records, p.formula); err != nil {
			return nil, err
		}
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

// byFormula keeps the records for which the formula holds. Equality of a text
// field with literals is looked up instead of tried on every record.
func (c *call) byFormula(rd *reader, records []*record, source string) ([]*record, error) {
	code, complaint := c.table.compile(source, c.s.options.formula())
	if code == nil {
		return nil, invalidFormula(complaint)
	}
	name, literals, ok := code.expr.Equalities()
	if !ok {
		return filter(rd, records, code), nil
	}
	f := code.refs[name]
	if len(records) == len(c.table.records) && (f.texty() || f.is("singleSelect")) {
		return c.table.indexed(f).find(storedText(f, literals)...), nil
	}
	return filterEqual(rd, records, code), nil
}

// storedText is what the cells hold that read as one of the texts.
func storedText(f *field, texts []string) []any {
	var stored []any
	for _, text := range texts {
		if f.texty() {
			stored = append(stored, text)
		} else if option := f.choice(text); option != nil {
			stored = append(stored, option.ID)
		}
	}
	return stored
}

// filterEqual is filter for an equality: it compares the cell with all literals
// at once where it holds text.
func filterEqual(rd *reader, records []*record, code *code) []*record {
	name, literals, _ := code.expr.Equalities()
	wanted := map[string]bool{}
	for _, text := range literals {
		wanted[text] = true
	}
	f := code.refs[name]
	var kept []*record
	for _, r := range records {
		text, isText := rd.native(r, f).(string)
		if isText && wanted[text] || !isText && code.eval(rd, r).Truthy() {
			kept = append(kept, r)
		}
	}
	return kept
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
