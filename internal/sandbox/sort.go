package sandbox

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"airtable-replay/internal/sandbox/formula"
)

type sortKey struct {
	field *field
	desc  bool
}

func (c *call) sortKeys(params []sortParam) ([]sortKey, error) {
	var keys []sortKey
	for _, p := range params {
		f := c.table.field(p.Field)
		if f == nil {
			return nil, unknownField(p.Field)
		}
		if p.Direction != "" && p.Direction != "asc" && p.Direction != "desc" {
			return nil, invalidRequest()
		}
		keys = append(keys, sortKey{f, p.Direction == "desc"})
	}
	return keys, nil
}

// sorted orders records by the keys; what ties stays in table order.
func sorted(rd *reader, records []*record, keys []sortKey) []*record {
	if len(keys) == 0 {
		return records
	}
	type row struct {
		record *record
		values []any
	}
	rows := make([]row, len(records))
	for i, r := range records {
		rows[i] = row{r, make([]any, len(keys))}
		for k, key := range keys {
			rows[i].values[k] = rd.sortValue(r, key.field)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		for k, key := range keys {
			order := compareValues(a.values[k], b.values[k])
			if key.desc {
				order = -order
			}
			if order != 0 {
				return order
			}
		}
		return 0
	})
	out := make([]*record, len(rows))
	for i, row := range rows {
		out[i] = row.record
	}
	return out
}

// shuffled is an order that means nothing but stays the same.
func shuffled(records []*record) []*record {
	return slices.SortedFunc(slices.Values(records), func(a, b *record) int {
		return cmp.Compare(fixedID("", a.id), fixedID("", b.id))
	})
}

// sortValue is what a cell is ordered by: options by their place in the field,
// numbers and times as such, everything else by its text without letter case.
func (rd *reader) sortValue(r *record, f *field) any {
	if id, ok := r.cells[f.id].(string); ok && f.is("singleSelect") {
		return float64(slices.IndexFunc(f.choices, func(c *choice) bool { return c.ID == id }))
	}
	switch v := rd.native(r, f).(type) {
	case nil:
		return nil
	case float64:
		return v
	case bool:
		return 1.0
	case time.Time:
		return float64(v.UnixMilli())
	case formula.Date:
		return float64(time.Time(v).UnixMilli())
	default:
		return strings.ToLower(displayText(v))
	}
}

// compareValues puts empty cells first and numbers before text.
func compareValues(a, b any) int {
	rank := func(v any) int {
		switch v.(type) {
		case nil:
			return 0
		case float64:
			return 1
		}
		return 2
	}
	if order := cmp.Compare(rank(a), rank(b)); order != 0 {
		return order
	}
	if x, ok := a.(float64); ok {
		y, _ := b.(float64)
		return cmp.Compare(x, y)
	}
	x, _ := a.(string)
	y, _ := b.(string)
	return cmp.Compare(x, y)
}
