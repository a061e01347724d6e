package pipeline

import (
	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
)

// Validate runs a payload through the one set of rules: parse, types of the table's own schema, then
// the configured rules on typed values. The write is whole only when Invalid is nil; Invalid names
// every fault at once. Absent fields are not touched, null clears a cell. A required field that is
// absent is a fault for a sender of full payloads; for one of changed fields it forbids creating a
// record (Write.CreateFault), which only an upsert can come to.
func (s *Source) Validate(payload []byte, op deadletter.Operation, schema *Schema) (Write, *Invalid) {
	identity, faults, readable := s.identify(payload)
	w := Write{
		Target: s.Target, Key: identity.TargetID, Version: identity.Version, Versionless: s.Versionless,
		Fields: map[string]any{},
	}
	if !readable {
		return w, newInvalid(faults)
	}
	t, ok := schema.table(s.Target.Table)
	if !ok {
		return w, newInvalid(append(faults, newFault("", "exists", deadletter.ReasonUnknownField,
			"no table %s in the base %s", show(s.Target.Table), s.Target.Base)))
	}
	faults = append(faults, s.roleFaults(t)...)
	faults = append(faults, keyFaults(s.Target, t, w.Key)...)
	c := &check{source: s, schema: schema, table: t, write: &w}
	c.run(string(payload))
	if c.present == 0 {
		nothing := newFault("", "payload", deadletter.ReasonValidationFailed, "nothing to write: the payload holds none of the source's fields")
		faults = append([]fault{nothing}, faults...)
	}
	faults = append(faults, c.faults...)
	if op == deadletter.Upsert {
		w.create = c.createFaults()
	}
	return w, newInvalid(faults)
}

// check is the validation of one payload's fields.
type check struct {
	source  *Source
	schema  *Schema
	table   *table
	write   *Write
	faults  []fault
	present int // fields that the payload holds
}

func (c *check) run(payload string) {
	for _, name := range c.source.fieldNames {
		value, ok, err := lookup(payload, c.source.fields[name])
		field := c.source.Target.Fields[name]
		switch {
		case err != nil:
			c.present++
			c.fault(name, "type", deadletter.ReasonInvalidValue, "%v", err)
		case ok:
			c.present++
			c.field(field, value)
		case field.Required && c.source.Sends == deadletter.SendsFull:
			c.fault(name, "required", deadletter.ReasonValidationFailed, "is required, and the payload has nothing at %s", c.source.fields[name].Text)
		}
	}
}

func (c *check) fault(field, rule string, reason deadletter.Reason, format string, args ...any) {
	c.faults = append(c.faults, newFault(field, rule, reason, format, args...))
}

// field takes one value: does the field exist, may it be written, is the value of its type, does it
// pass the rules? Rules judge only what has passed the types, since they panic on odd ones (R7).
func (c *check) field(field Field, value any) {
	f, ok := c.table.fields[field.Name]
	if !ok {
		c.faults = append(c.faults, c.table.unknown(field.Name))
		return
	}
	if guard := c.table.guardFault(field, f); guard != nil {
		c.faults = append(c.faults, *guard)
	}
	if computed := unwritable(f); computed != nil {
		c.faults = append(c.faults, *computed)
		return
	}
	if field.Link != "" {
		c.link(field, f, value)
		return
	}
	if value != nil {
		if found := typeFaults(field, f, value); len(found) > 0 {
			c.faults = append(c.faults, found...)
			return
		}
	}
	c.write.Fields[field.Name] = value
	c.faults = append(c.faults, judge(field, value)...)
}

// link takes the sender's IDs of records to link.
func (c *check) link(field Field, f airtable.Field, value any) {
	target := c.source.Target.links[field.Name]
	if wrong := linkFault(c.schema, f, target); wrong != nil {
		c.faults = append(c.faults, *wrong)
		return
	}
	if value == nil {
		c.write.Fields[field.Name] = nil
		c.faults = append(c.faults, judge(field, nil)...)
		return
	}
	keys, found := linkKeys(field.Name, value)
	if len(found) > 0 {
		c.faults = append(c.faults, found...)
		return
	}
	if len(keys) == 0 {
		c.write.Fields[field.Name] = []any{}
	} else {
		c.write.Links = append(c.write.Links, Link{Field: field.Name, Target: target.Name, Keys: keys})
	}
	for _, key := range keys {
		c.faults = append(c.faults, linkedKeyFaults(field.Name, c.schema, target, key)...)
	}
	if _, isList := value.([]any); !isList {
		c.faults = append(c.faults, judge(field, keys[0])...)
		return
	}
	c.faults = append(c.faults, judge(field, texts(keys))...)
}

// linkKeys reads the sender's IDs: one, or a list of them.
func linkKeys(field string, value any) ([]string, []fault) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var keys []string
	seen := map[string]bool{}
	for _, element := range list {
		var key string
		var err error
		if _, nested := element.([]any); nested {
			err = errNested
		} else {
			key, err = idText(element)
		}
		switch {
		case err == nil && seen[key]:
			return nil, []fault{newFault(field, "link", deadletter.ReasonInvalidValue, "names %s twice", show(key))}
		case element == "":
			return nil, []fault{newFault(field, "type", deadletter.ReasonInvalidValue, "an ID in it is empty text; send null or [] to clear the links")}
		case err != nil:
			return nil, []fault{newFault(field, "type", deadletter.ReasonInvalidValue, "an ID in it %v", err)}
		}
		seen[key] = true
		keys = append(keys, key)
	}
	return keys, nil
}

// createFaults are what forbids creating a record from the write.
func (c *check) createFaults() []fault {
	var faults []fault
	t := c.source.Target
	if f, ok := c.table.fields[t.KeyField]; ok {
		if computed := unwritable(f); computed != nil {
			faults = append(faults, *computed)
		}
	}
	for _, name := range t.FieldNames() {
		if !t.Fields[name].Required || c.writes(name) {
			continue
		}
		faults = append(faults, newFault(name, "required", deadletter.ReasonValidationFailed,
			"is required to create a record, and the payload does not have it"))
	}
	return faults
}

func (c *check) writes(field string) bool {
	if _, ok := c.write.Fields[field]; ok {
		return true
	}
	for _, link := range c.write.Links {
		if link.Field == field {
			return true
		}
	}
	return false
}
