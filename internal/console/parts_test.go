package console_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"airtable-replay/internal/console"
	"airtable-replay/internal/deadletter"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// asBrowser is what a browser makes of a textarea's text: every line break becomes CR LF.
func asBrowser(text string) string {
	plain := strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return strings.ReplaceAll(plain, "\n", "\r\n")
}

func TestUntouchedPayloadsNeverChange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		payload := []byte(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`{"a":1.0}`, "{\n}", "{\r\n\"a\": 1E400}", " [1, 2] ", "\r\r\n\n", "{\"a\":\"\\u00e9\u2028\"}"}),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "payload"))
		raw, changed := console.EditedBytes(payload, asBrowser(console.FormText(payload)))
		require.False(t, changed)
		require.Equal(t, payload, raw)
	})
}

func TestEditedPayloadKeepsItsKindOfLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, text, want string }{
		"dense JSON stays dense":         {`{"a":1,"b":"x y"}`, "{\r\n  \"a\": 2,\r\n  \"b\": \"x y\"\r\n}", `{"a":2,"b":"x y"}`},
		"digits as they were typed":      {`{"a":1}`, `{ "a": 1970670598291982290.10 }`, `{"a":1970670598291982290.10}`},
		"laid out stays laid out":        {"{\n \"a\": 1\n}", "{\r\n \"a\": 2\r\n}", "{\n \"a\": 2\n}"},
		"CR LF stays CR LF":              {"{\r\n\"a\": 1\r\n}", "{\r\n\"a\": 2\r\n}", "{\r\n\"a\": 2\r\n}"},
		"broken JSON is mended":          {`{"a":1`, "{\"a\":1}\r\n", "{\"a\":1}\n"},
		"to what is no JSON":             {`{"a":1}`, "nothing", "nothing"},
		"the order of keys is a change":  {`{"a":1,"b":2}`, `{"b":2,"a":1}`, `{"b":2,"a":1}`},
		"so is how a number is written":  {`{"a":1}`, `{"a":1.0}`, `{"a":1.0}`},
		"a blank within a text is one":   {`{"a":"x"}`, `{"a":"x "}`, `{"a":"x "}`},
		"bytes are replaced by new text": {"\xff\x00", "new", "new"},
	} {
		raw, changed := console.EditedBytes([]byte(c.before), c.text)
		require.True(t, changed, name)
		require.Equal(t, c.want, string(raw), name)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{" {", `−  "a": 1,`, `+  "a": 2,`, `   "b": [`, "     1", "   ],", `   "c": 0,`, "…"},
		console.DiffText(`{"a":1,"b":[1],"c":0,"d":0,"e":0}`, `{"a":2,"b":[1],"c":0,"d":0,"e":0}`))
	require.Equal(t, []string{`−{"a":1}`, `+{ "a": 1 }`}, console.DiffText(`{"a":1}`, `{ "a": 1 }`), "where only blanks differ, they are shown")
	require.Equal(t, []string{`−"\xff"`, "+new"}, console.DiffText("\xff", "new"))
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 12)
		a, b := lines.Draw(t, "a"), lines.Draw(t, "b")
		before, after := console.Diff(a, b)
		require.Equal(t, a, append([]string{}, before...))
		require.Equal(t, b, append([]string{}, after...))
	})
}

func TestWordsForTimes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 5, 12, 0, 0, 0, time.UTC)
	for want, at := range map[string]time.Time{
		"just now": now.Add(-2 * time.Second), "42 s ago": now.Add(-42 * time.Second), "59 min ago": now.Add(-time.Hour + 1), "47 h ago": now.Add(-48*time.Hour + 1),
		"2 days ago": now.Add(-48 * time.Hour), "3 months ago": now.Add(-91 * 24 * time.Hour), "2 years ago": now.Add(-800 * 24 * time.Hour),
		"in 30 s": now.Add(30 * time.Second), "never": {},
	} {
		require.Equal(t, want, console.Ago(now, at))
	}
}

func TestValuesAreShownExactly(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{
		"null": nil, `""`: "", "true": true, "Shipped": "Shipped", `"5"`: "5", "5": json.Number("5"), "1970670598291982290.10": json.Number("1970670598291982290.10"),
		`" x"`: " x", `"true"`: "true", `["recA","recB"]`: []any{"recA", "recB"}, `{"a":"<b>"}`: map[string]any{"a": "<b>"}, "2026-05-10": "2026-05-10", `nbsp`: nil,
	} {
		if want == `nbsp` {
			require.Equal(t, "\"x\u00a0\"", console.ValueText("x\u00a0"), "a blank at the end is seen")
			continue
		}
		require.Equal(t, want, console.ValueText(v))
	}
}

func TestOnlyAllOfItIsAHundredPercent(t *testing.T) {
	t.Parallel()
	for want, c := range map[int][2]int{0: {0, 3}, 33: {1, 3}, 99: {99_999, 100_000}, 100: {3, 3}} {
		require.Equal(t, want, console.Share(c[0], c[1]))
	}
	require.Zero(t, console.Share(0, 0), "nothing of nothing is not complete")
	require.Equal(t, []string{"0", "999", "1,000", "1,234,567"}, []string{console.Thousands(0), console.Thousands(999), console.Thousands(1000), console.Thousands(1_234_567)})
}

func TestNextPathStaysHere(t *testing.T) {
	t.Parallel()
	for next, want := range map[string]string{
		"/entries?status=ignored": "/entries?status=ignored", "": "/", "https://evil.example": "/", "//evil.example": "/", `/\evil.example`: "/", "/\t/evil.example": "/",
		"javascript:alert(1)": "/", "/login": "/", "entries": "/",
	} {
		require.Equal(t, want, console.LocalPath(next), next)
	}
}

func TestEveryReasonHasWords(t *testing.T) {
	t.Parallel()
	for _, r := range deadletter.Reasons() {
		require.NotEqual(t, strings.ReplaceAll(string(r), "_", " "), console.ReasonWords(r), "%s has no words of its own", r)
	}
}

func TestPayloadsAreShownWhole(t *testing.T) {
	t.Parallel()
	p := console.ShowPayload([]byte(`{"a":[1,2]}`))
	require.Equal(t, "{\n  \"a\": [\n    1,\n    2\n  ]\n}", p.Formatted)
	require.Equal(t, `{"a":[1,2]}`, p.Text)
	require.Empty(t, console.ShowPayload([]byte("{\n  \"a\": 1\n}")).Formatted, "laid out already")
	p = console.ShowPayload([]byte("\x00\xff<"))
	require.True(t, p.Binary)
	require.Equal(t, `"\x00\xff<"`, p.Text)
	p = console.ShowPayload([]byte(strings.Repeat("é", 200_000)))
	require.True(t, p.Cut())
	require.True(t, utf8.ValidString(p.Text))
	require.True(t, console.ShowPayload([]byte(" \n")).Empty)
}
