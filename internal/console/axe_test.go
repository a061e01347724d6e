package console_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// axeFolder names the version of axe-core; the emulator's page is tested with the same.
const axeFolder = "../sandbox/testdata/axe"

// axe is the source of axe-core. It is installed once and kept under the hash of its lock file.
func axe(t *testing.T) string {
	t.Helper()
	lock, err := os.ReadFile(filepath.Join(axeFolder, "package-lock.json"))
	require.NoError(t, err)
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "airtable-replay", "npm")
	sum := sha256.Sum256(lock)
	home := filepath.Join(cache, hex.EncodeToString(sum[:8]))
	script := filepath.Join(home, "node_modules", "axe-core", "axe.min.js")
	if _, err := os.Stat(script); err != nil {
		installAxe(t, cache, home)
	}
	source, err := os.ReadFile(script)
	require.NoError(t, err)
	return string(source)
}

func installAxe(t *testing.T, cache, home string) {
	t.Helper()
	_, err := exec.LookPath("npm")
	require.NoError(t, err, "Node.js and npm are needed; this command installs them: scripts/need.sh node")
	require.NoError(t, os.MkdirAll(cache, 0o755))
	fresh, err := os.MkdirTemp(cache, "fresh-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(fresh)) })
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := os.ReadFile(filepath.Join(axeFolder, name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(fresh, name), data, 0o600))
	}
	npm := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = fresh
	out, err := npm.CombinedOutput()
	require.NoError(t, err, "npm ci: %s", out)
	if err := os.Rename(fresh, home); err != nil {
		require.DirExists(t, filepath.Join(home, "node_modules"), "another test run was quicker, or %s", err)
	}
}
