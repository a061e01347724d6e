package sandbox

import "slices"

type metadataChange struct {
	Current  tableInfo `json:"current"`
	Previous tableInfo `json:"previous"`
}

type fieldChange struct {
	Current  fieldInfo  `json:"current"`
	Previous *fieldInfo `json:"previous,omitempty"`
}

// tableCreation has of a new table what the webhook's data types are about.
type tableCreation struct {
	Metadata *tableInfo           `json:"metadata,omitempty"`
	Fields   map[string]fieldInfo `json:"fieldsById,omitempty"`
}

// tellSchema adds the tables and fields that changed. New and deleted tables
// are outside of every scope that names one.
func (h *webhook) tellSchema(c *commit, at func(table string) *tableChange, body map[string]any) {
	if c.reshaped.none() {
		return
	}
	filters := h.filter.Options.Filters
	fields, metadata := slices.Contains(filters.DataTypes, "tableFields"), slices.Contains(filters.DataTypes, "tableMetadata")
	if filters.Scope == "" && (fields || metadata) {
		h.tellTables(c.reshaped, fields, metadata, body)
	}
	for id, change := range c.reshaped.tables {
		t := c.base.table(id)
		if t == nil || (filters.Scope != "" && filters.Scope != id && h.view(t) == nil) {
			continue
		}
		if metadata && change.before.Metadata != change.after.Metadata && h.wants("update") {
			at(id).Metadata = &metadataChange{Current: change.after.Metadata, Previous: change.before.Metadata}
		}
		if fields {
			h.tellFields(change, func() *tableChange { return at(id) })
		}
	}
}

func (h *webhook) tellTables(s *schemaChange, fields, metadata bool, body map[string]any) {
	created := map[string]tableCreation{}
	for _, id := range s.created {
		var t tableCreation
		table := s.after[id]
		if metadata {
			t.Metadata = &table.Metadata
		}
		if fields {
			t.Fields = table.Fields
		}
		created[id] = t
	}
	if len(created) > 0 && h.wants("add") {
		body["createdTablesById"] = created
	}
	if len(s.destroyed) > 0 && h.wants("remove") {
		body["destroyedTableIds"] = s.destroyed
	}
}

func (h *webhook) tellFields(change tableReshape, table func() *tableChange) {
	watched := h.filter.Options.Filters.WatchSchemas
	for _, id := range change.created {
		if h.wants("add") {
			tc := table()
			if tc.CreatedFields == nil {
				tc.CreatedFields = map[string]fieldInfo{}
			}
			tc.CreatedFields[id] = change.after.Fields[id]
		}
	}
	for _, id := range change.changed {
		if h.wants("update") && (len(watched) == 0 || slices.Contains(watched, id)) {
			tc := table()
			if tc.ChangedFields == nil {
				tc.ChangedFields = map[string]*fieldChange{}
			}
			fc := &fieldChange{Current: change.after.Fields[id]}
			if before := change.before.Fields[id]; h.filter.Options.Includes.PreviousFields {
				fc.Previous = &before
			}
			tc.ChangedFields[id] = fc
		}
	}
	if len(change.destroyed) > 0 && h.wants("remove") {
		table().DestroyedFields = change.destroyed
	}
}
