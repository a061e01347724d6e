package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDemoOncePlaysItsStory(t *testing.T) {
	t.Parallel()
	// A database that must not be touched: there is none at this address.
	c := run(t, []string{"DATABASE_URL=postgres://a:b@127.0.0.1:1/c"}, "demo", "--once")
	require.Equal(t, 0, c.code(), "%s", c.stderr)
	require.Empty(t, c.stderr.String())
	for line := range strings.Lines(c.stdout.String()) {
		require.LessOrEqual(t, len(line), 100+1, line)
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	require.Contains(t, string(readme), "```text\n"+c.stdout.String()+"```\n", "the README shows what demo --once prints")
}

func TestDemoWaitsForPressesUntilInterrupted(t *testing.T) {
	t.Parallel()
	c := start(t, nil, "demo", "--listen", "127.0.0.1:0", "--sandbox-listen", "127.0.0.1:0")
	var said string
	require.NoError(t, c.stdout.await(func(text string) bool { said = text; return strings.Contains(text, "/Orders\"\n") }), "%s", c.stderr)
	first := func(pattern string) string {
		m := regexp.MustCompile(pattern).FindStringSubmatch(said)
		require.NotNil(t, m, said)
		return m[1]
	}
	url, token, entry := first(`service +(\S+)`), first(`token +(\S+)`), first(`O-2 +(\S+)`)
	status, answer := call(t, "GET", url+"/v1/entries/"+entry+"/preview", token, nil)
	require.Equal(t, http.StatusOK, status, answer)
	require.Contains(t, answer, `"outcome":"needs_review"`)
	status, answer = call(t, "GET", first(`Airtable +(\S+)`)+"/_sandbox/appOrdersSandbox01/Orders", "", nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, answer, `"Delivery Date":"2026-10-09"`)
	c.stop(t, syscall.SIGINT)
}
