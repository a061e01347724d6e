package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// index finds the records of a table by the stored value of one field. It is
// built at first use and kept up by every change.
type index map[string]map[*record]bool

// indexed gives the index of a stored field, building it when it is missing.
func (t *table) indexed(f *field) index {
	ix, ok := t.indexes[f.id]
	if !ok {
		ix = index{}
		for _, r := range t.records {
			ix.add(r.cells[f.id], r)
		}
		t.indexes[f.id] = ix
	}
	return ix
}

// reindex moves a record from its old value to its new one.
func (t *table) reindex(f *field, r *record, old, now any) {
	if ix, ok := t.indexes[f.id]; ok {
		ix.remove(old, r)
		ix.add(now, r)
	}
}

func (ix index) add(v any, r *record) {
	key := indexKey(v)
	if ix[key] == nil {
		ix[key] = map[*record]bool{}
	}
	ix[key][r] = true
}

func (ix index) remove(v any, r *record) {
	key := indexKey(v)
	delete(ix[key], r)
	if len(ix[key]) == 0 {
		delete(ix, key)
	}
}

// find gives the records that hold any of the values, in table order.
func (ix index) find(values ...any) []*record {
	var found []*record
	seen := map[string]bool{}
	for _, v := range values {
		key := indexKey(v)
		if seen[key] {
			continue
		}
		seen[key] = true
		for r := range ix[key] {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *record) int { return cmp.Compare(a.seq, b.seq) })
	return found
}

// indexKey tells stored values apart.
func indexKey(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return "s" + v
	case []string:
		return "l" + strings.Join(v, "\x00")
	}
	return fmt.Sprintf("%T%v", v, v)
}
