package formula_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"airtable-replay/internal/sandbox/formula"
)

func TestLookupRecognisesEqualityOfOneSubject(t *testing.T) {
	t.Parallel()
	subjects := map[string]string{ // "" for none
		`{Name}='x'`:                                `{"Name"}`,
		`Name = "x"`:                                `{"Name"}`,
		`'x'={Name}`:                                `{"Name"}`,
		`(({Name}='x'))`:                            `{"Name"}`,
		`or({Name}='it\'s',{Name}="b\\")`:           `{"Name"}`,
		`OR({Name}='x',Name='x')`:                   `{"Name"}`,
		`OR({Name}='x',{Name}=5)`:                   `{"Name"}`,
		`OR({Qty}=-5,{Qty}=.5,7={Qty})`:             `{"Qty"}`,
		`OR({Name}='',{Name}='x')`:                  `{"Name"}`,
		`LOWER({Name})='x'`:                         `LOWER({"Name"},)`,
		`OR(lower({Name})='x',LOWER( {Name} )="y")`: `LOWER({"Name"},)`,
		`RECORD_ID()='recAAAAAAAAAAAAAA'`:           `RECORD_ID()`,
		`{A}&'-'&{B}='x'`:                           `({"A"}&"-"&{"B"})`,
		`-{Qty}=5`:                                  `-{"Qty"}`,

		`OR({Name}='x',{name}='y')`:     "",
		`OR({Name}='x',{Other}='y')`:    "",
		`OR({Name}='x',OR({Name}='y'))`: "",
		`OR({Name}='x',1)`:              "",
		`AND({Name}='x',{Name}='y')`:    "",
		`{Name}!='x'`:                   "",
		`{Name}='x'='y'`:                "",
		`{Name}={Other}`:                "",
		`'x'='x'`:                       "",
		`{Name}=LOWER('x')`:             "",
		`{Name}`:                        "",
	}
	for src, want := range subjects {
		expr, err := formula.Parse(src)
		require.NoError(t, err, src)
		asked, ok := expr.Lookup()
		require.Equal(t, want != "", ok, src)
		if ok {
			require.Equal(t, want, asked.Subject.Spelling(nil), src)
			require.NotEmpty(t, asked.Keys, src)
		}
	}
}

// A spelling is shared only by formulas that mean the same.
func TestSpellingTellsFormulasApart(t *testing.T) {
	t.Parallel()
	spellings := map[string]string{}
	for _, src := range []string{
		`1-(2-3)`, `1-2-3`, `'a'&'b'`, `'a&b'`, `{a}`, `'{a}'`, `{a "b"}`, `-(1)-1`, `-1`, `1`, `'1'`, `A(1)`, `LEN('1')`, `LEN(1)`,
		`IF(1,2,3)`, `IF(1,2)`, `CONCATENATE('a,','b')`, `CONCATENATE('a','b')`, `CONCATENATE('a',",'b'")`, `AND({a},{b})`, `OR({a},{b})`,
	} {
		expr, err := formula.Parse(src)
		require.NoError(t, err, src)
		spelled := expr.Spelling(strings.ToUpper)
		require.NotContains(t, spellings, spelled, "%s and %s", src, spellings[spelled])
		spellings[spelled] = src
	}
	one, err := formula.Parse(`OR( {a}, "b" )`)
	require.NoError(t, err)
	other, err := formula.Parse(`or({A},'b')`)
	require.NoError(t, err)
	require.Equal(t, one.Spelling(strings.ToUpper), other.Spelling(strings.ToUpper))
}

func TestVolatileFormulas(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		`NOW()`: true, `IF({a},-DATETIME_DIFF({b},today(),'days'))`: true, `TONOW({a})`: true, `{a}&FROMNOW({b})`: true,
		`CREATED_TIME()`: false, `LAST_MODIFIED_TIME({a})`: false, `{NOW()}`: false, `'TODAY()'`: false, `LAMBDA()`: false,
	} {
		expr, err := formula.Parse(src)
		require.NoError(t, err, src)
		require.Equal(t, want, expr.Volatile(), src)
	}
}

// cells are of every kind, on and beside the constants of the property below.
var cells = []any{
	nil, "", "0", "1", "-1", "5", "0.5", "a", "A", "NaN", "Infinity", "-0", "05", "1e3", "1000", " ", "#ERROR!",
	0.0, 1.0, -1.0, 5.0, 0.5, 1000.0, true, false,
	[]any{}, []any{"a"}, []any{5.0}, []any{"a", "A"}, []any{nil}, []any{0.0}, []any{true, nil},
	map[string]any{"name": "a"}, map[string]any{"error": "#ERROR!"}, map[string]any{"specialValue": "NaN"},
	map[string]any{"specialValue": "Infinity"}, map[string]any{"specialValue": "-Infinity"},
	time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), formula.Date(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)),
}

// Answering a lookup by keys finds what evaluating the whole formula finds,
// for every cell, constant and switch.
func TestLookupAgreesWithEvaluation(t *testing.T) {
	t.Parallel()
	constants := []string{
		"''", "'0'", "'1'", "'-1'", "'5'", "'0.5'", "'a'", "'A'", "'NaN'", "'Infinity'", "'-0'", "'05'", "'1e3'", "'1000'", "'#ERROR!'",
		"'a, A'", "'2026-01-02'", "' '", "0", "-0", "1", "-1", "5", "0.5", "1000", "05",
	}
	subjects := []string{"{Key}", "LOWER({Key})", "{Key}+1", "{Key}&''", "-{Key}", "NOT({Key})", "IF({Key}='5','a',{Key})", "{Missing}"}
	rapid.Check(t, func(t *rapid.T) {
		options := formula.Options{ZeroEqualsBlank: rapid.Bool().Draw(t, "zero"), NumberEqualsText: rapid.Bool().Draw(t, "text")}
		subject := rapid.SampledFrom(subjects).Draw(t, "subject")
		var terms []string
		for _, constant := range rapid.SliceOfN(rapid.SampledFrom(constants), 1, 4).Draw(t, "constants") {
			sides := []string{subject, constant}
			if rapid.Bool().Draw(t, "swapped") {
				slices.Reverse(sides)
			}
			terms = append(terms, strings.Join(sides, "="))
		}
		src := fmt.Sprintf("OR(%s)", strings.Join(terms, ","))
		expr, err := formula.ParseWith(src, options)
		require.NoError(t, err)
		asked, ok := expr.Lookup()
		require.True(t, ok, src)
		row := record{fields: map[string]any{"Key": rapid.SampledFrom(cells).Draw(t, "cell")}}
		require.Equal(t, expr.Eval(row).Truthy(), slices.Contains(asked.Keys, asked.Subject.Eval(row).Key()), src)
	})
}
