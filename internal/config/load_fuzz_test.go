package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/config"
)

// FuzzLoad: whatever the bytes, a file is either loaded whole or refused with named problems, and
// never with a secret in them.
func FuzzLoad(f *testing.F) {
	seeds, err := filepath.Glob(filepath.Join("testdata", "faults", "*.yaml"))
	require.NoError(f, err)
	for _, seed := range append(seeds, filepath.Join("testdata", "contract.yaml")) {
		data, err := os.ReadFile(seed)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := config.Load(data, env, config.WithFiles(noFiles))
		if err == nil {
			require.NotEmpty(t, file.Bases)
			require.NotEmpty(t, file.Targets)
			for name := range file.Targets {
				require.GreaterOrEqual(t, file.Rank(name), 0)
			}
			return
		}
		problems, ok := errors.AsType[*config.Problems](err)
		require.True(t, ok)
		require.NotEmpty(t, problems.List)
		require.NotContains(t, err.Error(), "SecretOne")
		for _, p := range problems.List {
			require.NotEmpty(t, p.Detail)
		}
	})
}
