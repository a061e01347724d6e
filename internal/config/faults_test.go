package config_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/config"
)

var update = flag.Bool("update", false, "write what the fault listings are now")

// noFiles has no file to refer to.
func noFiles(path string) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

// TestFaults holds the listing of every file under testdata/faults against the .txt beside it.
func TestFaults(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "faults", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			loaded, err := config.Load(data, env, config.WithFiles(noFiles))
			require.Nil(t, loaded)
			problems, ok := errors.AsType[*config.Problems](err)
			require.True(t, ok, "got %v", err)
			got := err.Error() + "\n"
			for _, secret := range []string{"patSecret", "whsec", "patLiteral", "hunter2"} {
				require.NotContains(t, got, secret)
			}
			require.Equal(t, len(problems.List), strings.Count(got, "\n")-1, "one line for each")
			golden := strings.TrimSuffix(file, ".yaml") + ".txt"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}
