package main_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"airtable-replay/internal/store/storetest"

	"github.com/stretchr/testify/require"
)

// Behind a pooler in transaction mode the queue would never hear of a job, so the service says so and
// does not start (case B114). In session mode it works.
func TestServeRefusesTransactionPooler(t *testing.T) {
	t.Parallel()
	db := storetest.NewDB(t)
	config := serviceConfig(t, nowhere)
	run(t, serveEnv(pooler(t, db.URL, "transaction"), config), "serve").refused(t, 1,
		"airtable-replay: the database connection does not keep a session (a pooler in transaction mode, such as PgBouncer?): "+
			"jobs would never be picked up; point DATABASE_URL at PostgreSQL itself or at a pool in session mode\n")
	c := start(t, serveEnv(pooler(t, db.URL, "session"), config), "serve")
	c.urls(t, 1)
	c.stop(t, syscall.SIGTERM)
}

// pooler runs PgBouncer before a database and gives the URL that leads through it.
func pooler(t *testing.T, database, mode string) string {
	t.Helper()
	program := pgbouncer(t)
	u, err := url.Parse(database)
	require.NoError(t, err)
	password, _ := u.User.Password()
	name := strings.TrimPrefix(u.Path, "/")
	dir, args := socketFolder(t)
	settings := filepath.Join(dir, "pgbouncer.ini")
	require.NoError(t, os.WriteFile(settings, fmt.Appendf(nil, `[databases]
%s = host=%s port=%s user=%s password=%s
[pgbouncer]
pool_mode = %s
auth_type = any
listen_port = 6432
unix_socket_dir = %s
`, name, u.Hostname(), u.Port(), u.User.Username(), password, mode, dir), 0o644))
	said := newWatched()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, append(args, settings)...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = said, said, "/"
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // what it said tells
		said.end()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it ends at once, whoever is connected
		<-ended
	})
	require.NoError(t, said.await(func(text string) bool { return strings.Contains(text, "process up") }), "%s", said)
	return fmt.Sprintf("postgres://anybody@/%s?host=%s&port=6432", name, url.QueryEscape(dir))
}

func pgbouncer(t *testing.T) string {
	t.Helper()
	need(t, "pgbouncer")
	if found, err := exec.LookPath("pgbouncer"); err == nil {
		return found
	}
	return "/usr/sbin/pgbouncer" // off the PATH of ordinary users
}

// socketFolder makes a folder with a name short enough for a socket. PgBouncer refuses to run as root, so
// for root the folder belongs to another user, and the arguments name that user.
func socketFolder(t *testing.T) (string, []string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "pooler-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	if os.Geteuid() != 0 {
		return dir, nil
	}
	nobody, err := user.Lookup("nobody")
	require.NoError(t, err)
	uid, err := strconv.Atoi(nobody.Uid)
	require.NoError(t, err)
	require.NoError(t, os.Chown(dir, uid, -1))
	return dir, []string{"-u", "nobody"}
}
