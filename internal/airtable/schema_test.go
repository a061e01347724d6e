package airtable_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
)

const schemaJSON = `{"tables":[{"id":"tblA","name":"Orders","description":"d","primaryFieldId":"fldNo","views":[{"id":"viwA","name":"Grid","type":"grid"}],"fields":[
 {"id":"fldNo","name":"Order No","type":"singleLineText"},
 {"id":"fldSt","name":"Status","type":"singleSelect","options":{"choices":[{"id":"selA","name":"Paid","color":"blueBright"},{"id":"selB","name":"Open"}]}},
 {"id":"fldLi","name":"Account","type":"multipleRecordLinks","options":{"linkedTableId":"tblB","isReversed":false,"prefersSingleRecordLink":true,"inverseLinkFieldId":"fldIn"}},
 {"id":"fldLm","name":"Status Changed","type":"lastModifiedTime","options":{"isValid":true,"referencedFieldIds":["fldSt"],"result":{"type":"dateTime","options":{"dateFormat":{"name":"iso","format":"YYYY-MM-DD"},"timeFormat":{"name":"24hour","format":"HH:mm"},"timeZone":"utc"}}}},
 {"id":"fldAn","name":"Any Changed","type":"lastModifiedTime","options":{"isValid":true,"referencedFieldIds":null,"result":null}},
 {"id":"fldQt","name":"Qty","type":"number","options":{"precision":0}},
 {"id":"fldLo","name":"Acc Name","type":"multipleLookupValues","options":{"isValid":false,"recordLinkFieldId":"fldLi","fieldIdInLinkedTable":"fldNa","result":{"type":"singleLineText"}}},
 {"id":"fldNew","name":"Tomorrow","type":"quantumText","options":{"spin":"up","entangled":[1]}}
]}]}`

func TestSchema(t *testing.T) {
	t.Parallel()
	w := serve(t, answer(200, schemaJSON))
	tables, err := w.client().Schema(t.Context(), "appA")
	require.NoError(t, err)
	require.Equal(t, "/v0/meta/bases/appA/tables", w.only().URI)
	yes, no, zero := true, false, 0
	require.Empty(t, cmp.Diff([]airtable.Table{{ID: "tblA", Name: "Orders", PrimaryFieldID: "fldNo", Fields: []airtable.Field{
		{ID: "fldNo", Name: "Order No", Type: "singleLineText"},
		{ID: "fldSt", Name: "Status", Type: "singleSelect", Options: airtable.FieldOptions{Choices: []airtable.Choice{{ID: "selA", Name: "Paid", Color: "blueBright"}, {ID: "selB", Name: "Open"}}}},
		{ID: "fldLi", Name: "Account", Type: "multipleRecordLinks", Options: airtable.FieldOptions{LinkedTableID: "tblB", InverseLinkFieldID: "fldIn", PrefersSingleRecordLink: true}},
		{ID: "fldLm", Name: "Status Changed", Type: "lastModifiedTime", Options: airtable.FieldOptions{
			IsValid: &yes, ReferencedFieldIDs: []string{"fldSt"},
			Result: &airtable.FieldResult{Type: "dateTime", Options: airtable.FieldOptions{
				DateFormat: &airtable.Format{Name: "iso", Format: "YYYY-MM-DD"}, TimeFormat: &airtable.Format{Name: "24hour", Format: "HH:mm"}, TimeZone: "utc",
			}},
		}},
		{ID: "fldAn", Name: "Any Changed", Type: "lastModifiedTime", Options: airtable.FieldOptions{IsValid: &yes}},
		{ID: "fldQt", Name: "Qty", Type: "number", Options: airtable.FieldOptions{Precision: &zero}},
		{ID: "fldLo", Name: "Acc Name", Type: "multipleLookupValues", Options: airtable.FieldOptions{IsValid: &no, RecordLinkFieldID: "fldLi", FieldIDInLinkedTable: "fldNa", Result: &airtable.FieldResult{Type: "singleLineText"}}},
		{ID: "fldNew", Name: "Tomorrow", Type: "quantumText"},
	}}}, tables))
}

func TestForeignAnswerIsNotAnEmptySchema(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `null`, `<html>`, `{"tables":null}`, `{"records":[]}`} {
		_, err := fixed(200, body).Schema(t.Context(), "appA")
		require.Equal(t, airtable.Retry, airtable.Classify(failureOf(t, err)), body)
	}
	tables, err := fixed(200, `{"tables":[]}`).Schema(t.Context(), "appA")
	require.NoError(t, err)
	require.Empty(t, tables)
}

func TestCreateField(t *testing.T) {
	t.Parallel()
	zero := 0
	for _, tc := range []struct {
		field airtable.Field
		body  string
	}{
		{airtable.Field{Name: "Raw Payload", Type: "multilineText"}, `{"name":"Raw Payload","type":"multilineText"}`},
		{airtable.Field{Name: "Attempts", Type: "number", Description: "a & b", Options: airtable.FieldOptions{Precision: &zero}},
			`{"name":"Attempts","type":"number","description":"a & b","options":{"precision":0}}`},
		{airtable.Field{Name: "Status", Type: "singleSelect", Options: airtable.FieldOptions{Choices: []airtable.Choice{{Name: "Resolved"}}}},
			`{"name":"Status","type":"singleSelect","options":{"choices":[{"name":"Resolved"}]}}`},
		{airtable.Field{Name: "Replay Requested", Type: "checkbox", Options: airtable.FieldOptions{Icon: "check", Color: "greenBright"}},
			`{"name":"Replay Requested","type":"checkbox","options":{"icon":"check","color":"greenBright"}}`},
		{airtable.Field{Name: "Replayed At", Type: "dateTime", Options: airtable.FieldOptions{DateFormat: &airtable.Format{Name: "iso"}, TimeFormat: &airtable.Format{Name: "24hour"}, TimeZone: "utc"}},
			`{"name":"Replayed At","type":"dateTime","options":{"dateFormat":{"name":"iso"},"timeFormat":{"name":"24hour"},"timeZone":"utc"}}`},
	} {
		w := serve(t, answer(200, `{"id":"fldX","name":"N","type":"T"}`))
		got, err := w.client().CreateField(t.Context(), "appA", "tblA", tc.field)
		require.NoError(t, err)
		require.Equal(t, airtable.Field{ID: "fldX", Name: "N", Type: "T"}, got)
		a := w.only()
		require.Equal(t, []string{"POST", "/v0/meta/bases/appA/tables/tblA/fields", tc.body}, []string{a.Method, a.URI, a.Body})
	}
}

func TestUpdateField(t *testing.T) {
	t.Parallel()
	w := serve(t, answer(200, `{"id":"fldX","name":"New","type":"T"}`))
	got, err := w.client().UpdateField(t.Context(), "appA", "tblA", "fldX", airtable.FieldChange{Name: "New"})
	require.NoError(t, err)
	require.Equal(t, "New", got.Name)
	a := w.only()
	require.Equal(t, []string{"PATCH", "/v0/meta/bases/appA/tables/tblA/fields/fldX", `{"name":"New"}`}, []string{a.Method, a.URI, a.Body})
}

func TestInvalidSchemaRequestsAreNotSent(t *testing.T) {
	t.Parallel()
	w := serve(t)
	c := w.client()
	text := airtable.Field{Name: "A", Type: "singleLineText"}
	calls := map[string]func() error{
		"schema of no base": func() error { _, err := c.Schema(t.Context(), ""); return err },
		"create with an ID": func() error {
			_, err := c.CreateField(t.Context(), "appA", "tblA", airtable.Field{ID: "fldX", Name: "A", Type: "t"})
			return err
		},
		"create without name": func() error {
			_, err := c.CreateField(t.Context(), "appA", "tblA", airtable.Field{Type: "t"})
			return err
		},
		"create without type": func() error {
			_, err := c.CreateField(t.Context(), "appA", "tblA", airtable.Field{Name: "A"})
			return err
		},
		"create in no table": func() error { _, err := c.CreateField(t.Context(), "appA", "", text); return err },
		"update of nothing": func() error {
			_, err := c.UpdateField(t.Context(), "appA", "tblA", "fldX", airtable.FieldChange{})
			return err
		},
		"update of no field": func() error {
			_, err := c.UpdateField(t.Context(), "appA", "tblA", "", airtable.FieldChange{Name: "A"})
			return err
		},
	}
	for name, call := range calls {
		require.ErrorIs(t, call(), airtable.ErrInvalidRequest, name)
	}
	require.Empty(t, w.seen())
}

func TestSchemaRefusalIsKept(t *testing.T) {
	t.Parallel()
	body := `{"error":{"type":"UNSUPPORTED_FIELD_TYPE_FOR_CREATE","message":"Creating formula fields is not supported at this time"}}`
	_, err := fixed(422, body).CreateField(t.Context(), "appA", "tblA", airtable.Field{Name: "A", Type: "formula"})
	e := failureOf(t, err)
	require.Equal(t, airtable.TypeUnsupportedForField, e.Type)
	require.Equal(t, airtable.FateRefused, e.Fate)
	_, err = fixed(200, `{}`).CreateField(t.Context(), "appA", "tblA", airtable.Field{Name: "A", Type: "t"})
	require.Equal(t, airtable.FateUnknown, failureOf(t, err).Fate)
}

func TestWhoAmI(t *testing.T) {
	t.Parallel()
	w := serve(t, answer(200, `{"id":"usrA","scopes":["data.records:read"],"email":"a@example.com"}`), answer(200, `{"id":"usrA"}`), answer(200, `{}`))
	c := w.client()
	got, err := c.WhoAmI(t.Context())
	require.NoError(t, err)
	require.Equal(t, airtable.Identity{ID: "usrA", Email: "a@example.com", Scopes: []string{"data.records:read"}}, got)
	got, err = c.WhoAmI(t.Context())
	require.NoError(t, err)
	require.Equal(t, airtable.Identity{ID: "usrA"}, got)
	_, err = c.WhoAmI(t.Context())
	require.Equal(t, airtable.Retry, airtable.Classify(failureOf(t, err)))
}
