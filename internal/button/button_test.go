package button_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"airtable-replay/internal/button"

	"github.com/stretchr/testify/require"
)

const (
	secret = "art_secret.0123456789"
	record = "recA1b2C3d4E5f6G7"
	table  = "Dead Letter Queue"
)

// script is a run of the automation.
type script struct {
	Script string         `json:"script"`
	Table  string         `json:"table"`
	Fields []string       `json:"fields"`
	Config map[string]any `json:"config"`
	Secret *string        `json:"secret"`
	Crypto bool           `json:"crypto"`
	Answer answer         `json:"answer"`
}

type answer struct {
	Status       int    `json:"status"`
	Body         string `json:"body"`
	ContentType  string `json:"contentType,omitempty"`
	NetworkError string `json:"networkError,omitempty"`
}

// did is what a run did.
type did struct {
	Requests []struct {
		URL     string            `json:"url"`
		Method  string            `json:"method"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
	} `json:"requests"`
	Updates []update       `json:"updates"`
	Outputs map[string]any `json:"outputs"`
	Log     []string       `json:"log"`
	Thrown  string         `json:"thrown"`
}

type update struct {
	Record string         `json:"record"`
	Fields map[string]any `json:"fields"`
}

// pressed is a run whose press gets an answer.
func pressed(a answer) script {
	s := secret
	return script{
		Script: button.Script("", ""), Table: table, Fields: []string{"DLQ Record ID", "Replay Requested", "Replay Notes"}, Secret: &s,
		Config: map[string]any{"recordId": record, "requestedBy": "Ann", "serviceUrl": "https://replay.example"}, Answer: a,
	}
}

var node = sync.OnceValues(func() (string, error) { return exec.LookPath("node") })

func run(t *testing.T, s script) did {
	t.Helper()
	bin, err := node()
	require.NoError(t, err, "these tests run the script with Node.js; this command installs it: scripts/need.sh node")
	in, err := json.Marshal(s)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), bin, "testdata/harness.mjs")
	cmd.Stdin = bytes.NewReader(in)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "%s", &stderr)
	require.Empty(t, stderr.String())
	var out did
	require.NoError(t, json.Unmarshal(stdout.Bytes(), &out), "%s", &stdout)
	requireSecretKept(t, out)
	return out
}

// requireSecretKept finds the token in nothing but the header that is for it.
func requireSecretKept(t *testing.T, out did) {
	t.Helper()
	shown, err := json.Marshal([]any{out.Updates, out.Outputs, out.Log, out.Thrown})
	require.NoError(t, err)
	require.NotContains(t, string(shown), secret)
	for _, r := range out.Requests {
		require.NotContains(t, r.URL+r.Body, secret)
		for name, value := range r.Headers {
			require.Equal(t, name == "Authorization", strings.Contains(value, secret), name)
		}
	}
}

// note is the note of the run's only update, which unticks the box besides.
func note(t *testing.T, out did) string {
	t.Helper()
	require.Empty(t, out.Thrown)
	require.Len(t, out.Updates, 1, "one update")
	require.Equal(t, record, out.Updates[0].Record)
	fields := out.Updates[0].Fields
	require.Len(t, fields, 2)
	require.Equal(t, false, fields["Replay Requested"])
	require.Equal(t, map[string]any{"accepted": false, "reason": fields["Replay Notes"]}, out.Outputs)
	return fields["Replay Notes"].(string)
}

func problem(status int, name, detail, more string) answer {
	return answer{Status: status, ContentType: "application/problem+json", Body: `{"type":"/problems/` + name + `","title":"A title","status":409,"detail":"` + detail + `"` + more + `}`}
}

func TestAnAcceptedPressIsLeftToTheService(t *testing.T) {
	t.Parallel()
	out := run(t, pressed(answer{Status: 202, Body: `{"run_id":"0198","entry":{"status":"replaying"}}`}))
	require.Empty(t, out.Thrown)
	require.Empty(t, out.Updates, "the service writes the outcome")
	require.Empty(t, out.Log)
	require.Equal(t, map[string]any{"accepted": true, "runId": "0198"}, out.Outputs)
	require.Len(t, out.Requests, 1)
	r := out.Requests[0]
	require.Equal(t, "POST", r.Method)
	require.Equal(t, "https://replay.example/v1/entries/"+record+"/replay", r.URL)
	require.JSONEq(t, `{"requested_by":"Ann"}`, r.Body)
	key := r.Headers["Idempotency-Key"]
	require.Regexp(t, `^automation-`+record+`-[0-9a-z]+-[0-9a-z]{20,}$`, key)
	delete(r.Headers, "Idempotency-Key")
	require.Equal(t, map[string]string{"Authorization": "Bearer " + secret, "Content-Type": "application/json", "Accept": "application/json"}, r.Headers)
}

func TestEveryRunHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, crypto := range []bool{false, true, false, true} {
		s := pressed(answer{Status: 202, Body: `{}`})
		s.Crypto = crypto
		out := run(t, s)
		require.Len(t, out.Requests, 1)
		key := out.Requests[0].Headers["Idempotency-Key"]
		require.Regexp(t, `^[!-~]{20,255}$`, key)
		require.False(t, seen[key])
		seen[key] = true
	}
}

func TestARefusedPressIsTakenBackWithItsReason(t *testing.T) {
	t.Parallel()
	html := "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"
	for name, c := range map[string]struct {
		answer answer
		says   string
	}{
		"not pending": {
			problem(409, "entry-not-pending", "This entry was already settled at 2026-10-04 12:00:00 UTC by ann: replayed.", `,"entry_status":"resolved"`),
			"Replay was refused: This entry was already settled at 2026-10-04 12:00:00 UTC by ann: replayed.",
		},
		"halted (B87)": {problem(409, "base-halted", "base orders is halted, nothing was started: token revoked", ""), "Replay was refused: base orders is halted, nothing was started: token revoked"},
		"unknown":      {problem(404, "entry-not-found", "there is no entry and no row", ""), "Replay was refused: there is no entry and no row"},
		"fields": {
			problem(422, "invalid-request", "the row cannot be taken in.", `,"errors":[{"field":"Source System","rule":"required","detail":"is empty"},{"field":"Raw Payload","rule":"required","detail":"is empty"}]`),
			"Replay was refused: the row cannot be taken in. Source System: is empty. Raw Payload: is empty.",
		},
		"title alone": {answer{Status: 409, Body: `{"title":"Base halted"}`}, "Replay was refused: Base halted"},
		"bad token": {
			problem(401, "unauthenticated", "no such token", ""),
			"Replay was not started: the service does not accept the automation's token. Check the secret AIRTABLE_REPLAY_TOKEN.",
		},
		"no scope":   {problem(403, "forbidden", "this needs the scope replay", ""), "Replay was not started: the automation's token may not press Replay. this needs the scope replay"},
		"paused":     {problem(503, "unavailable", "base orders is paused. Press again later.", ""), "Replay was refused: base orders is paused. Press again later."},
		"error page": {answer{Status: 500, Body: html, ContentType: "text/html"}, "The replay service answered 500 and gave no reason. Press Replay again later; a press that did arrive is not carried out twice."},
		"502":        {answer{Status: 502, Body: ""}, "The replay service answered 502 and gave no reason. Press Replay again later; a press that did arrive is not carried out twice."},
		"another site": {
			answer{Status: 200, Body: html, ContentType: "text/html"},
			"Replay was not started: https://replay.example answered 200, which is no answer of a replay service. Check serviceUrl.",
		},
		"a list": {answer{Status: 404, Body: `[1]`}, "Replay was not started: https://replay.example answered 404, which is no answer of a replay service. Check serviceUrl."},
		"odd types": {
			answer{Status: 409, Body: `{"detail":{"a":1},"title":["Not","pending"],"errors":[null,{"field":1}]}`},
			"Replay was refused: Not, pending",
		},
		"no network": {answer{NetworkError: "getaddrinfo ENOTFOUND replay.example"}, "The replay service did not answer (getaddrinfo ENOTFOUND replay.example). Press Replay again later; a press that did arrive is not carried out twice."},
		"an error that tells": {
			answer{NetworkError: "bad header Bearer {token}"},
			"The replay service did not answer (bad header Bearer [token]). Press Replay again later; a press that did arrive is not carried out twice.",
		},
		"an echo": {problem(409, "conflict", "you sent "+secret, ""), "Replay was refused: you sent [token]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := run(t, pressed(c.answer))
			require.Len(t, out.Requests, 1, "one request, never repeated")
			require.Empty(t, out.Log)
			require.Equal(t, c.says, note(t, out))
		})
	}
}

func TestALongReasonIsCut(t *testing.T) {
	t.Parallel()
	said := note(t, run(t, pressed(problem(409, "conflict", strings.Repeat("x", 5000), ""))))
	require.True(t, strings.HasPrefix(said, "Replay was refused: xxx"))
	require.True(t, strings.HasSuffix(said, "xxx…"))
	require.Equal(t, 2001, utf8.RuneCountInString(said))
}

func TestWhatIsNotSetUpIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*script)
		says   string
	}{
		"no secret":     {func(s *script) { s.Secret = nil }, "set up the automation's secret AIRTABLE_REPLAY_TOKEN"},
		"blank secret":  {func(s *script) { s.Secret = new(" ") }, "set up the automation's secret AIRTABLE_REPLAY_TOKEN"},
		"no service":    {func(s *script) { delete(s.Config, "serviceUrl") }, "set up the automation's input variable serviceUrl"},
		"not a service": {func(s *script) { s.Config["serviceUrl"] = "replay.example" }, "set up the automation's input variable serviceUrl"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := pressed(answer{Status: 202, Body: "{}"})
			c.change(&s)
			out := run(t, s)
			require.Empty(t, out.Requests)
			require.Contains(t, note(t, out), c.says)
		})
	}
}

func TestWithoutARecordThereIsNothingToWriteTo(t *testing.T) {
	t.Parallel()
	s := pressed(answer{Status: 202, Body: "{}"})
	delete(s.Config, "recordId")
	out := run(t, s)
	require.Contains(t, out.Thrown, "Set up the input variable recordId")
	require.Empty(t, out.Requests)
	require.Empty(t, out.Updates)
}

func TestTheTableMayBeAnother(t *testing.T) {
	t.Parallel()
	s := pressed(problem(409, "conflict", "no", ""))
	s.Table = `Dead "Letters" </script> \ ` + "\u2028"
	s.Script = button.Script("", s.Table)
	require.Equal(t, "Replay was refused: no", note(t, run(t, s)))

	s = pressed(problem(409, "conflict", "no", ""))
	s.Table = "Renamed"
	out := run(t, s)
	require.Contains(t, out.Thrown, "No table matches 'Dead Letter Queue'", "the automation's own history says so")

	s = pressed(problem(409, "conflict", "no", ""))
	s.Fields = []string{"Replay Requested"}
	out = run(t, s)
	require.Empty(t, out.Thrown)
	require.Equal(t, []update{{record, map[string]any{"Replay Requested": false}}}, out.Updates, "unticked all the same")
}

func TestInputsAsAirtableGivesThem(t *testing.T) {
	t.Parallel()
	s := pressed(answer{Status: 202, Body: "not JSON"})
	s.Config = map[string]any{
		"recordId": "rec/../x?y=1#é", "requestedBy": []any{map[string]any{"id": "usr1", "name": "Ann"}, "Bob"}, "serviceUrl": " https://replay.example/base// ",
	}
	out := run(t, s)
	require.Empty(t, out.Thrown)
	require.Equal(t, "https://replay.example/base/v1/entries/rec%2F..%2Fx%3Fy%3D1%23%C3%A9/replay", out.Requests[0].URL)
	require.JSONEq(t, `{"requested_by":"Ann, Bob"}`, out.Requests[0].Body)
	require.Regexp(t, `^[!-~]{1,255}$`, out.Requests[0].Headers["Idempotency-Key"])
	require.Equal(t, map[string]any{"accepted": true, "runId": ""}, out.Outputs)

	s = pressed(answer{Status: 202, Body: "{}"})
	delete(s.Config, "requestedBy")
	require.JSONEq(t, `{}`, run(t, s).Requests[0].Body)
	s.Config["requestedBy"] = strings.Repeat("x", 300)
	require.JSONEq(t, `{"requested_by":"`+strings.Repeat("x", 200)+`"}`, run(t, s).Requests[0].Body)
}

func TestTheServiceIsFilledIn(t *testing.T) {
	t.Parallel()
	s := pressed(answer{Status: 202, Body: "{}"})
	s.Script = button.Script(`https://replay.example/"+x+"`, "")
	delete(s.Config, "serviceUrl")
	require.Equal(t, `https://replay.example/"+x+"/v1/entries/`+record+`/replay`, run(t, s).Requests[0].URL)
	require.NotContains(t, button.Script("https://a</script>", "</script>"), "</script>")
	require.Equal(t, button.Script("", ""), button.Script("", table))
}

func TestTheScriptUsesOnlyWhatAirtableHas(t *testing.T) {
	t.Parallel()
	code := regexp.MustCompile(`(?m)^\s*//.*$`).ReplaceAllString(button.Script("", ""), "")
	for _, never := range []string{"setTimeout", "remoteFetchAsync", "console.", "require(", "import ", "AbortSignal"} {
		require.NotContains(t, code, never)
	}
	for _, once := range []string{"fetch(", "updateRecordAsync("} {
		require.Equal(t, 1, strings.Count(code, once), once)
	}
}
