package main_test

import (
	"os"
	"path/filepath"
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

func TestDemoTakesPressesUntilInterrupted(t *testing.T) {
	t.Parallel()
	c := start(t, nil, "demo", "--listen", "127.0.0.1:0", "--sandbox-listen", "127.0.0.1:0")
	var said string
	require.NoError(t, c.stdout.await(func(text string) bool { said = text; return strings.Contains(text, "/Orders\"\n") }), "%s", c.stderr)
	require.Contains(t, said, "Dead letters wait for a press:\n\n  O-1  ")
	_, lines, found := strings.Cut(said, "Try, in another terminal:\n")
	require.True(t, found)
	answers := shell(t, nil, lines)
	for _, want := range []string{"A replay would end as replayed", "A replay would end as needs review", `"status":"resolved"`, `"outcome":"replayed"`, `"requested_by":"you"`, `"Delivery Date":"2026-10-09"`} {
		require.Contains(t, answers, want)
	}
	c.stop(t, syscall.SIGINT)
}
