package formula_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox/formula"
)

// record is the fake row formulas are evaluated against. Lookup ignores case and accepts IDs, as the sandbox does.
type record struct {
	fields   map[string]any
	modified map[string]time.Time
}

func (r record) Field(name string) (any, bool) {
	for field, cell := range r.fields {
		if strings.EqualFold(field, name) {
			return cell, true
		}
	}
	return nil, false
}

func (r record) RecordID() string       { return "recAAAAAAAAAAAAAA" }
func (r record) CreatedTime() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
func (r record) Now() time.Time         { return time.Date(2026, 3, 4, 15, 6, 7, 0, time.UTC) }

func (r record) LastModified(fields []string) time.Time {
	if len(fields) == 0 {
		fields = []string{""}
	}
	var latest time.Time
	for _, field := range fields {
		if at := r.modified[strings.ToLower(field)]; at.After(latest) {
			latest = at
		}
	}
	return latest
}

// sample is the record the tables under testdata speak of.
func sample() record {
	return record{
		fields: map[string]any{
			"Name":           "O'Brien",
			"Notes":          "line one\nline two",
			"Empty":          nil,
			"Count":          5.0,
			"Zero":           0.0,
			"Price":          12.5,
			"Done":           true,
			"Undone":         nil,
			"Due":            formula.Date(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)),
			"Start":          time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC),
			"Link":           []any{"Alpha", "Beta"},
			"One":            []any{"Alpha"},
			"None":           []any{},
			"Numbers":        []any{1.0, 2.0, nil, 2.0},
			"Owner":          map[string]any{"id": "usr1", "email": "a@b.c", "name": "Ann"},
			"Files":          []any{map[string]any{"id": "att1", "url": "https://x.test/f", "filename": "f.txt"}},
			"Broken":         map[string]any{"error": "#ERROR!"},
			"Nothing":        map[string]any{"specialValue": "NaN"},
			"a} brace":       "braced",
			`back\slash`:     "slashed",
			"fldABCDEF12345": "by id",
			"Größe":          "XL",
		},
		modified: map[string]time.Time{
			"":      time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
			"name":  time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC),
			"count": time.Date(2026, 1, 20, 0, 0, 0, 0, time.UTC),
		},
	}
}

// TestEval runs every "formula => result" line under testdata. A result is JSON, or #ERROR!.
func TestEval(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.eval")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			lines := tableLines(t, file)
			require.NotEmpty(t, lines)
			for _, line := range lines {
				src, want, ok := cutLast(line, " => ")
				require.True(t, ok, "line %q has no result", line)
				expr, err := formula.Parse(src)
				require.NoError(t, err, src)
				require.Empty(t, expr.UnknownFunctions(), src)
				require.Equal(t, want, shown(t, expr.Eval(sample())), src)
			}
		})
	}
}

func tableLines(t testing.TB, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

func cutLast(s, separator string) (before, after string, found bool) {
	at := strings.LastIndex(s, separator)
	if at < 0 {
		return s, "", false
	}
	return strings.TrimSpace(s[:at]), strings.TrimSpace(s[at+len(separator):]), true
}

func shown(t testing.TB, v formula.Value) string {
	t.Helper()
	if v.IsError() {
		return "#ERROR!"
	}
	data, err := json.Marshal(v.Any())
	require.NoError(t, err)
	return string(data)
}
