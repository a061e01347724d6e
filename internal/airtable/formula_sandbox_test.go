package airtable_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/sandbox/formula"
)

// FuzzEmulatorReadsTheKeys has the formulas read by a parser that was written
// without knowledge of this package.
func FuzzEmulatorReadsTheKeys(f *testing.F) {
	for i, key := range hostile {
		f.Add("Order No", key, hostile[(i+1)%len(hostile)], hostile[(i+5)%len(hostile)])
		f.Add(key, "k", key, "")
	}
	f.Fuzz(func(t *testing.T, field, a, b, c string) {
		if !airtable.CanReference(field) || strings.TrimSpace(field) == "" || !utf8.ValidString(field+a+b+c) {
			t.Skip("not a name or not text")
		}
		keys := slices.DeleteFunc([]string{a, b, c}, func(s string) bool { return s == "" })
		options := formula.DefaultOptions()
		options.NewlineInLiteral = false // whether Airtable takes raw line breaks is not known
		expr, err := formula.ParseWith(airtable.EqualsAny(field, []string{a, b, c}), options)
		require.NoError(t, err)
		require.Empty(t, expr.UnknownFunctions())
		if len(keys) == 0 {
			require.Empty(t, expr.Fields())
			return
		}
		lookup, ok := expr.Lookup()
		require.True(t, ok)
		require.Equal(t, []string{field}, lookup.Subject.Fields())
		for _, key := range keys {
			require.True(t, expr.Eval(cell{field, key}).Truthy(), "%q is found", key)
			require.Equal(t, slices.Contains(keys, key+"!"), expr.Eval(cell{field, key + "!"}).Truthy(), "%q is told apart", key)
		}
	})
}

func TestEmulatorReadsTheOtherFormulas(t *testing.T) {
	t.Parallel()
	numbers, err := airtable.EqualsNumber("No", []json.Number{"-1.5", "7"})
	require.NoError(t, err)
	for src, fields := range map[string][]string{
		numbers: {"No"},
		airtable.RecordIDIn([]string{recA, recB}): nil,
		airtable.EqualsAny("No", nil):             nil,
	} {
		expr, err := formula.Parse(src)
		require.NoError(t, err, src)
		require.Equal(t, fields, expr.Fields())
		require.Empty(t, expr.UnknownFunctions())
	}
}

// cell is a record of one field.
type cell struct{ name, value string }

// Field implements formula.Env.
func (c cell) Field(name string) (any, bool) { return c.value, name == c.name }

// RecordID implements formula.Env.
func (cell) RecordID() string { return recA }

// CreatedTime implements formula.Env.
func (cell) CreatedTime() time.Time { return time.Time{} }

// LastModified implements formula.Env.
func (cell) LastModified([]string) time.Time { return time.Time{} }

// Now implements formula.Env.
func (cell) Now() time.Time { return time.Time{} }
