package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"airtable-replay/internal/store/storetest"

	"github.com/stretchr/testify/require"
)

// block is a fenced block of the README: what stands behind its fence, and its text.
type block struct{ kind, text string }

func readme(t *testing.T) []block {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	var blocks []block
	for _, m := range regexp.MustCompile("(?ms)^```(.*?)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, block{m[1], m[2]})
	}
	return blocks
}

// Every command of the README is run here: it is either a make target, the start of the service, or part
// of one session with it, in the order of the page.
func TestReadmeCommandsWork(t *testing.T) {
	t.Parallel()
	var service *command
	var session strings.Builder
	url := demoSandbox(t)
	db := storetest.NewDB(t)
	var config string
	for _, b := range readme(t) {
		switch b.kind {
		case "sh make":
			requireTargets(t, b.text)
		case "yaml":
			config = write(t, "replay.yaml", strings.NewReplacer("appXXXXXXXXXXXXXX", "appOrdersSandbox01", "https://api.airtable.com", url).Replace(b.text))
		case "sh serve":
			service = serveAsWritten(t, b.text, config, db.URL)
		case "sh doctor":
			env := []string{"DATABASE_URL=" + db.URL, "AIRTABLE_TOKEN=" + airtableSecret}
			said := shell(t, env, strings.ReplaceAll(b.text, "replay.yaml", config))
			require.Contains(t, said, "There is nothing to add.\n")
			require.Regexp(t, `(?m)^ok       dead letters Dead Letter Queue: has all 22 fields$`, said)
		case "sh run":
			session.WriteString(b.text)
		case "text": // TestDemoOncePlaysItsStory
		default:
			require.Fail(t, "unknown kind of block", b.kind)
		}
	}
	require.NotNil(t, service)
	script := strings.ReplaceAll(session.String(), "http://127.0.0.1:8080", service.urls(t, 1)[0])
	said := shell(t, []string{"DATABASE_URL=" + db.URL}, script)
	for _, want := range []string{`"valid":true`, `"outcome":"replayed"`, `"status":"replaying"`, `"kind":"run"`, "NAME ", "A run would claim 1 entry", "replayed  1\n", "A restore would write values back", "orders  halted ", "orders  running "} {
		require.Contains(t, said, want)
	}
	service.stop(t, syscall.SIGTERM)
}

// requireTargets holds commands to targets that the Makefile has.
func requireTargets(t *testing.T, text string) {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	require.NoError(t, err)
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		require.Equal(t, "make", words[0])
		require.Contains(t, string(makefile), "\n"+words[1]+":")
	}
}

// demoSandbox serves the demo's seed in a process of its own.
func demoSandbox(t *testing.T) string {
	t.Helper()
	seed, err := filepath.Abs("demo/seed.yaml")
	require.NoError(t, err)
	c := start(t, []string{"SERVICE_URL=" + nowhere, "BUTTON_TOKEN=none"}, "sandbox", "--seed", seed, "--listen", "127.0.0.1:0", "--rate", "0")
	url := c.urls(t, 1)[0]
	status, _ := call(t, http.MethodGet, url, "", nil)
	require.Equal(t, http.StatusOK, status)
	return url
}

// serveAsWritten starts the service as the lines say: exports, then the command.
func serveAsWritten(t *testing.T, text, config, database string) *command {
	t.Helper()
	require.NotEmpty(t, config)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	env := []string{"AIRTABLE_REPLAY_LISTEN=127.0.0.1:0"}
	given := map[string]string{"DATABASE_URL": database, "AIRTABLE_TOKEN": airtableSecret}
	for _, line := range lines[:len(lines)-1] {
		name, _, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		require.True(t, ok, line)
		require.Contains(t, given, name)
		env = append(env, name+"="+given[name])
	}
	words := strings.Fields(strings.ReplaceAll(lines[len(lines)-1], "replay.yaml", config))
	require.Equal(t, "airtable-replay", words[0])
	return start(t, env, words[1:]...)
}
