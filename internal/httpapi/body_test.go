package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi"
	"airtable-replay/internal/live"
	"airtable-replay/internal/replay"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMalformedBodies(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"source_system": "a",}`: "the body is not JSON at byte 23",
		`{"source_system": "a"`:   "the body is not JSON at byte 21",
		`{} {}`:                   "the body is not JSON at byte 4",
		`source_system=a`:         "the body is not JSON at byte 1",
		"{\"a\": \"b\xff\"}":      "the body is not UTF-8 at byte 8",
		"":                        "the body is empty",
		"  \n":                    "the body is empty",
		`[1]`:                     "the body must be a JSON object, not a list",
		`"text"`:                  "the body must be a JSON object, not a string",
		`7`:                       "the body must be a JSON object, not a number",
		` null `:                  "the body must be a JSON object, not null",
	} {
		b := setup(t)
		a := b.call(t, request{method: "POST", path: "/v1/entries", body: body})
		require.Equal(t, 400, a.status, body)
		p := a.problem(t)
		require.Equal(t, "/problems/malformed-request", p.Type)
		require.Contains(t, p.Detail, want)
		require.Empty(t, b.calls)
	}
}

func TestBodiesThatDoNotFit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, body string
		rules      []string
	}{
		{"/v1/entries", `{"source_system": 7}`, []string{"source_system type"}},
		{"/v1/entries", `{"attempts": 1.5}`, []string{"attempts type"}},
		{"/v1/entries", `{"attempts": 3000000000}`, []string{"attempts type"}},
		{"/v1/runs", `{"selector": {"ids": "x"}}`, []string{"selector.ids type"}},
		{"/v1/runs", `{"selector": []}`, []string{"selector type"}},
		{"/v1/runs", `{"dry_run": "yes"}`, []string{"dry_run type"}},
		{"/v1/runs", `{"selecter": {}, "selector": {"sauce": "a", "source": "b", "source": "c"}}`, []string{"selecter unknown", "selector.sauce unknown", "selector.source duplicate"}},
		{"/v1/runs", `{"Selector": {}}`, []string{"Selector unknown"}},
		{"/v1/runs", `{"expect": {"a": {"x": 1, "x": 2}, "a": {}}}`, []string{"expect.a duplicate", "expect.a.x duplicate"}},
		{"/v1/writes", `{"writes": [{"source_system": "a", "payload": 1}, {"source": "a"}]}`, []string{"writes[1].source unknown"}},
		{"/v1/entries/" + entryID + "/replay", `{"fields": ["\ud800"], "reason": "\udc00x"}`, []string{"fields[0] unicode", "reason unicode"}},
		{"/v1/entries/" + entryID + "/ignore", `{"reason": "a\u0000b"}`, []string{"reason no_nul"}},
		{"/v1/entries/" + entryID + "/ignore", `{"reason": "` + strings.Repeat("ä", 2001) + `"}`, []string{"reason max_length"}},
		{"/v1/stuck/reset", `{"ids": ["` + entryID + `", "x"]}`, []string{"ids[1] id"}},
	} {
		b := setup(t)
		a := b.call(t, request{method: "POST", path: c.path, body: c.body})
		require.Equal(t, 422, a.status, c.body)
		require.ElementsMatch(t, c.rules, a.problem(t).rules(), c.body)
		require.Empty(t, b.calls)
	}
}

func TestUnknownMemberIsRefusedByName(t *testing.T) {
	t.Parallel()
	a := setup(t).call(t, request{method: "POST", path: "/v1/entries/" + entryID + "/ignore", body: `{"raison": "x"}`})
	require.Equal(t, "raison is no member here; known are reason", a.problem(t).Detail)
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *httpapi.Config) { c.BodyLimit = 100 })
	body := `{"source_system": "s", "payload": "` + strings.Repeat("x", 63) + `"}`
	require.Len(t, body, 100)
	require.Equal(t, 202, b.call(t, request{method: "POST", path: "/v1/writes", body: body}).status)
	a := b.call(t, request{method: "POST", path: "/v1/writes", body: body + " "})
	require.Equal(t, 413, a.status)
	require.Equal(t, "/problems/body-too-large", a.problem(t).Type)
	require.Contains(t, a.problem(t).Detail, "100 bytes")
}

func TestUsualBodyLimitTakesFourMebibytes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const write = `{"source_system": "s", "payload": "x"}`
	body := func(n int) string { return write + strings.Repeat(" ", n-len(write)) }
	require.Equal(t, 202, b.call(t, request{method: "POST", path: "/v1/writes", body: body(4 << 20)}).status)
	require.Equal(t, 413, b.call(t, request{method: "POST", path: "/v1/writes", body: body(4<<20 + 1)}).status)
}

// A payload of 1 MiB is taken whichever way it comes, one of a byte more is refused by name; what
// counts is its own length, not that of its spelling in the request.
func TestPayloadLimit(t *testing.T) {
	t.Parallel()
	full := strings.Repeat("x", deadletter.MaxPayload-1)
	for name, c := range map[string]struct {
		request
		field string
	}{
		"filing":             {request{method: "POST", path: "/v1/entries", body: `{"source_system": "s", "reason_code": "other", "first_attempt_at": "2026-10-04T08:00:00Z", "raw_payload": "PAYLOAD"}`}, "raw_payload"},
		"edit":               {request{method: "PUT", path: entryPath + "/payload", body: `{"reason": "mended", "raw_payload": "PAYLOAD"}`}, "raw_payload"},
		"one write":          {request{method: "POST", path: "/v1/writes", body: `{"source_system": "s", "payload": "PAYLOAD"}`}, "payload"},
		"a write of several": {request{method: "POST", path: "/v1/writes", body: `{"writes": [{"source_system": "s", "payload": {}}, {"source_system": "s", "payload": "PAYLOAD"}]}`}, "writes[1].payload"},
		"validation":         {request{method: "POST", path: "/v1/validate", body: `{"source_system": "s", "payload": "PAYLOAD"}`}, "payload"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			q := c.request
			q.body = strings.Replace(c.body, "PAYLOAD", full+`\u00fc`, 1) // two bytes in UTF-8
			p := b.call(t, q).problem(t)
			require.Equal(t, "/problems/invalid-request", p.Type)
			require.Equal(t, c.field, p.Errors[0].Field)
			require.Equal(t, "max_bytes", p.Errors[0].Rule)
			require.Contains(t, p.Errors[0].Detail, "1048577 bytes")
			require.Empty(t, b.calls)
			q.body = strings.Replace(c.body, "PAYLOAD", full+`\u0041`, 1)
			require.Less(t, b.call(t, q).status, 300)
		})
	}
}

func TestEncodedBodiesAreRefused(t *testing.T) {
	t.Parallel()
	a := setup(t).call(t, request{method: "POST", path: "/v1/writes", body: "x", header: map[string]string{"Content-Encoding": "gzip"}})
	require.Equal(t, 415, a.status)
	require.Equal(t, "/problems/unsupported-encoding", a.problem(t).Type)
}

// TestDigitsSurvive is case B20: no number passes through a float.
func TestDigitsSurvive(t *testing.T) {
	t.Parallel()
	const payload = `{ "id":1970670598291982290,  "amount": 0.10, "big": 1e400 }`
	b := setup(t)
	require.Equal(t, 202, b.call(t, request{method: "POST", path: "/v1/writes", body: `{"source_system": "s", "payload": ` + payload + `}`}).status)
	require.Equal(t, payload, string(b.calls[0].([]live.Incoming)[0].Payload))

	b = setup(t)
	require.Equal(t, 202, b.call(t, request{
		method: "POST", path: "/v1/entries/" + entryID + "/replay",
		body: `{"mode": "chosen_fields", "fields": ["id"], "expect": {"id": 1970670598291982290, "list": [0.10]}}`,
	}).status)
	require.Equal(t, map[string]any{"id": json.Number("1970670598291982290"), "list": []any{json.Number("0.10")}}, b.calls[0].(replay.Press).Expect)
}

// TestPayloadTextComesBackAsItWasFiled covers NUL, HTML and every other text: what is filed as text is
// handed on, and shown, byte for byte.
func TestPayloadTextComesBackAsItWasFiled(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("\x00<>&\\u003ce\"\u2028\U0001F600{}")))).Draw(rt, "text")
		if !utf8.ValidString(text) {
			rt.Skip("no text")
		}
		quoted, err := json.Marshal(text)
		require.NoError(rt, err)
		b := setup(t)
		a := b.call(t, request{
			method: "POST", path: "/v1/entries",
			body: `{"source_system": "s", "reason_code": "other", "first_attempt_at": "2026-10-04T08:00:00Z", "raw_payload": ` + string(quoted) + `}`,
		})
		require.Equal(rt, 201, a.status, a.body)
		filed := b.calls[0].(replay.Filing).RawPayload
		require.Equal(rt, text, string(filed))

		b.entry.RawPayload = filed
		a = b.call(t, request{method: "GET", path: "/v1/entries/" + entryID})
		var shown struct {
			RawPayload *string `json:"raw_payload"`
		}
		require.NoError(rt, json.Unmarshal([]byte(a.body), &shown))
		require.Equal(rt, text, *shown.RawPayload)
	})
}

func TestUnescapeHTMLChangesNoValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune(`<>&\u003ce26"a`))).Draw(t, "text")
		escaped, err := json.Marshal(map[string]string{text: text})
		require.NoError(t, err)
		plain := httpapi.UnescapeHTML(escaped)
		var got map[string]string
		require.NoError(t, json.Unmarshal(plain, &got))
		require.Equal(t, map[string]string{text: text}, got)
		require.Equal(t, 2*strings.Count(text, "<"), strings.Count(string(plain), "<"))
	})
}

func TestLoneSurrogates(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		`""`: false, `"a"`: false, `"\ud83d\ude00"`: false, `"\uD83D\uDE00x"`: false, `"\\ud800"`: false, `"\\\\"`: false, `"\n\u0041"`: false,
		`"\ud800"`: true, `"\udc00"`: true, `"\ud800x"`: true, `"\ud800\ud800\udc00"`: true, `"\ud800\n"`: true, `"\\\ud800"`: true,
		`"\ud83d\ude00\udfff"`: true, `"\ud800\u0041"`: true,
	} {
		require.Equal(t, want, httpapi.LoneSurrogate([]byte(raw)), raw)
	}
}

func FuzzLoneSurrogate(f *testing.F) {
	f.Add(`"\ud800\udc00"`)
	f.Add(`"\ud800"`)
	f.Fuzz(func(t *testing.T, raw string) {
		var text string
		if json.Unmarshal([]byte(raw), &text) != nil || !utf8.ValidString(raw) || !strings.HasPrefix(raw, `"`) {
			return
		}
		// The decoder puts U+FFFD where half a pair was; without one in the source that is the only way.
		if !strings.ContainsRune(raw, utf8.RuneError) && !strings.Contains(strings.ToLower(raw), "fffd") {
			require.Equal(t, strings.ContainsRune(text, utf8.RuneError), httpapi.LoneSurrogate([]byte(raw)))
		}
	})
}
