package sandbox

import (
	"airtable-replay/internal/sandbox/formula"
)

func errorCell() any { return map[string]any{"error": "#ERROR!"} }

func computeFormula(rd *reader, r *record, f *field) any {
	switch v := f.code.eval(rd, r).Any().(type) {
	case bool: // the API shows a formula's truth as a number
		if v {
			return 1.0
		}
		return 0.0
	default:
		return v
	}
}

// computeRollup applies the rollup's formula to the values of the linked records.
func computeRollup(rd *reader, r *record, f *field) any {
	values, ok := f.linkedValues(rd, r)
	if !ok {
		return errorCell()
	}
	env := &recordEnv{reader: rd, code: f.code, record: r, values: values, rollup: true}
	return f.code.expr.Eval(env).Any()
}

func computeLookup(rd *reader, r *record, f *field) any {
	values, ok := f.linkedValues(rd, r)
	if !ok {
		return []any{errorCell()}
	}
	if len(values) == 0 {
		return nil
	}
	return values
}

// linkedValues are the non-empty cells of the linked records, lists laid flat;
// false when the link or its target is gone.
func (f *field) linkedValues(rd *reader, r *record) ([]any, bool) {
	if f.via.gone() || f.target.gone() {
		return nil, false
	}
	var values []any
	ids, _ := r.cells[f.via.id].([]string)
	for _, id := range ids {
		linked := f.via.linked.byID[id]
		if linked == nil {
			continue
		}
		switch v := rd.lookedUp(linked, f.target).(type) {
		case nil:
		case []any:
			values = append(values, v...)
		default:
			values = append(values, v)
		}
	}
	return values, true
}

// lookedUp is a cell as a lookup shows it: links by ID, files and people as
// objects, everything else in the formula language.
func (rd *reader) lookedUp(r *record, f *field) any {
	switch v := r.cells[f.id].(type) {
	case []string:
		if f.is("multipleRecordLinks") {
			ids := make([]any, len(v))
			for i, id := range v {
				ids[i] = id
			}
			return ids
		}
	case []attachment:
		return rd.wire(r, f)
	case person:
		return v.object()
	case []person:
		var people []any
		for _, p := range v {
			people = append(people, p.object())
		}
		return people
	}
	return rd.native(r, f)
}

func (p person) object() map[string]any {
	o := map[string]any{"id": p.ID}
	if p.Email != "" {
		o["email"] = p.Email
	}
	if p.Name != "" {
		o["name"] = p.Name
	}
	return o
}

func computeCount(_ *reader, r *record, f *field) any {
	if f.via.gone() {
		return errorCell()
	}
	ids, _ := r.cells[f.via.id].([]string)
	return float64(len(ids))
}

func computeAutoNumber(_ *reader, r *record, _ *field) any { return float64(r.number) }

func computeCreatedTime(_ *reader, r *record, f *field) any {
	if f.dateish {
		return formula.Date(r.created)
	}
	return r.created
}

func computeModifiedTime(_ *reader, r *record, f *field) any {
	at := r.lastChange(f.watches).at
	if f.dateish {
		return formula.Date(at)
	}
	return at
}

func computeCreatedBy(_ *reader, r *record, _ *field) any { return r.createdBy.object() }

func computeModifiedBy(_ *reader, r *record, f *field) any {
	return r.lastChange(f.watches).by.object()
}

// lastChange is the latest change of the watched fields, of any field when
// none is named. A record counts as changed by its creation.
func (r *record) lastChange(watched []*field) stamp {
	last := stamp{at: r.created, by: r.createdBy}
	take := func(s stamp) {
		if s.at.After(last.at) || (s.at.Equal(last.at) && s.turn > last.turn) {
			last = s
		}
	}
	if len(watched) == 0 {
		for _, s := range r.stamps {
			take(s)
		}
	}
	for _, f := range watched {
		take(r.stamps[f.id])
	}
	return last
}

// computeButton is present on every record; its URL is a formula.
func computeButton(rd *reader, r *record, f *field) any {
	label, _ := f.config["label"].(string)
	if label == "" {
		label = f.name
	}
	button := map[string]any{"label": label, "url": nil}
	if f.code != nil {
		if url := f.code.eval(rd, r).Text(); url != "" {
			button["url"] = url
		}
	}
	return button
}

func computeNothing(*reader, *record, *field) any { return nil }
