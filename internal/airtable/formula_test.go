package airtable_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
)

func TestEqualsAny(t *testing.T) { // B01, B02, B06, B14
	t.Parallel()
	for _, tc := range []struct {
		field string
		keys  []string
		want  string
	}{
		{"Name", []string{"O'Brien"}, `{Name}='O\'Brien'`},
		{"Name", []string{"Men's Clothing"}, `{Name}='Men\'s Clothing'`},
		{"Name", []string{`He said "no"`}, `{Name}='He said "no"'`},
		{"Name", []string{`J. "Jay" Pete`}, `{Name}='J. "Jay" Pete'`},
		{"Name", []string{`it's Bob's 5" and 6" pipe`}, `{Name}='it\'s Bob\'s 5" and 6" pipe'`},
		{"Order No", []string{`a\`, `\'`}, `OR({Order No}='a\\',{Order No}='\\\'')`},
		{"N", []string{"a\nb\tc\rd"}, `{N}='a\nb\tc\rd'`},
		{"N", []string{"1", "2", "3"}, `OR({N}='1',{N}='2',{N}='3')`},
		{"N", []string{"’‘“”"}, `{N}='’‘“”'`},
		{"Guest's {N}", []string{"x"}, `{Guest's {N\}}='x'`},
		{"N", nil, `FALSE()`},
		{"N", []string{""}, `FALSE()`},
		{"N", []string{"", "x"}, `{N}='x'`},
		{"N", []string{" "}, `{N}=' '`},
	} {
		require.Equal(t, tc.want, airtable.EqualsAny(tc.field, tc.keys))
	}
}

func TestEqualsNumber(t *testing.T) {
	t.Parallel()
	for want, numbers := range map[string][]json.Number{
		`{No}=5`:                       {"5"},
		`OR({No}=-1,{No}=0.50,{No}=0)`: {"-1", "0.50", "0"},
		`{No}=1970670598291982290`:     {"1970670598291982290"},
		`FALSE()`:                      nil,
	} {
		got, err := airtable.EqualsNumber("No", numbers)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, bad := range []json.Number{"", "1e3", "0x10", "NaN", "1)", "1 OR 1", "+1", "1.", "--1", "1\n"} {
		_, err := airtable.EqualsNumber("No", []json.Number{"1", bad})
		require.ErrorContains(t, err, `number key 2 for field "No"`, "%q", bad)
	}
}

func TestRecordIDIn(t *testing.T) {
	t.Parallel()
	require.Equal(t, `FALSE()`, airtable.RecordIDIn(nil))
	require.Equal(t, `RECORD_ID()='recAAAAAAAAAAAAAA'`, airtable.RecordIDIn([]string{recA}))
	require.Equal(t, `OR(RECORD_ID()='recAAAAAAAAAAAAAA',RECORD_ID()='x\'),1')`, airtable.RecordIDIn([]string{recA, "x'),1"}))
}

func TestCanReference(t *testing.T) {
	t.Parallel()
	for name, can := range map[string]bool{"Order No": true, "Guest's {x}": true, `a\b`: true, "{a}{b}": false, `a\`: false, `a\}`: false, "": false} {
		require.Equal(t, can, airtable.CanReference(name), name)
	}
}

func TestChunkKeys(t *testing.T) {
	t.Parallel()
	keys := []string{"a", "b", "c'", "d", strings.Repeat("€", 100), "e", ""}
	for limit := range 200 {
		chunks := airtable.ChunkKeys("F", keys, limit)
		require.Equal(t, keys, slices.Concat(chunks...))
		for i, chunk := range chunks {
			formula := airtable.EqualsAny("F", chunk)
			if len(chunk) > 1 {
				require.LessOrEqual(t, airtable.FormulaLen(formula), limit)
			}
			if i > 0 { // it could not have gone into the chunk before
				joined := airtable.EqualsAny("F", append(slices.Clone(chunks[i-1]), chunk[0]))
				require.True(t, airtable.FormulaLen(joined) > limit || chunk[0] == "", "limit %d", limit)
			}
		}
	}
	require.Empty(t, airtable.ChunkKeys("F", nil, 100))
	require.Len(t, airtable.ChunkKeys("F", keys, 10_000), 1)
}

// decodeEqualities reads {F}='k' and OR({F}='k',…) by its own rules, those of
// the documentation: a backslash makes the next character stand for itself,
// n, r and t for the line characters.
func decodeEqualities(t *testing.T, formula string) (fields, keys []string) {
	t.Helper()
	rest, isList := strings.CutPrefix(formula, "OR(")
	for {
		name, after := until(t, strings.TrimPrefix(rest, "{"), '}', nil)
		rest = after
		require.True(t, strings.HasPrefix(rest, "='"), rest)
		key, after := until(t, rest[2:], '\'', map[byte]string{'n': "\n", 'r': "\r", 't': "\t"})
		fields, keys, rest = append(fields, name), append(keys, key), after
		if !strings.HasPrefix(rest, ",{") {
			break
		}
		rest = rest[1:]
	}
	if isList {
		require.Equal(t, ")", rest)
	} else {
		require.Empty(t, rest)
	}
	return fields, keys
}

func until(t *testing.T, s string, end byte, letters map[byte]string) (decoded, rest string) {
	t.Helper()
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == end:
			return decoded, s[i+1:]
		case c == '\\' && letters == nil && (i+1 == len(s) || s[i+1] != end):
			decoded += `\` // in a name, only a brace is escaped
		case c == '\\' && i+1 < len(s):
			i++
			if letter, ok := letters[s[i]]; ok {
				decoded += letter
			} else {
				decoded += s[i : i+1]
			}
		default:
			decoded += s[i : i+1]
		}
	}
	require.Fail(t, "no end", "%q", s)
	return "", ""
}

var hostile = []string{"O'Brien", `"`, `\`, `\\'`, `'`, "\n", "é😀", "),1=1,(", "{F}", "a,b", "TRUE()", "\\n", "", " ", "%27", "\u2028"}

func FuzzEqualsAny(f *testing.F) {
	for i, key := range hostile {
		f.Add("Order No", key, hostile[(i+1)%len(hostile)], hostile[(i+5)%len(hostile)])
		f.Add(key, "k", key, "")
	}
	f.Fuzz(func(t *testing.T, field, a, b, c string) {
		if !airtable.CanReference(field) {
			t.Skip("such a field is referred to by its ID")
		}
		want := slices.DeleteFunc([]string{a, b, c}, func(s string) bool { return s == "" })
		formula := airtable.EqualsAny(field, []string{a, b, c})
		if len(want) == 0 {
			require.Equal(t, "FALSE()", formula)
			return
		}
		fields, keys := decodeEqualities(t, formula)
		require.Equal(t, want, keys)
		for _, name := range fields {
			require.Equal(t, field, name)
		}
	})
}
