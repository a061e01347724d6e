package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
)

// maxPage is the largest page, and the default.
const maxPage = 100

// listParams are the parameters of a listing, from a query or a body.
type listParams struct {
	pageSize   int
	maxRecords int // 0: no limit
	offset     string
	fields     []string
	formula    string
	view       string
	sort       []sortParam
	shape      shape
}

type sortParam struct {
	Field     string `json:"field"`
	Direction string `json:"direction"`
}

func indexedKey(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }

func (c *call) listQuery() (*listParams, error) {
	p := &listParams{offset: c.query.Get("offset"), formula: c.query.Get("filterByFormula"),
		view: c.query.Get("view"), fields: queryList(c.query, "fields"), sort: querySort(c.query)}
	var err error
	if p.shape, err = parseShape(c.query); err != nil {
		return nil, err
	}
	if p.pageSize, err = queryCount(c.query, "pageSize"); err != nil {
		return nil, err
	}
	if p.maxRecords, err = queryCount(c.query, "maxRecords"); err != nil {
		return nil, err
	}
	if p.shape.comments, err = parseMetadata(queryList(c.query, "recordMetadata")); err != nil {
		return nil, err
	}
	return p, p.check()
}

func querySort(query url.Values) []sortParam {
	var sort []sortParam
	for i := range 21 {
		name := query.Get(indexedKey("sort", i) + "[field]")
		if name == "" {
			break
		}
		sort = append(sort, sortParam{name, query.Get(indexedKey("sort", i) + "[direction]")})
	}
	return sort
}

// queryCount reads a number above 0, 0 for none.
func queryCount(query url.Values, name string) (int, error) {
	text := query.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, invalidRequest()
	}
	return n, nil
}

func parseMetadata(names []string) (bool, error) {
	for _, name := range names {
		if name != "commentCount" {
			return false, invalidRequest()
		}
	}
	return len(names) > 0, nil
}

type listBodyJSON struct {
	PageSize       *int        `json:"pageSize"`
	MaxRecords     *int        `json:"maxRecords"`
	Offset         string      `json:"offset"`
	Fields         []string    `json:"fields"`
	Formula        string      `json:"filterByFormula"`
	View           string      `json:"view"`
	Sort           []sortParam `json:"sort"`
	CellFormat     string      `json:"cellFormat"`
	ByFieldID      bool        `json:"returnFieldsByFieldId"`
	RecordMetadata []string    `json:"recordMetadata"`
}

// listBody reads the parameters of listRecords. Time zone and locale stay in
// the query; in the body, where the official client also puts them, they are
// tolerated. No parameter may be null.
func (c *call) listBody() (*listParams, error) {
	raw := c.body
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}")
	}
	o, err := parseObject(raw)
	if err != nil {
		return nil, typed(c.s.options.BadBodyStatus, "INVALID_REQUEST_BODY", "Could not parse request body")
	}
	var body listBodyJSON
	for _, key := range o.keys {
		if string(bytes.TrimSpace(o.values[key])) == "null" {
			return nil, invalidRequest()
		}
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, invalidRequest()
	}
	p := &listParams{offset: body.Offset, fields: body.Fields, formula: body.Formula, view: body.View, sort: body.Sort}
	p.shape.byID = body.ByFieldID
	if p.shape.asText, err = parseCellFormat(body.CellFormat, c.query); err != nil {
		return nil, err
	}
	if p.shape.comments, err = parseMetadata(body.RecordMetadata); err != nil {
		return nil, err
	}
	if p.pageSize, err = bodyCount(body.PageSize); err != nil {
		return nil, err
	}
	if p.maxRecords, err = bodyCount(body.MaxRecords); err != nil {
		return nil, err
	}
	return p, p.check()
}

// bodyCount reads a number above 0, 0 for none.
func bodyCount(sent *int) (int, error) {
	if sent == nil {
		return 0, nil
	}
	if *sent < 1 {
		return 0, invalidRequest()
	}
	return *sent, nil
}

func (p *listParams) check() error {
	if p.pageSize == 0 {
		p.pageSize = maxPage
	}
	if p.pageSize > maxPage {
		return invalidRequest()
	}
	return nil
}
