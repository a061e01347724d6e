package sandbox

import (
	"cmp"
	"slices"

	"airtable-replay/internal/sandbox/formula"
)

// lookup is an index of a table over what a formula gives for each record. It
// is built at first use; a record that changes is looked at again at the next.
type lookup struct {
	name    string // the formula in canonical form
	code    *code
	keys    map[*record]formula.Key
	records map[formula.Key][]*record
	stale   map[*record]bool
}

// maxLookups bounds the indexes of one table, since clients name the formulas.
const maxLookups = 8

// lookUp finds the records that have one of the keys, in table order; false
// where no index can be kept.
func (t *table) lookUp(rd *reader, subject *code, keys []formula.Key) ([]*record, bool) {
	if !subject.local(0) {
		return nil, false
	}
	ix := t.lookup(subject)
	ix.refresh(rd, t)
	var found []*record
	seen := map[formula.Key]bool{}
	for _, key := range keys {
		if !seen[key] {
			seen[key] = true
			found = append(found, ix.records[key]...)
		}
	}
	slices.SortFunc(found, func(a, b *record) int { return cmp.Compare(a.seq, b.seq) })
	return found, true
}

// lookup gives the index of a formula, and makes it the last to be given up.
func (t *table) lookup(subject *code) *lookup {
	name := subject.expr.Spelling(func(name string) string { return subject.refs[name].id })
	at := slices.IndexFunc(t.lookups, func(ix *lookup) bool { return ix.name == name })
	if at >= 0 {
		ix := t.lookups[at]
		t.lookups = append(slices.Delete(t.lookups, at, at+1), ix)
		return ix
	}
	ix := &lookup{name: name, code: subject, keys: make(map[*record]formula.Key, len(t.records)),
		records: make(map[formula.Key][]*record, len(t.records)), stale: make(map[*record]bool, len(t.records))}
	for _, r := range t.records {
		ix.stale[r] = true
	}
	if len(t.lookups) == maxLookups {
		t.lookups = slices.Delete(t.lookups, 0, 1)
	}
	t.lookups = append(t.lookups, ix)
	return ix
}

// refresh puts every stale record where it belongs now.
func (ix *lookup) refresh(rd *reader, t *table) {
	for r := range ix.stale {
		if old, known := ix.keys[r]; known {
			ix.remove(old, r)
		}
		if t.byID[r.id] != r {
			continue
		}
		key := ix.code.eval(rd, r).Key()
		ix.keys[r] = key
		ix.records[key] = append(ix.records[key], r)
	}
	clear(ix.stale)
}

func (ix *lookup) remove(key formula.Key, r *record) {
	delete(ix.keys, r)
	left := slices.DeleteFunc(ix.records[key], func(x *record) bool { return x == r })
	if len(left) == 0 {
		delete(ix.records, key)
		return
	}
	ix.records[key] = left
}

// touched marks a record whose cells or stamps are about to be others.
func (t *table) touched(r *record) {
	for _, ix := range t.lookups {
		ix.stale[r] = true
	}
}

// reshaped forgets what was found under another schema of the base.
func (b *base) reshaped() {
	for _, t := range b.tables {
		t.lookups = nil
	}
}

// local says whether the formula's value follows from the record alone, so
// that it changes only when the record does.
func (c *code) local(depth int) bool {
	if c.expr.Volatile() || !c.valid() {
		return false
	}
	for _, f := range c.refs {
		if !f.local(depth + 1) {
			return false
		}
	}
	return true
}

// local is the same of a cell. Links show the names of other records, lookups
// and rollups their cells, and a file's URL changes with the time.
func (f *field) local(depth int) bool {
	if f.code != nil && f.is("formula", "button") {
		return depth < maxDepth && f.code.local(depth)
	}
	return !f.is("multipleRecordLinks", "multipleLookupValues", "rollup", "multipleAttachments")
}
