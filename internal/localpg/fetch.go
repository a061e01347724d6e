package localpg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// The release that is downloaded when none is installed.
const (
	embeddedVersion = embeddedpostgres.V18
	embeddedMajor   = 18
)

// cacheDir is where downloaded programs are kept. Root's own cache folder is
// closed to the account that runs the server, so root uses the system's.
func cacheDir(account account) (string, error) {
	if account.credential != nil {
		return "/var/cache/airtable-replay", nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cache folder: %w", err)
	}
	return filepath.Join(dir, "airtable-replay"), nil
}

// fetch returns the downloaded installation, downloading it first if it is not
// in the cache.
func (s search) fetch(ctx context.Context) (binaries, error) {
	if s.cache == "" {
		var err error
		if s.cache, err = cacheDir(s.account); err != nil {
			return binaries{}, err
		}
	}
	home := filepath.Join(s.cache, "postgresql-"+string(embeddedVersion))
	if !exists(home) {
		if err := s.download(ctx, home); err != nil {
			return binaries{}, fmt.Errorf("PostgreSQL is not installed and cannot be downloaded (%w): install the package postgresql, or set DATABASE_URL to a running server", err)
		}
	}
	b, err := s.inspect(ctx, filepath.Join(home, "bin"))
	if err != nil {
		return b, fmt.Errorf("the downloaded PostgreSQL does not run here (%w): remove %s and install the package postgresql, or set DATABASE_URL to a running server", err, home)
	}
	return b, nil
}

// download puts the programs at home in one step, so that a download that is
// cut short, or runs twice at once, never leaves half of them there.
func (s search) download(ctx context.Context, home string) error {
	if err := os.MkdirAll(s.cache, 0o755); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(s.cache, "download-")
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		err := s.extract(ctx, scratch, home)
		done <- errors.Join(err, os.RemoveAll(scratch))
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done(): // the library takes no context; its request ends on its own
		return ctx.Err()
	}
}

func (s search) extract(ctx context.Context, scratch, home string) error {
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	programs := filepath.Join(scratch, "programs")
	blocker := filepath.Join(scratch, "blocker")
	if err := os.WriteFile(blocker, nil, 0o600); err != nil {
		return err
	}
	config := embeddedpostgres.DefaultConfig().
		Version(embeddedVersion).
		Port(uint32(port)).
		CachePath(scratch).
		RuntimePath(filepath.Join(scratch, "run")).
		BinariesPath(programs).
		DataPath(filepath.Join(blocker, "data")).
		Logger(io.Discard)
	if s.repository != "" {
		config = config.BinaryRepositoryURL(s.repository)
	}
	// The library cannot fetch without starting a server, which it does as the
	// present user and detached. A data folder below a file makes it end after
	// the fetch, so its error counts only if the programs are missing.
	startErr := embeddedpostgres.NewDatabase(config).Start()
	if _, err := os.Stat(filepath.Join(programs, "bin", "postgres")); err != nil {
		return startErr
	}
	if err := os.Rename(programs, home); err != nil && !exists(home) {
		return err
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
