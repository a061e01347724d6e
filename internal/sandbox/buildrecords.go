package sandbox

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// seedActor is who made the records of a seed.
var seedActor = actor{person: person{ID: "usrSandboxSeed0000", Name: "Seed"}, label: "seed"}

// records makes all records of a base first, and links them when all are there.
func (b *builder) records(base *base, sb SeedBase, path string) {
	tx := b.s.begin(base, seedActor, seedEpoch)
	for i, st := range sb.Tables {
		t := base.tables[i]
		for k, sr := range st.Records {
			b.record(tx, t, sr, fmt.Sprintf("%s.tables[%d].records[%d]", path, i, k))
		}
	}
	for i, st := range sb.Tables {
		t := base.tables[i]
		if len(t.records) != len(st.Records) {
			continue // a record at fault was not made
		}
		for k, sr := range st.Records {
			b.links(tx, t.records[k], sr, fmt.Sprintf("%s.tables[%d].records[%d]", path, i, k))
		}
	}
	for i, st := range sb.Tables {
		for k, sr := range st.Records {
			if len(b.faults) == 0 {
				base.tables[i].backdate(base.tables[i].records[k], sr)
			}
		}
	}
}

func (b *builder) record(tx *commit, t *table, sr SeedRecord, path string) {
	id := sr.ID
	switch {
	case id == "":
		id = fixedID("rec", t.base.id, t.id, strconv.Itoa(len(t.records)))
	case !prefixedID("rec", id):
		b.fault(sr.line, path+"._id", "%q is no record ID: rec and letters or digits", id)
	}
	for _, other := range t.base.tables {
		if other.byID[id] != nil {
			b.fault(sr.line, path+"._id", "%q is there twice", id)
			return
		}
	}
	tx.stamp = sr.created()
	r := tx.create(t, id)
	for name := range sr.Modified {
		if f := t.field(name); f == nil || f.kind.computed {
			b.fault(sr.line, path+"._modified", "%q is no editable field", name)
		}
	}
	for name, value := range sr.Fields {
		f := t.field(name)
		if f == nil {
			b.fault(sr.lines[name], path, "there is no field %q", name)
			continue
		}
		if f.is("multipleRecordLinks") {
			continue
		}
		if err := b.cell(tx, r, f, value); err != nil {
			b.fault(sr.lines[name], path+"."+name, "%s", complaint(err))
		}
	}
}

// cell checks a seeded value like a written one, except that text fields also
// take numbers.
func (b *builder) cell(tx *commit, r *record, f *field, value any) error {
	raw, err := encode(value)
	if err != nil {
		return err
	}
	v, err := decodeValue(raw)
	if err != nil {
		return err
	}
	if text, ok := scalarText(v); ok && (f.texty() || f.is("richText")) {
		v = text
	}
	w := &writer{options: b.s.options, base: tx.base, plan: newPlan(tx.at)}
	stored, err := w.cell(f, nil, v)
	if err != nil {
		return err
	}
	tx.set(f.table, r, f, stored, true)
	return nil
}

func (b *builder) links(tx *commit, r *record, sr SeedRecord, path string) {
	for name, value := range sr.Fields {
		t := tx.created[r]
		f := t.field(name)
		if f == nil || !f.is("multipleRecordLinks") {
			continue
		}
		refs, ok := value.([]any)
		if text, isText := value.(string); isText {
			refs, ok = []any{text}, true
		}
		if !ok && value != nil {
			b.fault(sr.lines[name], path+"."+name, "a list of record IDs or primary values is expected")
			continue
		}
		var ids []string
		for _, ref := range refs {
			text, _ := scalarText(ref)
			linked := f.linked.byID[text]
			if linked == nil {
				linked = tx.base.reader(tx.at).byPrimary(f.linked, text)
			}
			if linked == nil {
				b.fault(sr.lines[name], path+"."+name, "%s has no record %q", f.linked.name, text)
				continue
			}
			ids = append(ids, linked.id)
		}
		if len(ids) > 0 {
			tx.stamp = r.created
			held, _ := r.cells[f.id].([]string)
			tx.set(t, r, f, union(held, ids), true)
		}
	}
}

// union keeps what the other end of a link has put in already.
func union(held, added []string) []string {
	out := append([]string(nil), held...)
	seen := map[string]bool{}
	for _, id := range held {
		seen[id] = true
	}
	for _, id := range added {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// backdate sets when cells were last changed, after all links are made.
func (t *table) backdate(r *record, sr SeedRecord) {
	for id := range r.stamps {
		r.stamps[id] = stamp{at: r.created, by: r.createdBy}
	}
	for name, at := range sr.Modified {
		r.stamps[t.field(name).id] = stamp{at: at.UTC(), by: r.createdBy}
	}
}

// created is when the record was made: not after its first change.
func (sr SeedRecord) created() time.Time {
	at := seedEpoch
	if !sr.Created.IsZero() {
		at = sr.Created.UTC()
	}
	for _, changed := range sr.Modified {
		if changed.Before(at) {
			at = changed.UTC()
		}
	}
	return at
}

// complaint is a refusal without its envelope.
func complaint(err error) string {
	var refusal *apiError
	if !errors.As(err, &refusal) {
		return err.Error()
	}
	if body, ok := refusal.body.(map[string]any); ok {
		if p, ok := body["error"].(problem); ok {
			return strings.TrimSpace(p.Type + ": " + p.Message)
		}
	}
	return refusal.Error()
}
