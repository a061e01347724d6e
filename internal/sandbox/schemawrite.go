package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// fieldBody is a field as the schema API takes it.
type fieldBody struct {
	Name        string         `json:"name"`
	Type        string         `json:"type"`
	Description string         `json:"description"`
	Options     *optionsBody   `json:"options"`
	raw         map[string]any // options as sent
}

type optionsBody struct {
	Choices       []choice `json:"choices"`
	LinkedTableID string   `json:"linkedTableId"`
	TimeZone      string   `json:"timeZone"`
	Max           int      `json:"max"`
}

func (c *call) schemaBody(into any) error {
	if json.Unmarshal(c.body, into) != nil {
		if !json.Valid(c.body) {
			return typed(c.s.options.BadBodyStatus, "INVALID_REQUEST_BODY", "Could not parse request body")
		}
		return invalidRequest()
	}
	return nil
}

func serveCreateField(c *call) (any, error) {
	var body fieldBody
	if err := c.schemaBody(&body); err != nil {
		return nil, err
	}
	var whole struct {
		Options map[string]any `json:"options"`
	}
	if err := c.schemaBody(&whole); err != nil {
		return nil, err
	}
	body.raw = whole.Options
	f, err := c.createField(c.table, body)
	if err != nil {
		return nil, err
	}
	return f.schema(), nil
}

// createField refuses what Airtable's schema API refuses: computed fields, the
// guards among them, have to be added by hand.
func (c *call) createField(t *table, body fieldBody) (*field, error) {
	k := kinds[body.Type]
	switch {
	case k == nil || body.Name == "":
		return nil, invalidRequest()
	case k.createRefused:
		return nil, unprocessable("UNSUPPORTED_FIELD_TYPE_FOR_CREATE", "Creating %s fields is not supported at this time", body.Type)
	case t.field(body.Name) != nil:
		return nil, unprocessable("DUPLICATE_OR_EMPTY_FIELD_NAME", "A field with the name \"%s\" exists already", body.Name)
	}
	options := body.Options
	if options == nil {
		options = &optionsBody{}
	}
	sf := SeedField{Name: body.Name, Type: body.Type, Max: options.Max, TimeZone: options.TimeZone}
	if k.name == "multipleRecordLinks" {
		linked := t.base.table(options.LinkedTableID)
		if linked == nil {
			return nil, invalidRequest()
		}
		sf.LinkedTable, sf.Inverse = linked.id, linked.freeName(t.name)
	}
	for _, ch := range options.Choices {
		sf.Choices = append(sf.Choices, ch.Name)
	}
	return c.addField(t, k, sf, body)
}

func (c *call) addField(t *table, k *kind, sf SeedField, body fieldBody) (*field, error) {
	f := t.addField(newID("fld"), sf.Name, k)
	f.desc = body.Description
	if f.configure(sf) != "" {
		t.fields = t.fields[:len(t.fields)-1]
		return nil, invalidRequest()
	}
	for name, value := range body.raw {
		if name != "choices" && name != "linkedTableId" {
			f.config[name] = value
		}
	}
	for i, ch := range f.choices {
		if color := body.Options.Choices[i].Color; color != "" {
			ch.Color = color
		}
	}
	return f, nil
}

// freeName is what Airtable calls the other end of a link: the table's name,
// with a number when that is taken.
func (t *table) freeName(name string) string {
	candidate := name
	for n := 2; t.field(candidate) != nil; n++ {
		candidate = fmt.Sprintf("%s %d", name, n)
	}
	return candidate
}

// serveChangeField renames or describes a field, or changes a select's options.
func serveChangeField(c *call) (any, error) {
	f := c.table.field(c.params["field"])
	if f == nil {
		return nil, forbidden()
	}
	var body struct {
		Name        *string      `json:"name"`
		Description *string      `json:"description"`
		Options     *optionsBody `json:"options"`
	}
	if err := c.schemaBody(&body); err != nil {
		return nil, err
	}
	if body.Name == nil && body.Description == nil && body.Options == nil {
		return nil, invalidRequest()
	}
	if body.Name != nil {
		if other := c.table.field(*body.Name); *body.Name == "" || (other != nil && other != f) {
			return nil, unprocessable("DUPLICATE_OR_EMPTY_FIELD_NAME", "A field with the name \"%s\" exists already", *body.Name)
		}
	}
	if body.Options != nil {
		if err := f.changeChoices(body.Options.Choices); err != nil {
			return nil, err
		}
	}
	if body.Name != nil {
		f.name = *body.Name
	}
	if body.Description != nil {
		f.desc = *body.Description
	}
	return f.schema(), nil
}

// changeChoices takes the whole new list: known ids keep their cells, the rest are new.
func (f *field) changeChoices(list []choice) error {
	if !f.is("singleSelect", "multipleSelects") || list == nil {
		return invalidRequest()
	}
	var next []*choice
	seen := map[string]bool{}
	for i, ch := range list {
		if ch.Name == "" || seen[ch.Name] || (ch.ID != "" && f.choiceByID(ch.ID) == nil) {
			return invalidRequest()
		}
		seen[ch.Name] = true
		if ch.ID == "" {
			ch.ID = newID("sel")
		}
		if ch.Color == "" {
			ch.Color = choiceColor(i)
		}
		next = append(next, &ch)
	}
	f.choices = next
	return nil
}

func serveCreateTable(c *call) (any, error) {
	var body struct {
		Name        string            `json:"name"`
		Description string            `json:"description"`
		Fields      []json.RawMessage `json:"fields"`
	}
	if err := c.schemaBody(&body); err != nil {
		return nil, err
	}
	if body.Name == "" || len(body.Fields) == 0 {
		return nil, invalidRequest()
	}
	if c.base.table(body.Name) != nil {
		return nil, typed(http.StatusUnprocessableEntity, "DUPLICATE_TABLE_NAME", "Table name is not unique: "+body.Name)
	}
	t := newTable(c.base, newID("tbl"), body.Name)
	t.desc = body.Description
	for _, raw := range body.Fields {
		one := *c
		one.body = raw
		var spec fieldBody
		if err := one.schemaBody(&spec); err != nil {
			return nil, err
		}
		if spec.Type == "multipleRecordLinks" {
			return nil, invalidRequest() // its other end would outlive a refused table
		}
		if _, err := c.createField(t, spec); err != nil {
			return nil, err
		}
	}
	t.primary = t.fields[0]
	c.base.tables = append(c.base.tables, t)
	return t.schema(false), nil
}

func serveChangeTable(c *call) (any, error) {
	var body struct {
		Name        *string `json:"name"`
		Description *string `json:"description"`
	}
	if err := c.schemaBody(&body); err != nil {
		return nil, err
	}
	if body.Name != nil {
		if other := c.base.table(*body.Name); *body.Name == "" || (other != nil && other != c.table) {
			return nil, typed(http.StatusUnprocessableEntity, "DUPLICATE_TABLE_NAME", "Table name is not unique: "+*body.Name)
		}
		c.table.name = *body.Name
	}
	if body.Description != nil {
		c.table.desc = *body.Description
	}
	return c.table.schema(false), nil
}
