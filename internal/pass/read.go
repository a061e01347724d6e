package pass

import (
	"context"
	"errors"
	"slices"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
)

// read reads the chunk's records by key in one request, asking by name for key, versions, guards,
// stamp and the fields that matter (C4, C6). Read and write are booked together, so that they go
// back to back.
func (w *chunk) read(ctx context.Context) error {
	keys, fields := w.wanted()
	if len(keys) == 0 {
		return nil
	}
	names := w.stamped(w.target.ReadFieldsFor(fields, w.target.VersionFields()...))
	recs, err := w.list(ctx, lookUp{target: w.target, keys: keys, fields: names, slots: w.slots()})
	if e, ok := errors.AsType[*airtable.Error](err); ok && e.IsUnknownField() && !w.again {
		return w.readAgain(ctx)
	}
	if err != nil {
		return w.requestFailed(ctx, err)
	}
	for _, r := range recs {
		key, ok := keyText(r.Fields[w.target.KeyField])
		if !ok {
			continue
		}
		for _, it := range w.live() {
			if it.TargetID == key {
				it.found = append(it.found, found{id: r.ID, fields: r.Fields})
			}
		}
	}
	w.probe(ctx, StepRead)
	return nil
}

// stamped adds the stamp fields that earlier writes were sent with: the configuration may have changed
// since.
func (w *chunk) stamped(names []string) []string {
	for _, it := range w.live() {
		for _, in := range it.Intents {
			if in.Stamp != "" && !slices.Contains(names, in.Stamp) {
				names = append(names, in.Stamp)
			}
		}
	}
	return names
}

// readAgain judges the members by a fresh schema, since the table has lost a field that we asked for,
// and then reads what is left. Whoever still asks for a lost field is told so by the read (C4).
func (w *chunk) readAgain(ctx context.Context) error {
	w.again = true
	if err := w.prepareBy(ctx, 0); err != nil || w.done {
		return err
	}
	return w.read(ctx)
}

// slots is one for the read and, where something may be written, one for the write right behind it.
func (w *chunk) slots() int {
	for _, it := range w.live() {
		if w.hold != nil && slices.ContainsFunc(it.members, func(m *member) bool { return m.problem == nil }) {
			return 2
		}
	}
	return 1
}

// wanted are the keys to look up and the payload fields to ask for.
func (w *chunk) wanted() (keys, fields []string) {
	for _, it := range w.live() {
		if it.TargetID == "" || !it.needsRead() {
			continue
		}
		keys = append(keys, it.TargetID)
		for _, m := range it.members {
			for name := range m.write.Fields {
				fields = append(fields, name)
			}
		}
		for _, in := range it.Intents {
			for name := range in.Fields {
				fields = append(fields, name)
			}
		}
	}
	slices.Sort(fields)
	fields = slices.Compact(fields)
	known := func(name string) bool { _, ok := w.target.Fields[name]; return !ok }
	return keys, slices.DeleteFunc(fields, known)
}

// needsRead tells whether the record can matter: to an earlier write, or to a member that is valid.
func (it *item) needsRead() bool {
	return len(it.Intents) > 0 || slices.ContainsFunc(it.members, func(m *member) bool { return m.problem == nil })
}

// records are the item's matches as a decision under one version field sees them.
func (it *item) records(s *pipeline.Source) []deadletter.Record {
	var out []deadletter.Record
	for _, f := range it.found {
		r := deadletter.Record{ID: f.id, Fields: f.fields}
		if s != nil {
			v, err := s.ReadVersion(f.fields)
			r.Version, r.VersionUnreadable = v, err != nil
		}
		out = append(out, r)
	}
	return out
}
