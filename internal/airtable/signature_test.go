package airtable_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
)

func TestFieldName(t *testing.T) {
	t.Parallel()
	for message, field := range map[string]string{
		`Unknown field name: "Status"`:                                                     `Status`,
		`Unknown field name: "No."`:                                                        `No.`,
		`Unknown field name: "the "big" one"`:                                              `the "big" one`,
		`Field "Total" cannot accept a value because the field is computed`:                `Total`,
		`Field "Qty" cannot accept the provided value`:                                     `Qty`,
		`Field "5" pipe" cannot accept the provided value`:                                 `5" pipe`,
		`Cannot parse value "x for field y" for field Paid On`:                             `Paid On`,
		`The formula for filtering records is invalid: Unknown field names: qtty, sent at`: `qtty, sent at`,
		`You are not permitted to write cell values in field NAME (fldAAAAAAAAAAAAAA)`:     `NAME`,
		`Value is not an array of record IDs.`:                                             ``,
		``:                                                                                 ``,
	} {
		e := airtable.Error{Status: 422, Type: "X", Message: message}
		require.Equal(t, field, e.FieldName(), message)
	}
}

func TestSignatureTellsKindsNotRecords(t *testing.T) { // W7
	t.Parallel()
	same := [][]airtable.Error{
		{
			{Status: 422, Type: "UNKNOWN_FIELD_NAME", Message: `Unknown field name: "Status"`},
			{Status: 422, Type: "UNKNOWN_FIELD_NAME", Message: `Unknown field name: "Status"`, Body: "other"},
		}, {
			{Status: 422, Type: "UNKNOWN_FIELD_NAME", Message: `Unknown field name: "State"`},
		}, {
			{Status: 422, Type: "ROW_DOES_NOT_EXIST", Message: "Record ID recAAAAAAAAAAAAAA does not exist in this table"},
			{Status: 422, Type: "ROW_DOES_NOT_EXIST", Message: "Record ID recBBBBBBBBBBBBBB does not exist in this table"},
		}, {
			{Status: 422, Type: "INVALID_MULTIPLE_CHOICE_OPTIONS", Message: `Insufficient permissions to create new select option ""Foo""`},
			{Status: 422, Type: "INVALID_MULTIPLE_CHOICE_OPTIONS", Message: `Insufficient permissions to create new select option "Bar"`},
		}, {
			{Status: 404, Message: `Could not find "A" in appAAAAAAAAAAAAAA`},
			{Status: 404, Message: `Could not find "B" in appBBBBBBBBBBBBBB`},
		}, {
			{Status: 404, Message: `Could not find ""A"" at all`},
			{Status: 404, Message: `Could not find 'B' at all`},
		}, {
			{Status: 422, Type: "INVALID_VALUE_FOR_COLUMN", Message: `Field "Qty" cannot accept the provided value`},
			{Status: 422, Type: "INVALID_VALUE_FOR_COLUMN", Message: `Cannot parse value "7 pcs" for field Qty`},
		}, {
			{Status: 422, Type: "INVALID_VALUE_FOR_COLUMN", Message: `Field "Price" cannot accept the provided value`},
		}, {
			{Status: 404, Type: "INVALID_VALUE_FOR_COLUMN", Message: `Field "Price" cannot accept the provided value`},
		}, {
			{Status: 422}, {Status: 422, Body: "<html>"},
		}, {
			{Fate: airtable.FateUnknown}, {Fate: airtable.FateUnsent},
		}, {
			{Fate: airtable.FateUnsent, Message: "record 1: has no ID", Err: airtable.ErrInvalidRequest},
		},
	}
	seen := map[string]int{}
	for kind, group := range same {
		for _, e := range group {
			s := e.Signature()
			if of, ok := seen[s]; ok {
				require.Equal(t, kind, of, s)
			}
			seen[s] = kind
		}
	}
	require.Len(t, seen, len(same))
	require.Contains(t, seen, "422 UNKNOWN_FIELD_NAME field=Status")
}
