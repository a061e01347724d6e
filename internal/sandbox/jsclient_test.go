package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOfficialClient lets a client judge the sandbox that nobody here wrote:
// npm's airtable, as it is published. Its results are node's own.
func TestOfficialClient(t *testing.T) {
	t.Parallel()
	modules := nodeModules(t, "jsclient")
	w := newWorld(t, noLimits())
	dir := t.TempDir()
	copyFiles(t, dir, "jsclient/package.json", "jsclient/checks.mjs")
	require.NoError(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
	node := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=tap", "checks.mjs")
	node.Dir = dir
	node.Env = append(os.Environ(), "SANDBOX_URL="+w.url)
	out, err := node.CombinedOutput()
	t.Logf("%s", out)
	require.NoError(t, err)
	require.GreaterOrEqual(t, tapCount(t, out, "pass"), 40)
	for _, other := range []string{"fail", "cancelled", "skipped", "todo"} {
		require.Zero(t, tapCount(t, out, other), other)
	}
}

// tapCount reads one of the counts that node ends its report with.
func tapCount(t *testing.T, report []byte, name string) int {
	t.Helper()
	found := regexp.MustCompile(`(?m)^# ` + name + ` (\d+)$`).FindSubmatch(report)
	require.NotNil(t, found, "node reports no count of %s", name)
	n, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return n
}
