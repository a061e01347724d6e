package localpg_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"airtable-replay/internal/localpg"

	"github.com/stretchr/testify/require"
)

// pretend writes a folder of programs that claim to be the given release.
func pretend(t *testing.T, dir, version string, programs ...string) string {
	t.Helper()
	for _, program := range programs {
		script := "#!/bin/sh\necho '" + program + " (PostgreSQL) " + version + "'\n"
		writeFile(t, filepath.Join(dir, program), script, 0o755)
	}
	return dir
}

func TestFindPrefersWhatIsInstalled(t *testing.T) {
	t.Parallel()
	root := openDir(t)
	old := pretend(t, filepath.Join(root, "old"), "9.6.24", "initdb", "postgres")
	half := pretend(t, filepath.Join(root, "half"), "17.1", "postgres")
	good := pretend(t, filepath.Join(root, "good"), "15.8 (Debian 15.8-1)", "initdb", "postgres")
	newer := pretend(t, filepath.Join(root, "newer"), "16.4", "initdb", "postgres")
	linked := filepath.Join(root, "linked")
	require.NoError(t, os.Mkdir(linked, 0o755))
	require.NoError(t, os.Symlink(filepath.Join(good, "postgres"), filepath.Join(linked, "postgres")))
	path := strings.Join([]string{old, half, linked, newer}, string(os.PathListSeparator))

	for name, c := range map[string]struct {
		made         int
		dir, version string
	}{
		"the first usable one, links followed": {0, good, "15.8"},
		"the one that made the data":           {16, newer, "16.4"},
	} {
		dir, version, err := localpg.Search{Path: path}.Find(t.Context(), c.made)
		require.NoError(t, err, name)
		require.Equal(t, c.dir, dir, name)
		require.Equal(t, c.version, version, name)
	}
}

func TestFindDownloadsOnceWhenNothingIsInstalled(t *testing.T) {
	t.Parallel()
	archive, err := os.ReadFile(filepath.Join("testdata", "programs.txz"))
	require.NoError(t, err)
	jar := zipped(t, "programs.txz", archive)
	var downloads atomic.Int32
	repository := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			sum := sha256.Sum256(jar)
			_, _ = w.Write([]byte(hex.EncodeToString(sum[:])))
			return
		}
		downloads.Add(1)
		_, _ = w.Write(jar)
	})
	search := localpg.Search{Cache: filepath.Join(openDir(t), "cache"), Repository: repository}
	for range 2 {
		dir, version, err := search.Find(t.Context(), 0)
		require.NoError(t, err)
		require.Equal(t, filepath.Join(search.Cache, "postgresql-"+localpg.EmbeddedVersion, "bin"), dir)
		require.Equal(t, "18.3", version)
	}
	require.EqualValues(t, 1, downloads.Load())
	left, err := os.ReadDir(search.Cache)
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing but the programs stays")
}

func TestFindSaysWhatToInstall(t *testing.T) {
	t.Parallel()
	missing := serve(t, http.NotFound)
	garbage := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("no archive")) })
	for name, repository := range map[string]string{
		"not there": missing, "garbage": garbage, "nobody listens": "http://127.0.0.1:1",
	} {
		cache := openDir(t)
		_, _, err := localpg.Search{Cache: cache, Repository: repository}.Find(t.Context(), 0)
		require.ErrorContains(t, err, "PostgreSQL is not installed and cannot be downloaded", name)
		require.ErrorContains(t, err, "install the package postgresql, or set DATABASE_URL", name)
		require.NotContains(t, err.Error(), "\n", "one sentence")
		left, err := os.ReadDir(cache)
		require.NoError(t, err)
		require.Empty(t, left, name)
	}
}

func TestFindSaysWhenDownloadDoesNotRun(t *testing.T) {
	t.Parallel()
	cache := openDir(t)
	home := filepath.Join(cache, "postgresql-"+localpg.EmbeddedVersion)
	writeFile(t, filepath.Join(home, "bin", "postgres"), "\x7fELF of another machine", 0o755)
	_, _, err := localpg.Search{Cache: cache}.Find(t.Context(), 0)
	require.ErrorContains(t, err, "does not run here")
	require.ErrorContains(t, err, "remove "+home)
}

func TestBarrierNamesTheClosedFolder(t *testing.T) {
	t.Parallel()
	root := openDir(t)
	closed := filepath.Join(root, "closed")
	require.NoError(t, os.Mkdir(closed, 0o700))
	uid, gid, other := os.Geteuid(), os.Getegid(), 54321
	below := filepath.Join(closed, "a", "b")

	require.Equal(t, closed, localpg.Barrier(below, other, other))
	require.Empty(t, localpg.Barrier(below, uid, gid), "its owner may enter")
	require.NoError(t, os.Chmod(closed, 0o710))
	require.Empty(t, localpg.Barrier(below, other, gid), "its group may enter")
	require.Equal(t, closed, localpg.Barrier(below, other, other))
	require.NoError(t, os.Chmod(closed, 0o711))
	require.Empty(t, localpg.Barrier(below, other, other))
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections) // the library uses it
	return server.URL
}

func zipped(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	var buffer bytes.Buffer
	archive := zip.NewWriter(&buffer)
	file, err := archive.Create(name)
	require.NoError(t, err)
	_, err = file.Write(content)
	require.NoError(t, err)
	require.NoError(t, archive.Close())
	return buffer.Bytes()
}
