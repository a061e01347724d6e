package sandbox

import (
	"slices"
)

type fieldJSON struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Type        string         `json:"type"`
	Description string         `json:"description,omitempty"`
	Options     map[string]any `json:"options,omitempty"`
}

type viewJSON struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Visible []string `json:"visibleFieldIds,omitempty"`
}

type tableJSON struct {
	ID             string      `json:"id"`
	Name           string      `json:"name"`
	Description    string      `json:"description,omitempty"`
	PrimaryFieldID string      `json:"primaryFieldId"`
	Fields         []fieldJSON `json:"fields"`
	Views          []viewJSON  `json:"views"`
}

// serveWhoami answers any valid token.
func serveWhoami(c *call) (any, error) {
	out := map[string]any{"id": c.token.owner.ID}
	scopes := c.token.scopes()
	if slices.Contains(scopes, "user.email:read") {
		out["email"] = c.token.owner.Email
	}
	if c.s.options.WhoamiScopes {
		out["scopes"] = scopes
	}
	return out, nil
}

// serveBases lists what the token may see the schema of, on one page.
func serveBases(c *call) (any, error) {
	bases := []map[string]string{}
	for _, b := range c.s.bases {
		if held := c.token.grants[b.id].role; c.token.allows(b.id, readSchema) && held > roleNone {
			bases = append(bases, map[string]string{"id": b.id, "name": b.name, "permissionLevel": held.String()})
		}
	}
	if !slices.Contains(c.token.scopes(), readSchema) {
		return nil, forbidden()
	}
	return map[string]any{"bases": bases}, nil
}

func serveTables(c *call) (any, error) {
	visible := slices.Contains(queryList(c.query, "include"), "visibleFieldIds")
	tables := make([]tableJSON, len(c.base.tables))
	for i, t := range c.base.tables {
		tables[i] = t.schema(visible)
	}
	return map[string]any{"tables": tables}, nil
}

func (t *table) schema(visible bool) tableJSON {
	out := tableJSON{ID: t.id, Name: t.name, Description: t.desc, PrimaryFieldID: t.primary.id,
		Fields: make([]fieldJSON, len(t.fields)), Views: make([]viewJSON, len(t.views))}
	for i, f := range t.fields {
		out.Fields[i] = f.schema()
	}
	for i, v := range t.views {
		out.Views[i] = viewJSON{ID: v.id, Name: v.name, Type: v.kind}
		if visible && v.kind == "grid" {
			for _, f := range t.fields {
				out.Views[i].Visible = append(out.Views[i].Visible, f.id)
			}
		}
	}
	return out
}

func (f *field) schema() fieldJSON {
	return fieldJSON{ID: f.id, Name: f.name, Type: f.kind.name, Description: f.desc, Options: f.options()}
}

// options describe a field; plain types have none.
func (f *field) options() map[string]any {
	switch f.kind.name {
	case "number", "percent":
		return f.configured("precision", 0)
	case "currency":
		return merged(f.configured("precision", 2), f.configured("symbol", "$"))
	case "duration":
		return f.configured("durationFormat", "h:mm:ss")
	case "rating":
		return merged(map[string]any{"max": f.max}, f.configured("icon", "star"), f.configured("color", "yellowBright"))
	case "checkbox":
		return merged(f.configured("icon", "check"), f.configured("color", "greenBright"))
	case "singleSelect", "multipleSelects":
		choices := f.choices
		if choices == nil {
			choices = []*choice{}
		}
		return map[string]any{"choices": choices}
	case "date":
		return f.configured("dateFormat", isoDate)
	case "dateTime":
		return merged(f.configured("dateFormat", isoDate), f.configured("timeFormat", clock24), f.configured("timeZone", "utc"))
	case "multipleRecordLinks":
		return f.linkOptions()
	case "createdTime":
		return map[string]any{"result": f.result()}
	case "formula", "rollup", "multipleLookupValues", "count", "lastModifiedTime", "lastModifiedBy":
		return f.computedOptions()
	}
	return nil
}

var (
	isoDate = map[string]any{"name": "iso", "format": "YYYY-MM-DD"}
	clock24 = map[string]any{"name": "24hour", "format": "HH:mm"}
)

func (f *field) configured(name string, otherwise any) map[string]any {
	if v, ok := f.config[name]; ok {
		return map[string]any{name: v}
	}
	return map[string]any{name: otherwise}
}

func merged(parts ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, part := range parts {
		for k, v := range part {
			out[k] = v
		}
	}
	return out
}

func (f *field) linkOptions() map[string]any {
	out := map[string]any{"linkedTableId": f.linked.id, "isReversed": false, "prefersSingleRecordLink": false}
	if f.inverse != nil {
		out["inverseLinkFieldId"] = f.inverse.id
	}
	return out
}

// result is the type of a computed time.
func (f *field) result() map[string]any {
	if f.dateish {
		return map[string]any{"type": "date", "options": map[string]any{"dateFormat": isoDate}}
	}
	return map[string]any{"type": "dateTime",
		"options": map[string]any{"dateFormat": isoDate, "timeFormat": clock24, "timeZone": "utc"}}
}

func (f *field) computedOptions() map[string]any {
	out := map[string]any{"isValid": true}
	switch f.kind.name {
	case "lastModifiedTime", "lastModifiedBy":
		ids := []string{}
		for _, w := range f.watches {
			ids = append(ids, w.id)
		}
		out["referencedFieldIds"] = ids
		if f.is("lastModifiedTime") {
			out["result"] = f.result()
		}
	case "formula":
		out["formula"], out["isValid"] = f.code.withIDs(), f.code.valid()
		out["referencedFieldIds"] = f.code.fieldIDs()
		out["result"] = map[string]any{"type": "singleLineText"}
	default:
		out["recordLinkFieldId"] = f.via.id
		out["isValid"] = !f.via.gone() && (f.target == nil || !f.target.gone())
		if f.target != nil {
			out["fieldIdInLinkedTable"] = f.target.id
			target := f.target.schema()
			out["result"] = map[string]any{"type": target.Type, "options": target.Options}
		}
	}
	return out
}
