package sandbox

import (
	"encoding/json"
	"strings"
	"time"
)

// upsertJSON adds who was created and who updated; records keep the order of
// the request.
type upsertJSON struct {
	Records []recordJSON `json:"records"`
	Created []string     `json:"createdRecords"`
	Updated []string     `json:"updatedRecords"`
}

// maxMergeFields is Airtable's limit.
const maxMergeFields = 3

// upsert creates or updates by the merge fields. An item with an id ignores
// them. No match creates, one updates, several fail the whole request.
func (c *call) upsert(body *writeBody) (any, error) {
	keys, err := c.mergeFields(body.object.values["performUpsert"])
	if err != nil {
		return nil, err
	}
	items, err := body.items(badUpdateItems)
	if err != nil {
		return nil, err
	}
	w := c.writer(body.typecast)
	updated, fresh := map[*record]bool{}, map[string]bool{}
	for _, it := range items {
		r, key, err := c.matchItem(w, it, keys)
		switch {
		case err != nil:
			return nil, err
		case r != nil && updated[r]:
			return nil, twiceInBatch()
		case r != nil:
			updated[r] = true
			err = c.planUpdate(w, r, it)
		case fresh[key] && c.s.options.DuplicateKeyInRequest == "fail":
			return nil, twiceInBatch()
		default:
			fresh[key] = true
			err = c.planCreate(w, it)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.upserted(w.plan, body.shape), nil
}

func (c *call) upserted(p *plan, as shape) upsertJSON {
	records := c.commit(p)
	out := upsertJSON{Records: c.show(records, as), Created: []string{}, Updated: []string{}}
	for i, it := range p.items {
		if it.record == nil {
			records[i].upserted, records[i].upsertedAt = c.entry.ID, c.entry.At
			out.Created = append(out.Created, records[i].id)
		} else {
			out.Updated = append(out.Updated, records[i].id)
		}
	}
	return out
}

// mergeFields reads fieldsToMergeOn: one to three fields that are not computed.
func (c *call) mergeFields(raw json.RawMessage) ([]*field, error) {
	var spec struct {
		FieldsToMergeOn []string `json:"fieldsToMergeOn"`
	}
	if err := json.Unmarshal(raw, &spec); err != nil {
		return nil, invalidRequest()
	}
	if n := len(spec.FieldsToMergeOn); n == 0 || n > maxMergeFields {
		return nil, invalidRequest()
	}
	var keys []*field
	for _, name := range spec.FieldsToMergeOn {
		f := c.table.field(name)
		if f == nil {
			return nil, unknownField(name)
		}
		if !f.mergeable(c.s.options.MergeFieldTypes) {
			return nil, unprocessable("INVALID_REQUEST_UNKNOWN",
				"Field \"%s\" of type %s cannot be used to merge on", f.name, f.kind.name)
		}
		keys = append(keys, f)
	}
	return keys, nil
}

func (f *field) mergeable(rule string) bool {
	if f.is("number", "singleLineText", "multilineText", "singleSelect", "multipleSelects", "date") {
		return true
	}
	return rule == "lenient" &&
		!f.kind.computed && !f.is("multipleRecordLinks", "multipleAttachments", "singleCollaborator", "multipleCollaborators")
}

// matchItem finds the record that an item updates, or none; key tells the
// merge values of the items of one request apart.
func (c *call) matchItem(w *writer, it item, keys []*field) (*record, string, error) {
	if it.id != "" {
		r := c.table.byID[it.id]
		if r == nil {
			return nil, "", rowMissing(it.id)
		}
		return r, "", nil
	}
	values, err := c.table.parseFields(it.fields)
	if err != nil {
		return nil, "", err
	}
	stored := make([]any, len(keys))
	for i, f := range keys {
		v, sent := valueOf(values, f)
		if !sent {
			return nil, "", invalidRecords("Each record without an \"id\" must have a value for every field to merge on.")
		}
		if stored[i], err = w.cell(f, nil, v); err != nil {
			return nil, "", err
		}
	}
	matches := c.matches(keys, stored)
	if len(matches) > 1 {
		return nil, "", unprocessable(c.s.options.MultiMatchError, "%s", c.s.options.MultiMatchMessage)
	}
	if len(matches) == 1 {
		return matches[0], "", nil
	}
	return nil, c.mergeKey(stored), nil
}

func valueOf(values []fieldValue, f *field) (any, bool) {
	for _, v := range values {
		if v.field == f {
			return v.value, true
		}
	}
	return nil, false
}

func (c *call) matches(keys []*field, stored []any) []*record {
	for _, v := range stored {
		if v == nil && c.s.options.UpsertNullKey == "create" {
			return nil
		}
	}
	candidates := c.table.records
	if c.s.options.MergeKeyCase == "sensitive" {
		candidates = c.table.indexed(keys[0]).find(stored[0])
	}
	wanted := c.mergeKey(stored)
	var found []*record
	for _, r := range candidates {
		held := make([]any, len(keys))
		for i, f := range keys {
			held[i] = r.cells[f.id]
		}
		if c.mergeKey(held) == wanted && !c.races(r) {
			found = append(found, r)
		}
	}
	return found
}

// races says whether the record is not seen yet, because another upsert that
// came at nearly the same time created it.
func (c *call) races(r *record) bool {
	if r.upserted == 0 || r.upserted == c.entry.ID {
		return false
	}
	return c.entry.At.Sub(r.upsertedAt).Abs() < time.Duration(c.s.options.UpsertRace)
}

func (c *call) mergeKey(values []any) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = indexKey(v)
		if text, ok := v.(string); ok && c.s.options.MergeKeyCase == "insensitive" {
			parts[i] = indexKey(strings.ToLower(text))
		}
	}
	return strings.Join(parts, "\x01")
}
