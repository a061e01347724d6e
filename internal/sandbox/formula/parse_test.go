package formula_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox/formula"
)

// TestSyntaxErrors runs every "formula => offset: message" line of the table.
func TestSyntaxErrors(t *testing.T) {
	t.Parallel()
	for _, line := range tableLines(t, "testdata/syntax.errors") {
		src, want, ok := cutLast(line, " => ")
		require.True(t, ok, "line %q has no result", line)
		_, err := formula.Parse(src)
		syntax, ok := errors.AsType[*formula.SyntaxError](err)
		require.True(t, ok, "%s: want a *SyntaxError, got %v", src, err)
		require.Equal(t, want, fmt.Sprintf("%d: %s", syntax.Offset, syntax.Message), src)
		require.Contains(t, err.Error(), syntax.Message)
	}
}

func TestEmptyFormulaIsRefused(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"", " \n\t"} {
		_, err := formula.Parse(src)
		require.EqualError(t, err, fmt.Sprintf("formula at byte %d: found the end of the formula, expected a value", len(src)))
	}
}

func TestWhitespaceSeparatesTokens(t *testing.T) {
	t.Parallel()
	expr, err := formula.Parse("\n AND(\r\n\t{Name} = \"O'Brien\" ,\u00a0Count\n>=\n5\n)\n")
	require.NoError(t, err)
	require.True(t, expr.Eval(sample()).Truthy())
}

func TestFieldsAndUnknownFunctions(t *testing.T) {
	t.Parallel()
	expr, err := formula.Parse(`AND({b} = A, {A}, {a}, {x\} y} & fldX, lambda(LET(NOT({b})), {inner}), Let(), lambda())`)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff([]string{"b", "A", "a", "x} y", "fldX", "inner"}, expr.Fields()))
	require.Empty(t, cmp.Diff([]string{"LET", "lambda", "Let"}, expr.UnknownFunctions()))
	require.True(t, expr.Eval(sample()).IsError())

	fields := expr.Fields()
	fields[0] = "changed"
	require.Equal(t, "b", expr.Fields()[0], "callers get a copy")
}

// TestUnknownFunctionFailsOnlyWhereReached holds the value of an unknown function to #ERROR!.
func TestUnknownFunctionFailsOnlyWhereReached(t *testing.T) {
	t.Parallel()
	require.True(t, eval(t, "LAMBDA(1)", formula.DefaultOptions()).IsError())
	require.Equal(t, 1.0, eval(t, "IF(1, 1, LAMBDA(1))", formula.DefaultOptions()).Any())
}

// TestLimits holds that hostile formulas are refused, or evaluated within bounds.
func TestLimits(t *testing.T) {
	t.Parallel()
	refused := map[string]string{
		"parentheses":  strings.Repeat("(", 100_000) + "1" + strings.Repeat(")", 100_000),
		"calls":        strings.Repeat("NOT(", 100_000) + "1" + strings.Repeat(")", 100_000),
		"minus signs":  strings.Repeat("-", 100_000) + "1",
		"unclosed":     strings.Repeat("(", 100_000),
		"unknown":      strings.Repeat("f(", 100_000),
		"long source":  "'" + strings.Repeat("a", formula.MaxSource) + "'",
		"huge number":  strings.Repeat("9", 400),
		"right nested": strings.Repeat("1&(", 100_000) + "1" + strings.Repeat(")", 100_000),
	}
	for name, src := range refused {
		_, err := formula.Parse(src)
		require.Error(t, err, name)
	}
	require.Equal(t, 250_000.0, eval(t, "1"+strings.Repeat("+1", 249_999), formula.DefaultOptions()).Any())
	require.Equal(t, true, eval(t, strings.Repeat("NOT(", 100)+"1"+strings.Repeat(")", 100), formula.DefaultOptions()).Any())

	big := record{fields: map[string]any{"T": strings.Repeat("a", 100_000), "L": make([]any, 100_000)}}
	for _, src := range []string{
		"LEN(T" + strings.Repeat("&T", 1000) + ")",
		"OR(" + strings.Repeat("LEN(T)=1,", 50_000) + "0)",
		"COUNTALL(" + strings.Repeat("L,", 50_000) + "0)",
		"'x'" + strings.Repeat("&REPT('a',1000000)", 1000),
		"OR(" + strings.Repeat("REGEX_MATCH('a','a{500}b{500}'),", 5000) + "0)",
		"REGEX_REPLACE(T,'.*b|a','-')",
		"REGEX_MATCH(T,'(a{500}b{500}){2}')",
		"REGEX_MATCH(T,'" + strings.Repeat("a?", 6000) + "')",
		"DATETIME_FORMAT('2026-01-02',T)",
		"DATETIME_PARSE('2026-01-02',T)",
		"ENCODE_URL_COMPONENT(T&T&T&T)",
	} {
		expr, err := formula.Parse(src)
		require.NoError(t, err)
		require.True(t, expr.Eval(big).IsError(), src[:min(len(src), 40)])
	}
}
