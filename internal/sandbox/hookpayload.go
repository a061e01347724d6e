package sandbox

import (
	"encoding/json"
	"slices"
)

// notifyHooks records a commit for every webhook that watches it. One whose
// filters name what is gone says so and records nothing more.
func (s *Sandbox) notifyHooks(c *commit) {
	for _, h := range c.base.hooks {
		if !h.active(c.at) || h.broken {
			continue
		}
		body := map[string]any{"timestamp": formatTime(c.at), "baseTransactionNumber": c.base.transactions, "payloadFormat": "v0"}
		if h.broken = c.base.misses(h.filter) != ""; h.broken {
			body["error"], body["code"] = true, "INVALID_FILTERS"
		} else if !h.tell(c, body) {
			continue
		}
		h.payloads = append(h.payloads, hookPayload{number: h.next, at: c.at, body: body})
		h.next++
		if h.url != "" && h.notify && h.pingDue.IsZero() {
			h.pingDue = s.clock.now()
			s.nudge()
		}
	}
}

// tell adds what the webhook's filters let through of a commit, and says
// whether that is anything.
func (h *webhook) tell(c *commit, body map[string]any) bool {
	if sources := h.filter.Options.Filters.FromSources; len(sources) > 0 && !slices.Contains(sources, c.by.source) {
		return false
	}
	tables := map[string]*tableChange{}
	at := func(id string) *tableChange {
		if tables[id] == nil {
			tables[id] = &tableChange{}
		}
		return tables[id]
	}
	h.tellRecords(c, at)
	h.tellSchema(c, at, body)
	if len(tables) > 0 {
		body["changedTablesById"] = tables
	}
	body["actionMetadata"] = c.by.metadata()
	return len(tables) > 0 || body["createdTablesById"] != nil || body["destroyedTableIds"] != nil
}

func (a actor) metadata() map[string]any {
	out := map[string]any{"source": a.source}
	if a.source == "client" || a.source == "publicApi" {
		user := a.person.object()
		user["permissionLevel"] = a.role.String()
		out["sourceMetadata"] = map[string]any{"user": user}
	}
	return out
}

// tellRecords adds the cells and records that changed.
func (h *webhook) tellRecords(c *commit, at func(table string) *tableChange) {
	if !slices.Contains(h.filter.Options.Filters.DataTypes, "tableData") {
		return
	}
	rd := c.base.reader(c.at)
	for r, t := range c.destroyed {
		if h.watches(t, nil, "remove") && h.shows(rd, t, r) {
			part := at(t.id).part(h, t)
			part.Destroyed = append(part.Destroyed, r.id)
			slices.Sort(part.Destroyed)
		}
	}
	for r, t := range c.created {
		if c.destroyed[r] == nil && h.watches(t, nil, "add") && h.shows(rd, t, r) {
			at(t.id).part(h, t).created(rd, r, t)
		}
	}
	for _, change := range c.changes {
		created, destroyed := c.created[change.record] != nil, c.destroyed[change.record] != nil
		if change.field != nil && !created && !destroyed &&
			h.watches(change.table, change.field, "update") && h.shows(rd, change.table, change.record) {
			at(change.table.id).part(h, change.table).updated(rd, change, h)
		}
	}
}

// watches applies the scope, the kinds of change and the watched fields.
func (h *webhook) watches(t *table, f *field, kind string) bool {
	filters := h.filter.Options.Filters
	if !h.wants(kind) || (filters.Scope != "" && filters.Scope != t.id && h.view(t) == nil) {
		return false
	}
	return f == nil || len(filters.Watch) == 0 || slices.Contains(filters.Watch, f.id)
}

func (h *webhook) wants(kind string) bool {
	kinds := h.filter.Options.Filters.ChangeTypes
	return len(kinds) == 0 || slices.Contains(kinds, kind)
}

// view is the table's view that the webhook's scope names, nil for none.
func (h *webhook) view(t *table) *view {
	for _, v := range t.views {
		if v.id == h.filter.Options.Filters.Scope {
			return v
		}
	}
	return nil
}

// shows says whether the record stands in the view that the webhook watches.
func (h *webhook) shows(rd *reader, t *table, r *record) bool {
	v := h.view(t)
	return v == nil || v.filter == nil || v.filter.eval(rd, r).Truthy()
}

// tableChange has its records in Views where the webhook watches one.
type tableChange struct {
	recordChanges
	Views           map[string]*recordChanges `json:"changedViewsById,omitempty"`
	Metadata        *metadataChange           `json:"changedMetadata,omitempty"`
	CreatedFields   map[string]fieldInfo      `json:"createdFieldsById,omitempty"`
	ChangedFields   map[string]*fieldChange   `json:"changedFieldsById,omitempty"`
	DestroyedFields []string                  `json:"destroyedFieldIds,omitempty"`
}

type recordChanges struct {
	Created   map[string]any           `json:"createdRecordsById,omitempty"`
	Changed   map[string]*recordChange `json:"changedRecordsById,omitempty"`
	Destroyed []string                 `json:"destroyedRecordIds,omitempty"`
}

// part is where the table's records are told of.
func (tc *tableChange) part(h *webhook, t *table) *recordChanges {
	v := h.view(t)
	if v == nil {
		return &tc.recordChanges
	}
	if tc.Views == nil {
		tc.Views = map[string]*recordChanges{v.id: {}}
	}
	return tc.Views[v.id]
}

type recordChange struct {
	Current   *cellValues `json:"current"`
	Previous  *cellValues `json:"previous,omitempty"`
	Unchanged *cellValues `json:"unchanged,omitempty"`
}

type cellValues struct {
	Values map[string]any `json:"cellValuesByFieldId"`
}

func (tc *recordChanges) created(rd *reader, r *record, t *table) {
	if tc.Created == nil {
		tc.Created = map[string]any{}
	}
	cells := map[string]any{}
	for _, f := range t.fields {
		if v := r.cells[f.id]; v != nil {
			cells[f.id] = rd.full(f, v)
		}
	}
	tc.Created[r.id] = map[string]any{"createdTime": formatTime(r.created), "cellValuesByFieldId": cells}
}

func (tc *recordChanges) updated(rd *reader, change *cellChange, h *webhook) {
	if tc.Changed == nil {
		tc.Changed = map[string]*recordChange{}
	}
	rc := tc.Changed[change.record.id]
	if rc == nil {
		rc = &recordChange{Current: &cellValues{map[string]any{}}}
		tc.Changed[change.record.id] = rc
		rc.include(rd, change, h)
	}
	rc.Current.Values[change.field.id] = rd.full(change.field, change.new)
	if h.filter.Options.Includes.Previous {
		if rc.Previous == nil {
			rc.Previous = &cellValues{map[string]any{}}
		}
		if _, known := rc.Previous.Values[change.field.id]; !known {
			rc.Previous.Values[change.field.id] = rd.full(change.field, change.old)
		}
	}
	if rc.Unchanged != nil {
		delete(rc.Unchanged.Values, change.field.id)
		if len(rc.Unchanged.Values) == 0 {
			rc.Unchanged = nil
		}
	}
}

// include adds the cells that the webhook always wants to see.
func (rc *recordChange) include(rd *reader, change *cellChange, h *webhook) {
	wanted := h.filter.Options.Includes.Values
	if len(wanted) == 0 {
		return
	}
	var ids []string
	var all string
	if json.Unmarshal(wanted, &ids) != nil && (json.Unmarshal(wanted, &all) != nil || all != "all") {
		return
	}
	cells := map[string]any{}
	for _, f := range change.table.fields {
		if all != "all" && !slices.Contains(ids, f.id) {
			continue
		}
		if f.kind.computed {
			if v := rd.wire(change.record, f); v != nil {
				cells[f.id] = v
			}
		} else if v := change.record.cells[f.id]; v != nil {
			cells[f.id] = rd.full(f, v)
		}
	}
	if len(cells) > 0 {
		rc.Unchanged = &cellValues{cells}
	}
}

// full is a stored cell in the format of webhooks: options, links and people
// as objects.
func (rd *reader) full(f *field, v any) any {
	switch v := v.(type) {
	case string:
		if c := f.choiceByID(v); c != nil {
			return c
		}
	case []string:
		var items []any
		for _, id := range v {
			if f.is("multipleRecordLinks") {
				name := ""
				if r := f.linked.byID[id]; r != nil {
					name = rd.title(f.linked, r)
				}
				items = append(items, map[string]any{"id": id, "name": name})
			} else if c := f.choiceByID(id); c != nil {
				items = append(items, c)
			}
		}
		return items
	case person:
		o := v.object()
		o["permissionLevel"] = "edit"
		return o
	}
	return rd.stored(f, v)
}
