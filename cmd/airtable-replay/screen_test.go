package main_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"airtable-replay/api/client"
	program "airtable-replay/cmd/airtable-replay"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTextIsMadeHarmless(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain":                  "plain",
		"Grüße, 長い":              "Grüße, 長い",
		"\x1b[31mred":            `\u001b[31mred`,
		"a\nb\tc\rd":             `a\nb\tc\u000dd`,
		"\u009b2J":               `\u009b2J`,
		"\u202egnp":              `\u202egnp`,
		"tag \U000e0001":         `tag \udb40\udc01`,
		"bytes \xff\xfe":         `bytes \xff\xfe`,
		"family 👨\u200d👩\u200d👧": "family 👨\u200d👩\u200d👧",
	} {
		require.Equal(t, want, program.Printable(text))
	}
	require.Equal(t, "  one\n  t\\u001bwo\n", program.PrintableLines("one\r\nt\x1bwo", "  "))
}

// Whatever is shown, a terminal has nothing to act on.
func TestNothingCommandsTheTerminal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.StringOf(rapid.RuneFrom([]rune("\x00\x1b\x7f\u0085\u009b\u202e\u2066\u2028\ufeff\U000e0020aä長"))).Draw(t, "runes")
		require.Empty(t, commands(program.Printable(text)))
		require.NotContains(t, program.Printable(text), "\n")
		require.Empty(t, commands(program.PrintableLines(text, "")))
		require.True(t, utf8.ValidString(program.Printable(text)))
		require.Empty(t, commands(program.ProblemText(client.Problem{Title: text, Detail: text, Errors: []client.FieldError{{Field: text, Detail: text}}})))
	})
}

// JSON with what a terminal would act upon escaped is the same JSON.
func TestHarmlessJSONIsTheSameJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		raw := []byte(`{"a": ` + `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(stripControls(text)) + "\u202e\u009b\x7f\", \"n\": 12345678901234567890.10}")
		require.True(t, json.Valid(raw))
		safe := program.Harmless(raw)
		require.Empty(t, commands(safe))
		var before, after struct {
			A string
			N json.RawMessage
		}
		require.NoError(t, json.Unmarshal(raw, &before))
		require.NoError(t, json.Unmarshal([]byte(safe), &after))
		require.Equal(t, before, after)
	})
}

// stripControls takes out what may not stand in JSON text unescaped.
func stripControls(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return -1
		}
		return r
	}, text)
}

func TestTextIsCutAndBrokenToTheWidth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab 長é\u0301"))).Draw(t, "text")
		n := rapid.IntRange(1, 30).Draw(t, "columns")
		short := program.Cut(text, n)
		require.LessOrEqual(t, program.Cells(short), n)
		require.True(t, strings.HasPrefix(text, strings.TrimSuffix(short, "…")))
		require.Equal(t, text, program.Cut(text, program.Cells(text)), "what fits stays whole")

		hung := program.Hang("name: "+text, 6, n+6)
		require.Equal(t, strings.Fields("name: "+text), strings.Fields(hung), "no word is lost")
		for _, line := range strings.Split(hung, "\n")[1:] {
			require.True(t, strings.HasPrefix(line, "      "))
		}
	})
	require.Equal(t, "name: one\n      two\n      three", program.Hang("name: one two three", 6, 11))
	require.Equal(t, "name: one two three", program.Hang("name: one two three", 6, 0))
}

func TestGridsFitTheirLine(t *testing.T) {
	t.Parallel()
	rows := [][3]string{{"a rather long text", "firm", "2026-10-02"}, {"", "長い", "x"}}
	require.Equal(t, "CUT                 FIRM  DROP\na rather long text  firm  2026-10-02\n-                   長い  x\n", program.Page(0, rows))
	require.Equal(t, "CUT           FIRM  DROP\na rather lo…  firm  2026-10-02\n-             長い  x\n", program.Page(30, rows))
	require.Equal(t, "CUT           FIRM\na rather lo…  firm\n-             長い\n", program.Page(18, rows))
	require.Equal(t, "CUT   FIRM\na r…  firm\n-     長い\n", program.Page(10, rows))
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.IntRange(10, 60).Draw(t, "line")
		cell := rapid.StringOfN(rapid.RuneFrom([]rune("ab長\x1b")), 0, 40, -1)
		text := program.Page(line, [][3]string{{cell.Draw(t, "cut"), "firm", cell.Draw(t, "drop")}})
		for row := range strings.Lines(text) {
			require.LessOrEqual(t, program.Cells(strings.TrimRight(row, "\n")), line)
		}
	})
}

func FuzzPrintable(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b]0;title\x07")
	f.Add("\xff\u202e")
	f.Fuzz(func(t *testing.T, text string) {
		require.Empty(t, commands(program.Printable(text)))
	})
}
