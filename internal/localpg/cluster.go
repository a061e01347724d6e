package localpg

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// passwordFile, inside the data folder, keeps the superuser's password, so that
// a kept folder can be opened again.
const passwordFile = "airtable-replay.password"

// cluster is an initialised data folder, ready to be served.
type cluster struct {
	binaries binaries
	account  account
	dir      string
	discard  string // the temporary folder that dir is in, if it is in one
	password string
	fast     bool
}

// madeBy returns the major release that made the cluster in dir, 0 if there is
// none yet.
func madeBy(dir string) (int, error) {
	content, err := os.ReadFile(filepath.Join(dir, "PG_VERSION"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, fmt.Errorf("data folder: %w", err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0, fmt.Errorf("data folder version: %w", err)
	}
	return major, nil
}

// openCluster returns the cluster in dir, making it first if dir is missing or
// empty.
func openCluster(ctx context.Context, b binaries, account account, dir string, fast bool) (cluster, error) {
	c := cluster{binaries: b, account: account, dir: dir, fast: fast}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return c, fmt.Errorf("data folder: %w", err)
	}
	if closed := account.barrier(dir); closed != "" {
		return c, fmt.Errorf("data folder %s: user %s, who runs PostgreSQL for root, may not enter %s: choose another folder", dir, account.name, closed)
	}
	if !exists(filepath.Join(dir, "PG_VERSION")) {
		if err := c.create(ctx); err != nil {
			return c, err
		}
	}
	password, err := os.ReadFile(filepath.Join(dir, passwordFile))
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("data folder %s holds a database that was not made here: choose another folder", dir)
	}
	if err != nil {
		return c, fmt.Errorf("data folder password: %w", err)
	}
	c.password = string(password)
	return c, nil
}

// create initialises the cluster in a folder beside dir and then renames it, so
// that a start that is cut short never leaves half a cluster in dir.
func (c cluster) create(ctx context.Context) error {
	scratch, err := os.MkdirTemp(filepath.Dir(c.dir), filepath.Base(c.dir)+".new-")
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // gone already when all went well
	password := filepath.Join(scratch, passwordFile)
	if err := os.WriteFile(password, []byte(rand.Text()), 0o600); err != nil {
		return fmt.Errorf("data folder password: %w", err)
	}
	if err := errors.Join(c.account.own(scratch), c.account.own(password)); err != nil {
		return err
	}
	data := filepath.Join(scratch, "data")
	if err := c.initdb(ctx, data, password); err != nil {
		return err
	}
	if err := os.Rename(password, filepath.Join(data, passwordFile)); err != nil {
		return fmt.Errorf("data folder password: %w", err)
	}
	switch err := os.Rename(data, c.dir); {
	case errors.Is(err, syscall.ENOTEMPTY), errors.Is(err, fs.ErrExist):
		return fmt.Errorf("data folder %s holds files but no database: choose another folder", c.dir)
	case err != nil:
		return fmt.Errorf("data folder: %w", err)
	}
	return nil
}

func (c cluster) initdb(ctx context.Context, data, password string) error {
	auth := "scram-sha-256"
	if c.fast {
		auth = "password" // tests open thousands of connections; the password never leaves this machine
	}
	args := []string{
		"--pgdata", data, "--username", user, "--pwfile", password,
		"--auth", auth, "--encoding", "UTF8",
		"--locale", "C", "--lc-ctype", utf8Type(), "--no-instructions",
	}
	if c.fast {
		args = append(args, "--no-sync")
	}
	cmd := c.account.command(ctx, c.binaries.program("initdb"), args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, lastLine(out))
	}
	return nil
}

// utf8Type names the character type that knows upper and lower case in UTF-8.
func utf8Type() string {
	if runtime.GOOS == "darwin" {
		return "UTF-8"
	}
	return "C.UTF-8"
}

// settings are the server's parameters. Nothing of a failing statement is
// logged: rows hold payloads.
func (c cluster) settings(port int) []string {
	settings := []string{
		"listen_addresses=127.0.0.1",
		"port=" + strconv.Itoa(port),
		"unix_socket_directories=",
		"max_connections=400",
		"timezone=UTC",
		"log_timezone=UTC",
		"log_min_messages=fatal",
		"log_min_error_statement=panic",
		"log_error_verbosity=terse",
		"logging_collector=off",
		"log_destination=stderr",
	}
	if c.fast {
		settings = append(settings, "fsync=off", "synchronous_commit=off", "full_page_writes=off", "jit=off")
	}
	return settings
}

func lastLine(text []byte) string {
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.TrimSpace(lines[len(lines)-1]))
}
