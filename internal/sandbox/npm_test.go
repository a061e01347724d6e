package sandbox_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// nodeModules installs what the folder's package-lock.json names, and gives the
// node_modules folder. It is kept from run to run, under the hash of the lock.
func nodeModules(t *testing.T, dir string) string {
	t.Helper()
	_, err := exec.LookPath("npm")
	require.NoError(t, err, "Node.js and npm are needed; this command installs them: scripts/need.sh node")
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	require.NoError(t, err)
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "airtable-replay", "npm")
	sum := sha256.Sum256(lock)
	home := filepath.Join(cache, hex.EncodeToString(sum[:8]))
	installed := filepath.Join(home, "node_modules")
	if _, err := os.Stat(installed); err == nil {
		return installed
	}
	require.NoError(t, os.MkdirAll(cache, 0o755))
	fresh, err := os.MkdirTemp(cache, "fresh-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(fresh)) })
	copyFiles(t, fresh, filepath.Join(dir, "package.json"), filepath.Join(dir, "package-lock.json"))
	npm := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = fresh
	out, err := npm.CombinedOutput()
	require.NoError(t, err, "npm ci: %s", out)
	if err := os.Rename(fresh, home); err != nil {
		require.DirExists(t, installed, "another test run was quicker, or %s", err)
	}
	return installed
}

func copyFiles(t *testing.T, to string, paths ...string) {
	t.Helper()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, filepath.Base(path)), data, 0o600))
	}
}
