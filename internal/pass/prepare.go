package pass

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
	"airtable-replay/internal/store"
)

// maxRestarts is how often a listing begins anew because its cursor expired.
const maxRestarts = 3

// dependencyWait is how long a member waits for the record that it links to, uncounted (R8).
const dependencyWait = 2 * time.Second

// prepare parses and validates every member by today's rules, and resolves links.
func (w *chunk) prepare(ctx context.Context) error { return w.prepareBy(ctx, w.recent) }

// prepareBy is prepare by a schema that is not older than age.
func (w *chunk) prepareBy(ctx context.Context, age time.Duration) error {
	schema, err := w.schemaOf(ctx, w.base, age)
	if err != nil {
		return w.requestFailed(ctx, err)
	}
	w.use(schema)
	if w.validate() && age > freshAge {
		// The table may have changed since its schema was read: judge by a fresh one.
		return w.prepareBy(ctx, freshAge)
	}
	if err := w.regroup(ctx); err != nil {
		return err
	}
	return w.resolveLinks(ctx)
}

func (w *chunk) use(s *pipeline.Schema) {
	w.schema, w.rules = s, w.target.Rules(s)
}

// validate parses all members; surprised tells whether a fault speaks of the table's own schema.
func (w *chunk) validate() (surprised bool) {
	for _, it := range w.live() {
		for _, m := range it.members {
			if m.Kind == deadletter.MemberRestore {
				w.prepareRestore(it, m)
				continue
			}
			write, invalid := m.source.Validate(m.RawPayload, m.Operation, w.schema)
			m.write, m.problem, m.mismatch = write, nil, false
			if invalid == nil {
				continue
			}
			m.problem, m.mismatch = invalid.Problem(), invalid.Mismatch
			surprised = surprised || invalid.Schema
		}
	}
	return surprised
}

// regroup gives members the key of their payload where it was unknown, so that they come up with the
// others of their record, and refuses those whose payload speaks of another record than they do.
func (w *chunk) regroup(ctx context.Context) error {
	for _, it := range w.live() {
		var rest []*member
		for _, m := range it.members {
			if m.problem != nil || m.write.Key == it.TargetID {
				rest = append(rest, m)
				continue
			}
			if it.TargetID == "" && w.hold == nil {
				it.TargetID = m.write.Key // a press would take it from the payload, too
				rest = append(rest, m)
				continue
			}
			if it.TargetID == "" {
				if err := w.fenced(func() error { return w.Store.SetTargetID(ctx, w.hold.Lease, m.MemberRef, m.write.Key) }); err != nil {
					return err
				}
				continue
			}
			m.problem = &deadletter.Problem{
				Reason: deadletter.ReasonValidationFailed,
				Detail: fmt.Sprintf("The payload is about %s %q, the entry about %q. Nothing was written.", w.target.KeyField, m.write.Key, it.TargetID),
			}
			rest = append(rest, m)
		}
		it.members = rest
		it.closed = it.closed || len(rest) == 0 && len(it.Intents) == 0
	}
	return nil
}

// resolveLinks looks the linked records up, one request for each linked table.
func (w *chunk) resolveLinks(ctx context.Context) error {
	keys := map[string][]string{}
	for _, it := range w.live() {
		for _, m := range it.members {
			for _, l := range m.write.Links {
				keys[l.Target] = append(keys[l.Target], l.Keys...)
			}
		}
	}
	ids := map[string]map[string][]string{}
	for name, list := range keys {
		slices.Sort(list)
		found, err := w.lookup(ctx, name, slices.Compact(list))
		if err != nil {
			return w.requestFailed(ctx, err)
		}
		ids[name] = found
	}
	for _, it := range w.live() {
		for _, m := range it.members {
			if err := w.resolve(ctx, it, m, ids); err != nil {
				return err
			}
		}
	}
	return nil
}

// resolve puts record IDs into a member's links. A member whose linked record is still to be written
// waits for it.
func (w *chunk) resolve(ctx context.Context, it *item, m *member, ids map[string]map[string][]string) error {
	if m.problem != nil {
		return nil
	}
	invalid := m.write.Resolve(ids)
	if invalid == nil {
		return nil
	}
	m.problem = invalid.Problem()
	if w.hold == nil {
		return w.expect(ctx, m, ids)
	}
	for _, l := range m.write.Links {
		for _, key := range l.Keys {
			if len(ids[l.Target][key]) > 0 {
				continue
			}
			waits, err := w.Store.OpenWork(ctx, l.Target, key)
			if err != nil {
				return err
			}
			if waits {
				it.members = slices.DeleteFunc(slices.Clone(it.members), func(o *member) bool { return o == m })
				it.closed = len(it.members) == 0 && len(it.Intents) == 0
				return w.postpone(ctx, store.Postpone{Members: []store.MemberRef{m.MemberRef}, Wait: dependencyWait})
			}
		}
	}
	return nil
}

// expect takes a member of a dry run as if its links resolved, when the run itself would make what they
// lead to.
func (w *chunk) expect(ctx context.Context, m *member, ids map[string]map[string][]string) error {
	if w.coming == nil || m.problem.Reason != deadletter.ReasonDependencyMissing {
		return nil
	}
	for _, l := range m.write.Links {
		for _, key := range l.Keys {
			if len(ids[l.Target][key]) > 0 {
				continue
			}
			if coming, err := w.coming(ctx, l.Target, key); err != nil || !coming {
				return err
			}
		}
		m.write.Fields[l.Field] = []any{"to be created"}
	}
	m.problem = nil
	return nil
}

func (w *chunk) postpone(ctx context.Context, p store.Postpone) error {
	return w.fenced(func() error { return w.Store.GiveUp(ctx, w.hold.Lease, nil, []store.Postpone{p}, nil) })
}

// lookup finds the records of a target by key: key to record IDs.
func (w *chunk) lookup(ctx context.Context, name string, keys []string) (map[string][]string, error) {
	t, ok := w.Book.Target(name)
	if !ok {
		return nil, fmt.Errorf("look up %q: no such target", name)
	}
	recs, err := w.list(ctx, lookUp{target: t, keys: keys, fields: []string{t.KeyField}, slots: 1})
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for _, r := range recs {
		if key, ok := keyText(r.Fields[t.KeyField]); ok {
			found[key] = append(found[key], r.ID)
		}
	}
	return found, nil
}

// lookUp is a read of the records of some keys, asking for fields by name (C4). slots is how many
// requests are booked with the first one.
type lookUp struct {
	target       *pipeline.Target
	keys, fields []string
	slots        int
}

func (w *chunk) list(ctx context.Context, l lookUp) ([]airtable.Record, error) {
	formula, err := w.keyFormula(l.target, l.keys)
	if err != nil {
		return nil, err
	}
	req := airtable.ListRequest{Base: w.base.ID, Table: l.target.Table, Fields: l.fields, Formula: formula}
	var recs []airtable.Record
	restarts := 0
	for offset := ""; ; l.slots = 1 {
		if err := w.Pacer.Wait(ctx, w.base.Name, l.slots); err != nil {
			return nil, err
		}
		page, next, err := w.base.Client.ListPage(ctx, req, offset)
		if e, ok := errors.AsType[*airtable.Error](err); ok && e.IsExpiredCursor() && restarts < maxRestarts {
			recs, offset, restarts = nil, "", restarts+1
			continue
		}
		if err != nil {
			return nil, err
		}
		recs = append(recs, page...)
		if next == "" {
			return recs, nil
		}
		offset = next
	}
}

func (w *chunk) keyFormula(t *pipeline.Target, keys []string) (string, error) {
	if t.KeyKind(w.schema) != deadletter.KindNumber {
		return airtable.EqualsAny(t.KeyField, keys), nil
	}
	var numbers []json.Number
	for _, k := range keys {
		numbers = append(numbers, json.Number(k))
	}
	return airtable.EqualsNumber(t.KeyField, numbers)
}

// keyText is a key cell as text; a lookup's one-element array counts as its element (case B12).
func keyText(cell any) (string, bool) {
	switch v := cell.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case []any:
		if len(v) == 1 {
			return keyText(v[0])
		}
	}
	return "", false
}
