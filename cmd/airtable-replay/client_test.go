package main_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

func TestUnreachableServiceIsOneSentence(t *testing.T) {
	t.Parallel()
	env := []string{"AIRTABLE_REPLAY_URL=" + nowhere, "AIRTABLE_REPLAY_TOKEN=hidden"}
	for _, words := range [][]string{{"entries", "list"}, {"bases", "list"}, {"runs", "show", "x"}, {"entries", "file", "--source", "a", "--reason", "b", "--first-attempt", "c", "--payload", "/dev/null"}} {
		run(t, env, words...).refused(t, 1, "airtable-replay: the service at http://127.0.0.1:1 does not answer: dial tcp 127.0.0.1:1: connect: connection refused: "+
			"check AIRTABLE_REPLAY_URL, and that airtable-replay serve runs there\n")
	}
}

func TestOtherServersAreToldApart(t *testing.T) {
	t.Parallel()
	for status, body := range map[int]string{200: "<html>", 404: "<html>", 502: `{"error": "bad gateway"}`} {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body)) //nolint:gosec // a page of the test's own
		}))
		t.Cleanup(other.Close)
		c := run(t, []string{"AIRTABLE_REPLAY_URL=" + other.URL + "/", "AIRTABLE_REPLAY_TOKEN=hidden"}, "bases", "list")
		require.Equal(t, 1, c.code())
		require.Regexp(t, `^airtable-replay: what answers there \(\d+ [\w ]+\) is not airtable-replay: check AIRTABLE_REPLAY_URL\n$`, c.stderr.String())
	}
}

func TestProblemsAreSaidInPlainWords(t *testing.T) {
	t.Parallel()
	s := newSession(t, apptest.Options{NoStart: true})
	s.names["one"] = s.world.File(t, shipped("O-1"), nil)
	s.say("entries", "show", "nothing")
	s.say("entries", "list", "--from", "yesterday", "--reason", "bad")
	s.say("runs", "start", "--id", "nothing", "--yes")
	s.say("runs", "start", "--source", "unknown-system", "--yes")
	reader := run(t, []string{"DATABASE_URL=" + s.world.DB.URL}, "token", "create", "reader", "--scope", "read")
	s.env[1] = "AIRTABLE_REPLAY_TOKEN=" + strings.TrimSpace(reader.stdout.String())
	s.say("entries", "replay", "{one}")
	s.env[1] = "AIRTABLE_REPLAY_TOKEN=unknown"
	s.say("entries", "list")
	s.golden("problems")
}

func TestCompletionOffersCommandsFlagsAndValues(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"en":                             "entries",
		"entries st":                     "stuck",
		"entries stuck ":                 "list reset",
		"entries list --status ":         "pending_review replaying resolved ignored",
		"entries list --status=re":       "--status=replaying --status=resolved",
		"entries list --status ignored ": "",
		"runs start --mode u":            "unchanged_fields",
		"runs start --dry":               "--dry-run",
		"completion ":                    "bash zsh fish",
		"_":                              "",
		"nonsense --nothing ":            "demo serve migrate token sandbox doctor setup entries runs bases version completion",
	} {
		c := run(t, nil, append([]string{"__complete", "--"}, strings.Split(words, " ")...)...)
		require.Equal(t, 0, c.code(), "%s", c.stderr)
		require.Equal(t, want, strings.Join(strings.Fields(c.stdout.String()), " "), words)
	}
}

func TestCompletionWorksInBash(t *testing.T) {
	t.Parallel()
	said := shell(t, nil, `set +eu
source <(airtable-replay completion bash)
COMP_WORDS=(airtable-replay entries list --sta); COMP_CWORD=3
_airtable_replay
echo "${COMPREPLY[@]}"
COMP_WORDS=(airtable-replay runs start --outcome ""); COMP_CWORD=4
_airtable_replay
echo "${COMPREPLY[@]}"`)
	require.Equal(t, "--status\nreplayed partially_replayed superseded needs_review replay_failed\n", said)
	for _, shell := range []string{"zsh", "fish"} {
		c := run(t, nil, "completion", shell)
		require.Contains(t, c.stdout.String(), "airtable-replay __complete -- ")
	}
	require.Equal(t, 2, run(t, nil, "completion", "tcsh").code())
}
