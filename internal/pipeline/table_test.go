package pipeline_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
)

// TestTablesThatCannotBeChecked: what the two checks rely on has to be there and of its type, else a
// guard would read as "never changed" (mission C4).
func TestTablesThatCannotBeChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		field string
		edit  func(*airtable.Field)
		want  string
	}{
		"guard gone":             {"Status Changed At", func(f *airtable.Field) { f.Name = "Changed" }, `no field "Status Changed At"`},
		"guard of another type":  {"Status Changed At", func(f *airtable.Field) { f.Type = "dateTime" }, "cannot guard Status"},
		"guard watches another":  {"Status Changed At", func(f *airtable.Field) { f.Options.ReferencedFieldIDs = []string{"fldDue"} }, "does not watch Status"},
		"version gone":           {"Source Updated At", func(f *airtable.Field) { f.Name = "Updated" }, `no field "Source Updated At"`},
		"version without a time": {"Source Updated At", func(f *airtable.Field) { f.Type = "date" }, "has to be of the type dateTime or singleLineText"},
		"key gone":               {"Thing ID", func(f *airtable.Field) { f.Name = "ID" }, `no field "Thing ID"`},
		"stamp a number":         {"Replay Stamp", func(f *airtable.Field) { f.Type = "number" }, "cannot hold the stamp"},
		"business date gone":     {"Due", func(f *airtable.Field) { f.Name = "Deadline" }, `no field "Due"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := changed("Things", func(f *airtable.Field) {
				if f.Name == c.field {
					c.edit(f)
				}
			})
			_, invalid := source(t, "things").Validate(thing(`{"Status":"Paid"}`), deadletter.Update, s)
			require.NotNil(t, invalid)
			require.Equal(t, deadletter.ReasonUnknownField, invalid.Reason)
			require.True(t, invalid.Mismatch)
			require.Contains(t, invalid.Errors[0].Detail, c.want)
		})
	}
	_, invalid := source(t, "things").Validate(thing(`{"Status":"Paid","Due":null}`), deadletter.Update, schema())
	require.Nil(t, invalid, "a guard that watches every field will do")
	for _, s := range []*pipeline.Schema{nil, pipeline.NewSchema(nil)} {
		_, invalid = source(t, "things").Validate(thing(`{"Status":"Paid"}`), deadletter.Update, s)
		require.Equal(t, []pipeline.FieldError{{Rule: "exists", Detail: `no table "Things" in the base main`}}, invalid.Errors)
	}
}

func TestVersionFieldTypes(t *testing.T) {
	t.Parallel()
	payload := []byte(`{"id":"A","seq":1,"name":"x"}`)
	_, invalid := source(t, "accounts").Validate(payload, deadletter.Update, schema())
	require.Nil(t, invalid)
	s := changed("Accounts", func(f *airtable.Field) {
		if f.Name == "Seq" {
			f.Type = "number"
		}
	})
	_, invalid = source(t, "accounts").Validate(payload, deadletter.Update, s)
	require.Contains(t, invalid.Errors[0].Detail, "version numbers as text")
	s = changed("Numbers", func(f *airtable.Field) {
		if f.Name == "Seq" {
			f.Type = "singleLineText"
		}
	})
	_, invalid = source(t, "numbers").Validate([]byte(`{"id":1,"seq":1,"name":"x"}`), deadletter.Update, s)
	require.Contains(t, invalid.Errors[0].Detail, "say text: true")
}

func TestKeyFieldThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := changed("Things", func(f *airtable.Field) {
		if f.Name == "Thing ID" {
			f.Type = "multipleLookupValues"
		}
	})
	w, invalid := source(t, "things").Validate(thing(`{"Name":"A"}`), deadletter.Upsert, s)
	require.Nil(t, invalid, "an existing record can be found by it")
	require.NotNil(t, w.CreateFault())
	require.Equal(t, deadletter.ReasonComputedField, w.CreateFault().Reason)
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]deadletter.FieldKind{
		"singleLineText": deadletter.KindText, "phoneNumber": deadletter.KindText, "multilineText": deadletter.KindLongText,
		"richText": deadletter.KindRichText, "percent": deadletter.KindNumber, "duration": deadletter.KindNumber, "rating": deadletter.KindNumber,
		"checkbox": deadletter.KindCheckbox, "date": deadletter.KindDate, "dateTime": deadletter.KindDateTime,
		"formula": deadletter.KindComputed, "rollup": deadletter.KindComputed, "count": deadletter.KindComputed, "autoNumber": deadletter.KindComputed,
		"createdBy": deadletter.KindComputed, "lastModifiedBy": deadletter.KindComputed, "button": deadletter.KindComputed, "aiText": deadletter.KindComputed,
		"lookup": deadletter.KindLookup, "something new": deadletter.KindComputed, "": "",
	} {
		require.Equal(t, want, pipeline.KindOf(airtable.Field{Type: kind}), kind)
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	b := book(t)
	var order []string
	for _, target := range b.Targets() {
		order = append(order, target.Name)
	}
	require.Equal(t, []string{"Accounts", "Events", "Numbers", "Orders", "Things"}, order, "by rank, then by name")
	require.Equal(t, []string{"main"}, b.Bases())
	require.Len(t, b.TargetsOf("main"), 5)
	require.Empty(t, b.TargetsOf("other"))
	require.Len(t, b.Sources(), 8)
	_, ok := b.Source("nobody")
	require.False(t, ok)
	_, ok = b.Target("Nothing")
	require.False(t, ok)

	orders, ok := b.Target("Orders")
	require.True(t, ok)
	require.Equal(t, 1, orders.Rank)
	require.Equal(t, []string{"Accounts"}, orders.DependsOn, "a link depends, too")
	require.Equal(t, "Source Updated At", orders.VersionField)
	require.Equal(t, "Source Sequence", orders.TieField)
	fields := orders.VersionFields()
	slices.Sort(fields)
	require.Equal(t, []string{"Rev", "Source Sequence", "Source Updated At"}, fields, "of all its sources")
	changes, _ := b.Source("order-changes")
	require.Equal(t, []string{"Rev"}, changes.VersionFields())
	require.Equal(t, []string{"Delivery Date", "Status", "Weight"}, changes.FieldNames())
}

func TestReadsAskForEverythingByName(t *testing.T) {
	t.Parallel()
	things := source(t, "things").Target
	all := things.ReadFields("Source Updated At")
	for _, name := range []string{"Thing ID", "Source Updated At", "Replay Stamp", "Status", "Status Changed At", "Due", "Due Changed At", "Order", "Full Name"} {
		require.Contains(t, all, name)
	}
	require.NotContains(t, all, "")
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(all))), len(all), "each once")
	require.Equal(t, []string{"Thing ID", "Source Updated At", "Replay Stamp", "Due", "Status", "Status Changed At"},
		things.ReadFieldsFor([]string{"Status"}, "Source Updated At"))
}

func TestRulesForDecisions(t *testing.T) {
	t.Parallel()
	rules := source(t, "things").Target.Rules(schema())
	require.Equal(t, "Things", rules.Target)
	require.Equal(t, "Replay Stamp", rules.Stamp)
	require.Equal(t, deadletter.Review, rules.OnSharedChange)
	require.Empty(t, cmp.Diff(deadletter.Field{Name: "Status", Kind: deadletter.KindSelect, Guard: "Status Changed At"}, rules.Fields["Status"]))
	require.Equal(t, deadletter.KindLinks, rules.Fields["Order"].Kind)
	require.Len(t, rules.Fields, 25)
	require.Empty(t, source(t, "things").Target.Rules(nil).Fields["Status"].Kind)
	require.True(t, source(t, "events").Target.Rules(schema()).AppendOnly)
}

func TestSchemaLookups(t *testing.T) {
	t.Parallel()
	s := schema()
	for _, ref := range []string{"Orders", "tblOrders000000001"} {
		table, ok := s.Table(ref)
		require.True(t, ok)
		require.Equal(t, "tblOrders000000001", table.ID)
		f, ok := s.Field(ref, "Status")
		require.True(t, ok)
		require.Equal(t, "fldStatus", f.ID)
		_, ok = s.Field(ref, "status")
		require.False(t, ok, "names are exact")
	}
	_, ok := s.Table("orders")
	require.False(t, ok)
	_, ok = s.RenamedFrom(nil, "Orders", "Status")
	require.False(t, ok)
	require.NotNil(t, s.After(nil))
}
