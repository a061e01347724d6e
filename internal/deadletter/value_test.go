package deadletter_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/deadletter"
)

// decode reads a value as a payload or an answer of Airtable is read; "absent" is a missing cell.
func decode(t require.TestingT, text string) any {
	if text == "absent" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return v
}

func TestEqual(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		kind deadletter.FieldKind
		a, b string // JSON
		want bool
	}{
		// Empty cells (case B33).
		{deadletter.KindCheckbox, `absent`, `false`, true},
		{deadletter.KindCheckbox, `true`, `false`, false},
		{deadletter.KindCheckbox, `true`, `true`, true},
		{deadletter.KindText, `absent`, `""`, true},
		{deadletter.KindText, `absent`, `null`, true},
		{deadletter.KindText, `absent`, `" "`, false},
		{deadletter.KindMultiSelect, `absent`, `[]`, true},
		{deadletter.KindLinks, `["recA"]`, `[]`, false},
		{deadletter.KindNumber, `0`, `absent`, false},
		{deadletter.KindNumber, `0`, `false`, false},
		{deadletter.KindNumber, `0`, `0`, true},
		{deadletter.KindAttachments, `absent`, `[]`, true},
		{deadletter.KindRichText, `"\n"`, `absent`, true},
		{deadletter.KindRichText, `" "`, `absent`, false},

		// Text.
		{deadletter.KindText, `"Paid"`, `"Paid"`, true},
		{deadletter.KindText, `"Paid"`, `"paid"`, false},
		{deadletter.KindText, `"Paid"`, `"Paid "`, false},
		{deadletter.KindText, `"5"`, `5`, false},
		{deadletter.KindLongText, `"a\n"`, `"a"`, false},
		{deadletter.KindRichText, `"# h\n- a\n- b\n"`, `"# h\n* a\n* b"`, true},
		{deadletter.KindRichText, `"- a\n  - b\n"`, `"* a\n  * b"`, true},
		{deadletter.KindRichText, `"*a*"`, `"-a*"`, false},
		{deadletter.KindRichText, "\"```\\n* a\\n```\"", "\"```\\n- a\\n```\"", false},
		{deadletter.KindRichText, `"a\n"`, `5`, false},

		// Numbers are decimals, kept as doubles.
		{deadletter.KindNumber, `0.1`, `0.10`, true},
		{deadletter.KindNumber, `1e2`, `100`, true},
		{deadletter.KindNumber, `-0`, `0`, true},
		{deadletter.KindNumber, `540.8333333333334`, `540.83333333333337`, true},
		{deadletter.KindNumber, `9007199254740993`, `9007199254740992`, true},
		{deadletter.KindNumber, `9007199254740994`, `9007199254740992`, false},
		{deadletter.KindNumber, `0.30000000000000004`, `0.3`, false},
		{deadletter.KindNumber, `1e400`, `1e401`, false},
		{deadletter.KindNumber, `1e400`, `10e399`, true},
		{deadletter.KindNumber, `5`, `"5"`, false},
		{deadletter.KindNumber, `{"specialValue":"NaN"}`, `5`, false},

		// Options.
		{deadletter.KindSelect, `"Paid"`, `{"id":"selA","name":"Paid","color":"blueBright"}`, true},
		{deadletter.KindSelect, `"Paid"`, `"Owner’s"`, false},
		{deadletter.KindSelect, `"Paid"`, `["Paid"]`, false},
		{deadletter.KindMultiSelect, `["a","b"]`, `["b","a"]`, true},
		{deadletter.KindMultiSelect, `["a","b"]`, `["a","b","b"]`, false},
		{deadletter.KindMultiSelect, `["a"]`, `"a"`, false},
		{deadletter.KindMultiSelect, `["a",5]`, `["a",5]`, false},

		// Dates and times (case B37).
		{deadletter.KindDate, `"2026-05-10"`, `"2026-05-10"`, true},
		{deadletter.KindDate, `"2026-05-10"`, `"2026-05-10T00:00:00Z"`, false},
		{deadletter.KindDateTime, `"2026-05-10T09:00:00.000Z"`, `"2026-05-10T11:00:00+02:00"`, true},
		{deadletter.KindDateTime, `"2026-05-10T09:00:00.123Z"`, `"2026-05-10T09:00:00.123456Z"`, true},
		{deadletter.KindDateTime, `"2026-05-10T09:00:00.123Z"`, `"2026-05-10T09:00:00Z"`, false},
		{deadletter.KindDateTime, `"2026-05-10T09:00:00.000Z"`, `"2026-05-10T09:00:00"`, false},
		{deadletter.KindDateTime, `"2026-05-10T09:00:00"`, `"2026-05-10T09:00:00"`, true},
		{deadletter.KindDateTime, `"2026-05-10T00:00:00.000Z"`, `"2026-05-10"`, false},
		{deadletter.KindDateTime, `"2026-05-10T00:00:00.000Z"`, `1778371200000`, false},

		// Links keep their order.
		{deadletter.KindLinks, `["recA","recB"]`, `["recA","recB"]`, true},
		{deadletter.KindLinks, `["recA","recB"]`, `["recB","recA"]`, false},
		{deadletter.KindLinks, `["recA"]`, `[{"id":"recA","name":"A"}]`, true},
		{deadletter.KindLinks, `["recA"]`, `"recA"`, false},

		// People.
		{deadletter.KindCollaborator, `{"id":"usrA","email":"a@example.com","name":"A"}`, `{"id":"usrA"}`, true},
		{deadletter.KindCollaborator, `{"id":"usrA","email":"a@example.com"}`, `{"email":"a@example.com"}`, true},
		{deadletter.KindCollaborator, `{"id":"usrA","email":"a@example.com"}`, `{"id":"usrB","email":"a@example.com"}`, false},
		{deadletter.KindCollaborator, `{"id":"usrA","name":"A"}`, `{"email":"a@example.com"}`, false},
		{deadletter.KindCollaborator, `{"id":"usrA"}`, `"usrA"`, true},
		{deadletter.KindCollaborator, `{"email":"a@example.com"}`, `"a@example.com"`, true},
		{deadletter.KindCollaborator, `{"name":"A"}`, `{"name":"A"}`, false},
		{deadletter.KindCollaborators, `[{"id":"usrA","email":"a@example.com"},{"id":"usrB"}]`, `[{"id":"usrB"},{"email":"a@example.com"}]`, true},
		{deadletter.KindCollaborators, `[{"id":"usrA"},{"id":"usrB"}]`, `["usrB","usrA"]`, true},
		{deadletter.KindCollaborators, `[{"id":"usrA"}]`, `[{"id":"usrA"},{"id":"usrB"}]`, false},
		{deadletter.KindCollaborators, `[{"id":"usrA"},{"id":"usrB"}]`, `[{"id":"usrA"},{"id":"usrC"}]`, false},
		{deadletter.KindCollaborators, `{"id":"usrA"}`, `[{"id":"usrA"}]`, false},

		// Attachments never equal by URL or ID.
		{deadletter.KindAttachments, `[{"id":"attA","url":"https://x.example/1"}]`, `[{"id":"attA","url":"https://x.example/1"}]`, false},

		{deadletter.KindBarcode, `{"text":"123","type":"ean8"}`, `{"text":"123"}`, true},
		{deadletter.KindBarcode, `{"text":"123"}`, `{"text":"124"}`, false},
		{deadletter.KindBarcode, `{"text":"123"}`, `"123"`, false},

		// Lookups (case B12) and the rest.
		{deadletter.KindLookup, `["04-19"]`, `"04-19"`, true},
		{deadletter.KindLookup, `["04-19"]`, `["04-19"]`, true},
		{deadletter.KindLookup, `["04-19","04-20"]`, `"04-19"`, false},
		{deadletter.KindLookup, `[19]`, `19.0`, true},
		{deadletter.KindText, `["04-19"]`, `"04-19"`, false},
		{deadletter.KindComputed, `{"error":"#ERROR!"}`, `{"error":"#ERROR!"}`, true},
		{deadletter.KindComputed, `{"a":[1,{"b":2.0}]}`, `{"a":[1.0,{"b":2}]}`, true},
		{deadletter.KindComputed, `{"a":1}`, `{"b":1}`, false},
		{deadletter.KindComputed, `{"a":1}`, `{"a":1,"b":null}`, false},
		{deadletter.KindComputed, `[1]`, `{"a":1}`, false},
		{deadletter.KindComputed, `true`, `"true"`, false},
	} {
		t.Run(string(tt.kind)+" "+tt.a+" "+tt.b, func(t *testing.T) {
			t.Parallel()

			a, b := decode(t, tt.a), decode(t, tt.b)
			require.Equal(t, tt.want, deadletter.Equal(tt.kind, a, b))
			require.Equal(t, tt.want, deadletter.Equal(tt.kind, b, a))
		})
	}
}

// TestEqualOfValuesBuiltInGo: values that our own code builds compare like decoded ones.
func TestEqualOfValuesBuiltInGo(t *testing.T) {
	t.Parallel()

	require.True(t, deadletter.Equal(deadletter.KindLinks, []string{"recA"}, []any{"recA"}))
	require.True(t, deadletter.Equal(deadletter.KindLinks, []string{}, nil))
	require.True(t, deadletter.Equal(deadletter.KindNumber, 0.1, json.Number("0.1")))
	require.True(t, deadletter.Equal(deadletter.KindNumber, 3, json.Number("3.0")))
	require.True(t, deadletter.Equal(deadletter.KindNumber, int64(3), 3.0))
	require.False(t, deadletter.Equal(deadletter.KindNumber, math.Inf(1), json.Number("1e400")))
	require.False(t, deadletter.Equal(deadletter.KindNumber, math.NaN(), 0.0))
	require.False(t, deadletter.Equal(deadletter.KindNumber, json.Number("Infinity"), json.Number("inf")))
}

func TestEmpty(t *testing.T) {
	t.Parallel()

	for _, v := range []any{nil, "", false, []any{}, []string(nil)} {
		require.True(t, deadletter.Empty(v), "%#v", v)
	}
	for _, v := range []any{json.Number("0"), 0, " ", "\n", true, []any{nil}, map[string]any{}} {
		require.False(t, deadletter.Empty(v), "%#v", v)
	}
}

func kinds() []deadletter.FieldKind {
	return []deadletter.FieldKind{
		deadletter.KindText, deadletter.KindLongText, deadletter.KindRichText, deadletter.KindNumber, deadletter.KindCheckbox,
		deadletter.KindSelect, deadletter.KindMultiSelect, deadletter.KindDate, deadletter.KindDateTime, deadletter.KindLinks,
		deadletter.KindCollaborator, deadletter.KindCollaborators, deadletter.KindAttachments, deadletter.KindBarcode,
		deadletter.KindLookup, deadletter.KindComputed, "",
	}
}

func FuzzEqual(f *testing.F) {
	for _, seed := range []string{
		`null`, `""`, `"\n"`, `0`, `0.1`, `1e999999999`, `["a","b"]`, `[{"id":"usrA"},{"email":"a@example.com"}]`,
		`{"text":"1"}`, `"2026-05-10T09:00:00Z"`, "\"* a\\n```\"", `[[["x"]]]`, `9007199254740993`, `{"name":"A","id":"recA"}`,
	} {
		f.Add(seed, seed)
		f.Add(seed, `["b","a"]`)
		f.Add(seed, `9007199254740992`)
	}
	f.Fuzz(func(t *testing.T, x, y string) {
		a, ok := tryDecode(x)
		b, alsoOK := tryDecode(y)
		if !ok || !alsoOK {
			return
		}
		for _, kind := range kinds() {
			same := deadletter.Equal(kind, a, b)
			require.Equal(t, same, deadletter.Equal(kind, b, a), "%q is symmetric", kind)
			if deadletter.Empty(a) != deadletter.Empty(b) && kind != deadletter.KindRichText {
				require.False(t, same, "%q: a value is not an empty cell", kind)
			}
			if deadletter.Empty(a) {
				require.True(t, deadletter.Equal(kind, a, nil), "%q: empty is absent", kind)
			}
		}
	})
}

func tryDecode(text string) (any, bool) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err == nil
}
