package sandbox

import (
	"encoding/json"
	"slices"
)

// notifyHooks records a commit for every webhook that watches it.
func (s *Sandbox) notifyHooks(c *commit) {
	for _, h := range c.base.hooks {
		if !h.active(c.at) {
			continue
		}
		tables := h.changedTables(c)
		if len(tables) == 0 {
			continue
		}
		h.payloads = append(h.payloads, hookPayload{number: h.next, at: c.at, body: map[string]any{
			"timestamp": formatTime(c.at), "baseTransactionNumber": c.base.transactions, "payloadFormat": "v0",
			"actionMetadata": c.by.metadata(), "changedTablesById": tables,
		}})
		h.next++
		if h.url != "" && h.notify && h.pingDue.IsZero() {
			h.pingDue = s.clock.now()
			s.nudge()
		}
	}
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

// changedTables is the part of a commit that the webhook's filters let through.
func (h *webhook) changedTables(c *commit) map[string]any {
	f := h.filter.Options.Filters
	if !slices.Contains(f.DataTypes, "tableData") || (len(f.FromSources) > 0 && !slices.Contains(f.FromSources, c.by.source)) {
		return nil
	}
	out := map[string]*tableChange{}
	at := func(t *table) *tableChange {
		if out[t.id] == nil {
			out[t.id] = &tableChange{}
		}
		return out[t.id]
	}
	for r, t := range c.destroyed {
		if h.watches(t, nil, "remove") {
			at(t).Destroyed = append(at(t).Destroyed, r.id)
		}
	}
	rd := c.base.reader(c.at)
	for r, t := range c.created {
		if c.destroyed[r] == nil && h.watches(t, nil, "add") {
			at(t).created(rd, r, t)
		}
	}
	for _, change := range c.changes {
		created, destroyed := c.created[change.record] != nil, c.destroyed[change.record] != nil
		if change.field != nil && !created && !destroyed && h.watches(change.table, change.field, "update") {
			at(change.table).updated(rd, change, h)
		}
	}
	tables := map[string]any{}
	for id, t := range out {
		slices.Sort(t.Destroyed)
		tables[id] = t
	}
	return tables
}

// watches applies the scope, the kinds of change and the watched fields.
func (h *webhook) watches(t *table, f *field, kind string) bool {
	filters := h.filter.Options.Filters
	if len(filters.ChangeTypes) > 0 && !slices.Contains(filters.ChangeTypes, kind) {
		return false
	}
	if filters.Scope != "" && filters.Scope != t.id && !slices.ContainsFunc(t.views, func(v *view) bool { return v.id == filters.Scope }) {
		return false
	}
	return f == nil || len(filters.Watch) == 0 || slices.Contains(filters.Watch, f.id)
}

type tableChange struct {
	Created   map[string]any           `json:"createdRecordsById,omitempty"`
	Changed   map[string]*recordChange `json:"changedRecordsById,omitempty"`
	Destroyed []string                 `json:"destroyedRecordIds,omitempty"`
}

type recordChange struct {
	Current   *cellValues `json:"current"`
	Previous  *cellValues `json:"previous,omitempty"`
	Unchanged *cellValues `json:"unchanged,omitempty"`
}

type cellValues struct {
	Values map[string]any `json:"cellValuesByFieldId"`
}

func (tc *tableChange) created(rd *reader, r *record, t *table) {
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

func (tc *tableChange) updated(rd *reader, change *cellChange, h *webhook) {
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
