package pipeline_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/config"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
)

// book is the configuration of testdata/config.yaml.
func book(t testing.TB) *pipeline.Book {
	t.Helper()
	data, err := os.ReadFile("testdata/config.yaml")
	require.NoError(t, err)
	file, err := config.Load(data, func(string) (string, bool) { return "patSandbox.x", true })
	require.NoError(t, err)
	b, err := pipeline.New(file)
	require.NoError(t, err)
	return b
}

func source(t testing.TB, name string) *pipeline.Source {
	t.Helper()
	s, ok := book(t).Source(name)
	require.True(t, ok)
	return s
}

// field is a field with an ID made of its name.
func field(name, kind string) airtable.Field {
	return airtable.Field{ID: "fld" + name, Name: name, Type: kind}
}

func choices(f airtable.Field, names ...string) airtable.Field {
	for _, name := range names {
		f.Options.Choices = append(f.Options.Choices, airtable.Choice{Name: name})
	}
	return f
}

func links(name, tableID string) airtable.Field {
	f := field(name, "multipleRecordLinks")
	f.Options.LinkedTableID = tableID
	return f
}

func watches(name string, ids ...string) airtable.Field {
	f := field(name, "lastModifiedTime")
	f.Options.ReferencedFieldIDs = ids
	return f
}

// tables is the base that testdata/config.yaml is written for.
func tables() []airtable.Table {
	stars := field("Stars", "rating")
	stars.Options.Max = 5
	return []airtable.Table{
		{ID: "tblThings000000001", Name: "Things", Fields: []airtable.Field{
			field("Thing ID", "singleLineText"), field("Source Updated At", "dateTime"), field("Replay Stamp", "singleLineText"),
			watches("Status Changed At", "fldStatus"), watches("Due Changed At"),
			field("Name", "singleLineText"), field("Mail", "email"), field("Notes", "multilineText"), field("Rich", "richText"),
			field("Short", "singleLineText"), field("Qty", "number"), field("Amount", "currency"), stars, field("Active", "checkbox"),
			choices(field("Status", "singleSelect"), "Paid", "Owner's share", "In Progress"),
			choices(field("Tags", "multipleSelects"), "red", "green", "blue"),
			field("Due", "date"), field("Paid On", "date"), field("Meeting", "dateTime"), links("Owner", "tblPeople000000001"),
			field("Person", "singleCollaborator"), field("People", "multipleCollaborators"), field("Invoice PDF", "multipleAttachments"),
			field("Code", "barcode"), field("Full Name", "formula"), field("Created", "createdTime"),
			field("From Order", "multipleLookupValues"), links("Order", "tblOrders000000001"), links("Number", "tblNumbers00000001"),
			field("Odd", "hologram"),
		}},
		{ID: "tblOrders000000001", Name: "Orders", Fields: []airtable.Field{
			field("Order ID", "singleLineText"), field("Source Updated At", "dateTime"), field("Source Sequence", "number"), field("Rev", "number"),
			choices(field("Status", "singleSelect"), "Pending", "Shipped", "Delivered", "Lost"), field("Delivery Date", "date"),
			field("Qty", "number"), field("Active", "checkbox"), choices(field("Tags", "multipleSelects"), "a", "b", "c", "long"),
			links("Account", "tblAccounts0000001"), field("Weight", "number"),
		}},
		{ID: "tblAccounts0000001", Name: "Accounts", Fields: []airtable.Field{
			field("Account ID", "singleLineText"), field("Seq", "singleLineText"), field("Name", "singleLineText"),
		}},
		{ID: "tblNumbers00000001", Name: "Numbers", Fields: []airtable.Field{
			field("Number", "number"), field("Seq", "number"), field("Name", "singleLineText"),
		}},
		{ID: "tblEvents000000001", Name: "Events", Fields: []airtable.Field{
			field("Event Key", "singleLineText"), field("Body", "multilineText"),
		}},
	}
}

func schema() *pipeline.Schema { return pipeline.NewSchema(tables()) }

// changed is the schema with one table's fields edited.
func changed(table string, edit func(*airtable.Field)) *pipeline.Schema {
	all := tables()
	for i := range all {
		if all[i].Name != table {
			continue
		}
		for j := range all[i].Fields {
			edit(&all[i].Fields[j])
		}
	}
	return pipeline.NewSchema(all)
}

// thing is a payload of the source things with the given fields object.
func thing(fields string) []byte {
	return []byte(`{"id":"T-1","at":"2026-10-04T08:00:00Z","fields":` + fields + `}`)
}

// accept validates a payload of things that has to pass and answers its fields.
func accept(t *testing.T, fields string) map[string]any {
	t.Helper()
	w, invalid := source(t, "things").Validate(thing(fields), deadletter.Update, schema())
	require.Nil(t, invalid, "%+v", invalid)
	return w.Fields
}

// refuse validates a payload of things that must not pass.
func refuse(t *testing.T, fields string) *pipeline.Invalid {
	t.Helper()
	_, invalid := source(t, "things").Validate(thing(fields), deadletter.Update, schema())
	require.NotNil(t, invalid, "%s", fields)
	require.NotEmpty(t, invalid.Errors)
	require.Contains(t, deadletter.Reasons(), invalid.Reason)
	return invalid
}

func number(text string) json.Number { return json.Number(text) }
