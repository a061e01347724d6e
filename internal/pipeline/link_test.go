package pipeline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
)

func TestLinksCarryTheSendersIDs(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][]string{
		`"O-1"`: {"O-1"}, `17`: {"17"}, `["O-2","O-1"]`: {"O-2", "O-1"}, `[1970670598291982290,"x"]`: {"1970670598291982290", "x"},
		`"recAAAAAAAAAAAAAA"`: {"recAAAAAAAAAAAAAA"},
	} {
		w, invalid := source(t, "things").Validate(thing(`{"Order":`+value+`}`), deadletter.Update, schema())
		require.Nil(t, invalid, value)
		require.Empty(t, w.Fields, "until it is resolved")
		require.Equal(t, []pipeline.Link{{Field: "Order", Target: "Orders", Keys: want}}, w.Links)
	}
	for _, value := range []string{`null`, `[]`} {
		w, invalid := source(t, "things").Validate(thing(`{"Order":`+value+`}`), deadletter.Update, schema())
		require.Nil(t, invalid)
		require.Empty(t, w.Links)
		require.Contains(t, w.Fields, "Order")
		require.True(t, deadletter.Empty(w.Fields["Order"]), "cleared")
	}
	for _, value := range []string{`""`, `true`, `{}`, `1.5`, `[null]`, `[["a"]]`, `["a","a"]`, `["a",""]`} {
		invalid := refuse(t, `{"Order":`+value+`}`)
		require.Equal(t, deadletter.ReasonInvalidValue, invalid.Reason, value)
		require.Equal(t, "Order", invalid.Errors[0].Field)
	}
	require.Contains(t, refuse(t, `{"Order":""}`).Errors[0].Detail, "send null")
}

func TestLinkToNumberKey(t *testing.T) {
	t.Parallel()
	target, _ := book(t).Target("Numbers")
	require.Equal(t, deadletter.KindNumber, target.KeyKind(schema()))
	require.Equal(t, number("12"), target.KeyCell(schema(), "12"))
	orders, _ := book(t).Target("Orders")
	require.Equal(t, "12", orders.KeyCell(schema(), "12"))
	require.Empty(t, orders.KeyKind(pipeline.NewSchema(nil)))
	for _, value := range []string{`12`, `"12"`, `"-1.5"`, `[0]`} {
		_, invalid := source(t, "things").Validate(thing(`{"Number":`+value+`}`), deadletter.Update, schema())
		require.Nil(t, invalid, value)
	}
	for _, value := range []string{`"012"`, `"1.0"`, `"1e3"`, `"A-1"`, `["+1"]`, `9007199254740993`, `" 1"`} {
		invalid := refuse(t, `{"Number":`+value+`}`)
		require.Equal(t, deadletter.ReasonInvalidValue, invalid.Reason, value)
		require.Equal(t, "Number", invalid.Errors[0].Field)
	}
	_, invalid := source(t, "numbers").Validate([]byte(`{"id":"007","seq":1,"name":"x"}`), deadletter.Update, schema())
	require.NotNil(t, invalid, "two spellings of one number would be two keys of one record")
	require.Equal(t, "id", invalid.Errors[0].Rule)
}

func TestResolve(t *testing.T) {
	t.Parallel()
	validate := func(fields string) pipeline.Write {
		w, invalid := source(t, "things").Validate(thing(fields), deadletter.Update, schema())
		require.Nil(t, invalid)
		return w
	}
	found := map[string]map[string][]string{
		"Orders": {"O-1": {"recOrder1"}, "O-2": {"recOrder2"}, "twice": {"recA", "recB"}, "gone": {}},
	}
	w := validate(`{"Order":["O-2","O-1"],"Name":"A"}`)
	require.Empty(t, cmp.Diff(map[string]any{"Order": []any{"O-2", "O-1"}, "Name": "A"}, w.Sent()))
	require.Nil(t, w.Resolve(found))
	require.Empty(t, cmp.Diff(map[string]any{"Order": []any{"recOrder2", "recOrder1"}, "Name": "A"}, w.Fields))

	w = validate(`{"Order":["O-1","gone","twice","never"],"Number":5}`)
	invalid := w.Resolve(found)
	require.NotNil(t, invalid)
	require.Equal(t, deadletter.ReasonDependencyMissing, invalid.Reason)
	require.Equal(t, `Number: no record of Numbers has the ID "5"; Order: no record of Orders has the ID "gone"; Order: 2 records of Orders have the ID "twice"; Order: no record of Orders has the ID "never"`, invalid.Problem().Detail)
	require.Empty(t, w.Fields, "nothing is half resolved")

	w = validate(`{"Order":"twice"}`)
	require.Equal(t, deadletter.ReasonMultipleMatches, w.Resolve(found).Reason)
}

func TestLinkFieldMustLinkToTheTargetsTable(t *testing.T) {
	t.Parallel()
	for _, edit := range []func(*airtable.Field){
		func(f *airtable.Field) { f.Options.LinkedTableID = "tblPeople000000001" },
		func(f *airtable.Field) { f.Type = "singleLineText" },
	} {
		s := changed("Things", func(f *airtable.Field) {
			if f.Name == "Order" {
				edit(f)
			}
		})
		_, invalid := source(t, "things").Validate(thing(`{"Order":"O-1"}`), deadletter.Update, s)
		require.NotNil(t, invalid)
		require.True(t, invalid.Mismatch)
		require.Equal(t, deadletter.ReasonUnknownField, invalid.Reason)
		require.Contains(t, invalid.Errors[0].Detail, "is no link to the table")
	}
}
