package airtable

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	maxURL      = 15_000 // Airtable refuses at 16,000 characters; beyond this a list is a POST
	maxPage     = 100
	maxRestarts = 3 // of one listing whose cursor expired
)

// Fields are a record's cells by field name. Values are string, json.Number,
// bool, nil, []any and map[string]any, as decoding makes them; for writing int,
// int64 and []string are accepted as well. Airtable leaves empty cells out.
type Fields map[string]any

// Record is one row as Airtable answers it. Fields is never nil.
type Record struct {
	ID          string    `json:"id"`
	CreatedTime time.Time `json:"createdTime"`
	Fields      Fields    `json:"fields"`
}

// Sort orders a listing by one field, ascending unless Descending.
type Sort struct {
	Field      string
	Descending bool
}

// ListRequest selects records of one table. Table is a name or an ID.
type ListRequest struct {
	Base, Table string
	// Fields to answer; empty: all. An unknown name fails the request.
	Fields []string
	// Formula keeps the records it is true for; empty: all.
	Formula string
	// MaxRecords over all pages and PageSize (at most 100); 0: Airtable's choice.
	MaxRecords, PageSize int
	// Sort, most significant first; empty: arbitrary order.
	Sort []Sort
}

// ListRecords follows a listing to its end, one request per page, and starts
// again, at most three times, when Airtable has dropped the cursor. A record
// that pages show twice is returned once, as seen last.
func (c *Client) ListRecords(ctx context.Context, req ListRequest) ([]Record, error) {
	for restarts := 0; ; restarts++ {
		recs, err := c.listToEnd(ctx, req)
		e, failed := errors.AsType[*Error](err)
		if !failed || !e.IsExpiredCursor() || restarts == maxRestarts {
			return recs, err
		}
	}
}

func (c *Client) listToEnd(ctx context.Context, req ListRequest) ([]Record, error) {
	var all []Record
	position := map[string]int{}
	for offset := ""; ; {
		page, next, err := c.ListPage(ctx, req, offset)
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			if at, seen := position[r.ID]; seen {
				all[at] = r
				continue
			}
			position[r.ID] = len(all)
			all = append(all, r)
		}
		if next == "" {
			return all, nil
		}
		if next == offset {
			return nil, &Error{Op: opList, Status: http.StatusOK, Fate: FateUnknown, Err: errors.New("unreadable answer: the cursor does not advance")}
		}
		offset = next
	}
}

const opList = "list records"

// ListPage reads one page with exactly one HTTP request: a GET while its URL is
// at most 15,000 characters, else a POST. The offset is "" for the first page;
// next is "" after the last. An expired cursor is an [Error.IsExpiredCursor].
func (c *Client) ListPage(ctx context.Context, req ListRequest, offset string) (recs []Record, next string, err error) {
	if err := req.validate(); err != nil {
		return nil, "", invalid(opList, err)
	}
	var page struct {
		Records []Record `json:"records"`
		Offset  string   `json:"offset"`
	}
	in := call{
		op: opList, method: http.MethodGet, base: req.Base, table: req.Table,
		url:     c.endpoint(req.Base, req.Table) + req.query(offset),
		answer:  &page,
		check:   func() error { return checkRecords(page.Records) },
		records: func() int { return len(page.Records) },
	}
	if len(in.url) > maxURL {
		in.method, in.url = http.MethodPost, c.endpoint(req.Base, req.Table, "listRecords")
		if in.body, err = encode(req.body(offset)); err != nil {
			return nil, "", invalid(opList, err)
		}
	}
	if err := c.send(ctx, in); err != nil {
		return nil, "", err
	}
	return page.Records, page.Offset, nil
}

func (r ListRequest) validate() error {
	if err := validTable(r.Base, r.Table); err != nil {
		return err
	}
	if r.MaxRecords < 0 || r.PageSize < 0 || r.PageSize > maxPage {
		return fmt.Errorf("page size %d, max records %d: use a page size of 0 to %d and no negative number", r.PageSize, r.MaxRecords, maxPage)
	}
	if err := validText("formula", r.Formula); err != nil {
		return err
	}
	for _, f := range r.Fields {
		if err := validText("field name", f); err != nil {
			return err
		}
	}
	for _, s := range r.Sort {
		if err := validText("sort field", s.Field); err != nil {
			return err
		}
	}
	return nil
}

// query is the request as a query string, "" if there is nothing to say.
func (r ListRequest) query(offset string) string {
	var params []string
	add := func(key, value string) { params = append(params, escape(key)+"="+escape(value)) }
	for _, f := range r.Fields {
		add("fields[]", f)
	}
	if r.Formula != "" {
		add("filterByFormula", r.Formula)
	}
	if r.MaxRecords > 0 {
		add("maxRecords", strconv.Itoa(r.MaxRecords))
	}
	if r.PageSize > 0 {
		add("pageSize", strconv.Itoa(r.PageSize))
	}
	for i, s := range r.Sort {
		key := "sort[" + strconv.Itoa(i) + "]"
		add(key+"[field]", s.Field)
		add(key+"[direction]", s.direction())
	}
	if offset != "" {
		add("offset", offset)
	}
	if len(params) == 0 {
		return ""
	}
	return "?" + strings.Join(params, "&")
}

// body is the request as the JSON of a POST. What is not asked for is left
// out: Airtable's parser takes no null offset.
func (r ListRequest) body(offset string) any {
	type sortKey struct {
		Field     string `json:"field"`
		Direction string `json:"direction"`
	}
	var order []sortKey
	for _, s := range r.Sort {
		order = append(order, sortKey{s.Field, s.direction()})
	}
	return struct {
		Fields     []string  `json:"fields,omitempty"`
		Formula    string    `json:"filterByFormula,omitempty"`
		MaxRecords int       `json:"maxRecords,omitempty"`
		PageSize   int       `json:"pageSize,omitempty"`
		Sort       []sortKey `json:"sort,omitempty"`
		Offset     string    `json:"offset,omitempty"`
	}{r.Fields, r.Formula, r.MaxRecords, r.PageSize, order, offset}
}

func (s Sort) direction() string {
	if s.Descending {
		return "desc"
	}
	return "asc"
}

// checkRecords refuses an answer without a list of records: read as an empty
// table it would say that a record does not exist.
func checkRecords(recs []Record) error {
	if recs == nil {
		return errors.New("no list of records in it")
	}
	for i := range recs {
		if recs[i].ID == "" {
			return fmt.Errorf("record %d has no id", i+1)
		}
		if recs[i].Fields == nil {
			recs[i].Fields = Fields{}
		}
	}
	return nil
}
