package airtable

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

const (
	maxBatch   = 10 // records in one write (mission W6)
	maxMergeOn = 3
	opWrite    = "write records"
)

// WriteRecord is one record to write: exactly these fields, nil clears a cell.
type WriteRecord struct {
	// ID of the record; "" leaves it to the merge fields of an upsert.
	ID     string
	Fields Fields
}

// WriteRequest is up to ten records of one table.
type WriteRequest struct {
	Base, Table string
	Records     []WriteRecord
	// MergeOn names one to three fields and makes the write an upsert: a record
	// without ID updates the one that holds the same values there, or creates it.
	MergeOn []string
}

// WriteResult is the answer to a write, by position of the request.
type WriteResult struct {
	// Records as they are after the write, every field of them.
	Records []Record
	// Created says for an upsert which records are new; nil otherwise.
	Created []bool
}

// WriteRecords sends one PATCH on the table and nothing else: Airtable applies
// all of it or, on a definite refusal, nothing. The error's Fate says what is
// known. What Airtable would have to guess is refused unsent, with
// ErrInvalidRequest: more than ten records, a record twice, no or null merge
// values, two records with one merge key, text that is not UTF-8.
func (c *Client) WriteRecords(ctx context.Context, req WriteRequest) (WriteResult, error) {
	if err := req.validate(); err != nil {
		return WriteResult{}, invalid(opWrite, err)
	}
	body, err := req.encode()
	if err != nil {
		return WriteResult{}, invalid(opWrite, err)
	}
	var answer writeAnswer
	in := call{
		op: opWrite, method: http.MethodPatch, base: req.Base, table: req.Table,
		url: c.endpoint(req.Base, req.Table), body: body,
		answer:  &answer,
		check:   func() error { return answer.fits(req) },
		records: func() int { return len(req.Records) },
	}
	for _, r := range req.Records {
		in.ids = append(in.ids, r.ID)
	}
	if err := c.send(ctx, in); err != nil {
		return WriteResult{}, err
	}
	return answer.result(req), nil
}

// encode leaves out what is not asked for: a null id is refused (case B34), and
// performUpsert belongs to upserts alone.
func (r WriteRequest) encode() ([]byte, error) {
	type upsert struct {
		MergeOn []string `json:"fieldsToMergeOn"`
	}
	type record struct {
		ID     string `json:"id,omitempty"`
		Fields Fields `json:"fields"`
	}
	var wire struct {
		Upsert  *upsert  `json:"performUpsert,omitempty"`
		Records []record `json:"records"`
	}
	if len(r.MergeOn) > 0 {
		wire.Upsert = &upsert{r.MergeOn}
	}
	for _, rec := range r.Records {
		wire.Records = append(wire.Records, record(rec))
	}
	return encode(wire)
}

type writeAnswer struct {
	Records []Record `json:"records"`
	Created []string `json:"createdRecords"`
	Updated []string `json:"updatedRecords"`
}

// fits checks that the answer is one to this request. The write has landed by
// then; an answer that does not say where is as good as none.
func (a *writeAnswer) fits(req WriteRequest) error {
	if err := checkRecords(a.Records); err != nil {
		return err
	}
	if len(a.Records) != len(req.Records) {
		return fmt.Errorf("%d records for %d written", len(a.Records), len(req.Records))
	}
	for i, sent := range req.Records {
		got := a.Records[i].ID
		if sent.ID != "" && sent.ID != got {
			return fmt.Errorf("record %d is %s, written was %s", i+1, got, sent.ID)
		}
		if sent.ID == "" && !slices.Contains(a.Created, got) && !slices.Contains(a.Updated, got) {
			return fmt.Errorf("record %d (%s) is neither among the created nor the updated", i+1, got)
		}
	}
	return nil
}

func (a *writeAnswer) result(req WriteRequest) WriteResult {
	out := WriteResult{Records: a.Records}
	if len(req.MergeOn) == 0 {
		return out
	}
	out.Created = make([]bool, len(a.Records))
	for i, r := range a.Records {
		out.Created[i] = req.Records[i].ID == "" && slices.Contains(a.Created, r.ID)
	}
	return out
}

func (r WriteRequest) validate() error {
	if err := validTable(r.Base, r.Table); err != nil {
		return err
	}
	if n := len(r.Records); n == 0 || n > maxBatch {
		return fmt.Errorf("%d records in one request: write 1 to %d", n, maxBatch)
	}
	if len(r.MergeOn) > maxMergeOn || slices.Contains(r.MergeOn, "") {
		return fmt.Errorf("merge on %q: name at most %d fields", r.MergeOn, maxMergeOn)
	}
	seen := map[string]bool{}
	for i, rec := range r.Records {
		who, err := rec.identity(r.MergeOn)
		if err == nil && seen[who] {
			err = errors.New("stands twice in one request: merge the two writes into one")
		}
		if err == nil {
			err = rec.validate()
		}
		if err != nil {
			return fmt.Errorf("record %d: %w", i+1, err)
		}
		seen[who] = true
	}
	return nil
}

// identity tells records of one request apart: the ID, else the merge values.
func (r WriteRecord) identity(mergeOn []string) (string, error) {
	if r.ID != "" {
		return "id " + r.ID, nil
	}
	if len(mergeOn) == 0 {
		return "", errors.New("has no ID: give one, or merge fields for an upsert")
	}
	key := make([]any, len(mergeOn))
	for i, field := range mergeOn {
		key[i] = r.Fields[field]
		if key[i] == nil || key[i] == "" {
			return "", fmt.Errorf("merge field %q is missing or empty: a record is created or found by its key only", field)
		}
	}
	text, err := encode(key)
	return "key " + string(text), err
}

func (r WriteRecord) validate() error {
	if len(r.Fields) == 0 {
		return errors.New("has no fields: there is nothing to write")
	}
	for name, value := range r.Fields {
		what := fmt.Sprintf("field %q", name)
		if err := validText(what, name); err != nil {
			return err
		}
		if err := validValue(what, value); err != nil {
			return err
		}
	}
	return nil
}
