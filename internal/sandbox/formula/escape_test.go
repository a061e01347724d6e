package formula_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox/formula"
)

// quote writes a literal by the rule clients follow: the backslash doubled, then the delimiter escaped.
func quote(text, delimiter string) string {
	escaped := strings.ReplaceAll(text, `\`, `\\`)
	return delimiter + strings.ReplaceAll(escaped, delimiter, `\`+delimiter) + delimiter
}

// hardKeys are lookup keys that broke real clients: cases B01, B02, B06, B14, and their neighbours.
var hardKeys = []string{
	"O'Brien", "Men's Clothing", `He said "no"`, `J. "Jay" Pete`, "(A+B) * 100%! #1 & more",
	`it's Bob's 5" and 6" pipe`, `C:\new\table`, `ends in \`, `\'`, `\\'"`, "two\nlines", "tab\there", "",
	"“smart”", "{Name}", "' OR 1=1 OR '", "日本語 😀", "\x00", "\xff\xfe",
}

func TestHardKeysAreFound(t *testing.T) {
	t.Parallel()
	for _, key := range hardKeys {
		for _, delimiter := range []string{"'", `"`} {
			expr, err := formula.Parse("{Key}=" + quote(key, delimiter))
			require.NoError(t, err, key)
			require.True(t, expr.Eval(record{fields: map[string]any{"Key": key}}).Truthy(), key)
			require.False(t, expr.Eval(record{fields: map[string]any{"Key": key + "x"}}).Truthy(), key)
		}
	}
}

// TestBadEscapesMissTheKey holds that wrong escaping shows: as a syntax error or as a literal that is not the key.
func TestBadEscapesMissTheKey(t *testing.T) {
	t.Parallel()
	for key, literal := range map[string]string{
		"O'Brien":                    `'O'Brien'`,
		"it's Bob's":                 `'it\'s Bob's'`,
		`He said "no"`:               `"He said "no""`,
		"doubled '' like SQL":        `'doubled '' like SQL'`,
		`C:\new`:                     `'C:\new'`,
		`back\slash`:                 `'back\slash'`,
		`ends in \`:                  `'ends in \'`,
		`quote after \' a backslash`: `'quote after \\' a backslash'`,
	} {
		expr, err := formula.Parse("{Key}=" + literal)
		if err == nil {
			require.False(t, expr.Eval(record{fields: map[string]any{"Key": key}}).Truthy(), literal)
		}
	}
}

func FuzzLiteralRoundTrip(f *testing.F) {
	for _, key := range hardKeys {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, delimiter := range []string{"'", `"`} {
			literal := quote(text, delimiter)
			if len(literal) > formula.MaxSource {
				t.Skip("longer than any formula")
			}
			expr, err := formula.Parse(literal)
			require.NoError(t, err)
			require.Equal(t, text, expr.Eval(record{}).Any())
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, table := range []string{
		"core.eval", "text.eval", "number.eval", "array.eval", "date.eval", "syntax.errors",
	} {
		for _, line := range tableLines(f, "testdata/"+table) {
			src, _, _ := cutLast(line, " => ")
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, options := range []formula.Options{{}, formula.DefaultOptions(), {NumberEqualsText: true}} {
			expr, err := formula.ParseWith(src, options)
			if err != nil {
				require.Nil(t, expr)
				require.True(t, utf8.ValidString(err.Error()), "errors go into JSON bodies")
				continue
			}
			value := expr.Eval(sample())
			require.NotPanics(t, func() { shown(t, value) })
			require.False(t, value.IsError() && value.Truthy())
			for _, name := range expr.Fields() {
				require.NotEmpty(t, name)
			}
			if asked, ok := expr.Lookup(); ok {
				require.Subset(t, expr.Fields(), asked.Subject.Fields())
				require.Equal(t, value.Truthy(), slices.Contains(asked.Keys, asked.Subject.Eval(sample()).Key()))
			}
		}
	})
}
