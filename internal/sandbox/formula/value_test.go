package formula_test

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox/formula"
)

func eval(t *testing.T, src string, options formula.Options) formula.Value {
	t.Helper()
	expr, err := formula.ParseWith(src, options)
	require.NoError(t, err, src)
	return expr.Eval(sample())
}

func TestOptions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		src     string
		options formula.Options
		want    bool
	}{
		{"{Zero}=BLANK()", formula.Options{}, false},
		{"{Zero}=BLANK()", formula.Options{ZeroEqualsBlank: true}, true},
		{"{Empty}=0", formula.Options{}, false},
		{"{Empty}=0", formula.Options{ZeroEqualsBlank: true}, true},
		{"{Zero}!=''", formula.Options{}, true},
		{"{Zero}!=''", formula.Options{ZeroEqualsBlank: true}, false},
		{"{Undone}=FALSE()", formula.Options{}, true},
		{"{Count}=BLANK()", formula.Options{ZeroEqualsBlank: true}, false},
		{"{Count}='5'", formula.Options{}, false},
		{"{Count}='5'", formula.Options{NumberEqualsText: true}, true},
		{"'5'={Count}", formula.Options{NumberEqualsText: true}, true},
		{"{Count}='5.0'", formula.Options{NumberEqualsText: true}, false},
		{"SWITCH({Count},'5',1,0)", formula.Options{NumberEqualsText: true}, true},
		{"SWITCH({Count},'5',1,0)", formula.Options{}, false},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, eval(t, tt.src, tt.options).Truthy(), "%s under %+v", tt.src, tt.options)
	}
}

func TestLineBreaksInLiterals(t *testing.T) {
	t.Parallel()
	const raw = "{Notes}='line one\nline two'"
	require.True(t, eval(t, raw, formula.DefaultOptions()).Truthy())
	_, err := formula.ParseWith(raw, formula.Options{})
	require.EqualError(t, err, `formula at byte 17: line break in a text literal; write \n`)
	require.True(t, eval(t, `{Notes}='line one\nline two'`, formula.Options{}).Truthy())
}

func TestTruthy(t *testing.T) {
	t.Parallel()
	cells := map[string]struct {
		cell any
		want bool
	}{
		"nil":             {nil, false},
		"empty text":      {"", false},
		"text":            {"0", true},
		"zero":            {0.0, false},
		"number":          {-1.0, true},
		"int":             {3, true},
		"int64":           {int64(0), false},
		"NaN":             {math.NaN(), false},
		"infinity":        {math.Inf(1), true},
		"false":           {false, false},
		"true":            {true, true},
		"empty list":      {[]any{}, false},
		"list of nothing": {[]any{nil}, true},
		"object":          {map[string]any{"id": "usr1"}, true},
		"time":            {time.Unix(0, 0), true},
		"date":            {formula.Date(time.Unix(0, 0)), true},
		"error":           {map[string]any{"error": "#ERROR!"}, false},
		"special NaN":     {map[string]any{"specialValue": "NaN"}, false},
		"special Inf":     {map[string]any{"specialValue": "-Infinity"}, true},
		"unknown type":    {struct{}{}, false},
	}
	expr, err := formula.Parse("{F}")
	require.NoError(t, err)
	for name, tt := range cells {
		got := expr.Eval(record{fields: map[string]any{"F": tt.cell}})
		require.Equal(t, tt.want, got.Truthy(), name)
	}
}

func TestAnyIsWhatACellHolds(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	for src, want := range map[string]any{
		"{Name}":                             "O'Brien",
		"{Count}":                            5.0,
		"{Done}":                             true,
		"{Empty}":                            nil,
		"{Start}":                            start,
		"SET_TIMEZONE({Start},'Asia/Tokyo')": start,
		"{Link}":                             []any{"Alpha", "Beta"},
		"{Owner}":                            map[string]any{"id": "usr1", "email": "a@b.c", "name": "Ann"},
		"{Broken}":                           map[string]any{"error": "#ERROR!"},
		"1/0":                                map[string]any{"specialValue": "Infinity"},
	} {
		require.Empty(t, cmp.Diff(want, eval(t, src, formula.DefaultOptions()).Any()), src)
	}
}

func TestTextOfObjects(t *testing.T) {
	t.Parallel()
	expr, err := formula.Parse("{F}&''")
	require.NoError(t, err)
	for want, cell := range map[string]any{
		"a@b.c":     map[string]any{"id": "usr1", "email": "a@b.c"},
		"12345":     map[string]any{"text": "12345", "type": "upce"},
		"Open":      map[string]any{"label": "Open", "url": nil},
		"A summary": map[string]any{"state": "generated", "value": "A summary", "isStale": false},
		"":          map[string]any{"state": 1},
		"#ERROR!":   []any{map[string]any{"error": "#ERROR!"}},
	} {
		require.Equal(t, want, expr.Eval(record{fields: map[string]any{"F": cell}}).Text())
	}
}

func TestNestedListsAreBounded(t *testing.T) {
	t.Parallel()
	endless := []any{nil}
	endless[0] = endless
	expr, err := formula.Parse("{F}&''")
	require.NoError(t, err)
	require.Equal(t, "#ERROR!", expr.Eval(record{fields: map[string]any{"F": endless}}).Text())
}

func TestExprIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	expr, err := formula.Parse("AND({Name}='O\\'Brien', REGEX_MATCH({Notes}, 'two$'), {Count}+1=6)")
	require.NoError(t, err)
	var group sync.WaitGroup
	results := make([]bool, 8)
	for i := range results {
		group.Go(func() { results[i] = expr.Eval(sample()).Truthy() })
	}
	group.Wait()
	require.NotContains(t, results, false)
}
