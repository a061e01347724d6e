package localpg_test

import (
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"airtable-replay/internal/localpg"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestServerAnswersOnLoopbackUntilStopped(t *testing.T) {
	t.Parallel()
	s := start(t, localpg.Config{Fast: true})

	settings := map[string]string{
		"listen_addresses": "127.0.0.1", "unix_socket_directories": "",
		"max_connections": "400", "fsync": "off", "TimeZone": "UTC", "server_encoding": "UTF8",
	}
	conn := connect(t, s.URL())
	for name, want := range settings {
		var got string
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&got))
		require.Equal(t, want, got, name)
	}
	var upper string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT upper('äß€')").Scan(&upper))
	require.Equal(t, "Äß€", upper, "letters beyond ASCII have cases")

	require.NoError(t, s.Stop(), "with a connection open")
	require.NoError(t, s.Stop(), "again")
	require.NoDirExists(t, s.TempDir())
	requireNothingListens(t, s.URL())
	require.ErrorIs(t, syscall.Kill(s.PID(), 0), syscall.ESRCH)
}

func TestOnlyTheRightPasswordOpensTheServer(t *testing.T) {
	t.Parallel()
	s := start(t, localpg.Config{Fast: true})
	address, err := url.Parse(s.URL())
	require.NoError(t, err)
	address.User = url.UserPassword("postgres", "guess")
	_, err = pgx.Connect(t.Context(), address.String())
	require.ErrorContains(t, err, "password authentication failed")
}

func TestServersStartSideBySide(t *testing.T) {
	t.Parallel()
	const servers = 3
	started := make(chan *localpg.Server, servers)
	failed := make(chan error, servers)
	for range servers {
		go func() {
			s, err := localpg.Start(t.Context(), localpg.Config{Fast: true})
			failed <- err
			started <- s
		}()
	}
	urls := map[string]bool{}
	for range servers {
		require.NoError(t, <-failed)
		s := <-started
		t.Cleanup(func() { require.NoError(t, s.Stop()) })
		connect(t, s.URL())
		urls[s.URL()] = true
	}
	require.Len(t, urls, servers)
}

func TestDataSurvivesRestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(openDir(t), "not", "yet", "made")

	first := start(t, localpg.Config{Dir: dir})
	_, err := connect(t, first.URL()).Exec(t.Context(), "CREATE TABLE kept AS SELECT 'as it was' AS value")
	require.NoError(t, err)
	require.NoError(t, first.Stop())
	require.DirExists(t, dir)

	second := start(t, localpg.Config{Dir: dir})
	var value, fsync string
	row := connect(t, second.URL()).QueryRow(t.Context(), "SELECT value, current_setting('fsync') FROM kept")
	require.NoError(t, row.Scan(&value, &fsync))
	require.Equal(t, "as it was", value)
	require.Equal(t, "on", fsync, "a kept folder is written durably")
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	inUse := filepath.Join(dir, "in-use")
	start(t, localpg.Config{Dir: inUse, Fast: true})
	notEmpty := filepath.Join(dir, "not-empty")
	require.NoError(t, os.MkdirAll(filepath.Join(notEmpty, "letters"), 0o755))
	foreign := filepath.Join(dir, "foreign")
	release, err := os.ReadFile(filepath.Join(inUse, "PG_VERSION"))
	require.NoError(t, err)
	writeFile(t, filepath.Join(foreign, "PG_VERSION"), string(release), 0o644)
	ancient := filepath.Join(dir, "ancient")
	writeFile(t, filepath.Join(ancient, "PG_VERSION"), "9\n", 0o644)
	odd := filepath.Join(dir, "odd")
	writeFile(t, filepath.Join(odd, "PG_VERSION"), "nine\n", 0o644)

	for name, want := range map[string]string{
		inUse:    "is in use by another server",
		notEmpty: "holds files but no database: choose another folder",
		foreign:  "holds a database that was not made here: choose another folder",
		ancient:  "made by PostgreSQL 9, which is not installed",
		odd:      "data folder version",
	} {
		_, err := localpg.Start(t.Context(), localpg.Config{Dir: name, Fast: true})
		require.ErrorContains(t, err, want)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 5, "a refused start leaves nothing beside the folder")
}

func TestClosedParentIsNamedToRoot(t *testing.T) {
	t.Parallel()
	closed := filepath.Join(openDir(t), "closed")
	require.NoError(t, os.Mkdir(closed, 0o700))
	s, err := localpg.Start(t.Context(), localpg.Config{Dir: filepath.Join(closed, "data"), Fast: true})
	if os.Geteuid() != 0 { // then the server runs as the folder's owner
		require.NoError(t, err)
		require.NoError(t, s.Stop())
		return
	}
	require.ErrorContains(t, err, "may not enter "+closed+": choose another folder")
}

func TestStartEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := localpg.Start(ctx, localpg.Config{Fast: true})
	require.ErrorIs(t, err, context.Canceled)
}

func TestStopKillsServerThatDoesNotListen(t *testing.T) {
	t.Parallel()
	s := start(t, localpg.Config{Fast: true})
	s.SetStopBound(time.Millisecond)
	require.NoError(t, syscall.Kill(s.PID(), syscall.SIGSTOP))
	require.ErrorContains(t, s.Stop(), "was killed")
	require.ErrorIs(t, syscall.Kill(s.PID(), 0), syscall.ESRCH)
	require.NoDirExists(t, s.TempDir())
}

func TestStopAfterServerDiedByItself(t *testing.T) {
	t.Parallel()
	s := start(t, localpg.Config{Fast: true})
	conn := connect(t, s.URL())
	require.NoError(t, syscall.Kill(s.PID(), syscall.SIGQUIT))
	_, err := conn.WaitForNotification(t.Context())
	require.Error(t, err, "the connection ends with the server")
	require.NoError(t, s.Stop())
}

func TestOrdinaryUserStartsServer(t *testing.T) {
	t.Parallel()
	dir := openDir(t)
	var credential *syscall.Credential
	if os.Geteuid() == 0 { // otherwise every other test shows it
		credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		require.NoError(t, os.Chown(dir, 65534, 65534))
	}
	data := filepath.Join(dir, "data")
	host := startHost(t, data, credential)
	var owner string
	row := connect(t, host.url).QueryRow(t.Context(), "SELECT current_user")
	require.NoError(t, row.Scan(&owner))
	require.Equal(t, "postgres", owner)
	require.NoError(t, host.stdin.Close())
	require.NoError(t, host.cmd.Wait())
	requireNothingListens(t, host.url)
	require.NoFileExists(t, filepath.Join(data, "postmaster.pid"))
}

func TestServerEndsWhenItsStarterIsKilled(t *testing.T) {
	t.Parallel()
	data := filepath.Join(openDir(t), "data")
	host := startHost(t, data, nil)
	conn := connect(t, host.url)
	require.NoError(t, host.cmd.Process.Kill())
	require.Error(t, host.cmd.Wait())

	_, err := conn.WaitForNotification(t.Context())
	require.Error(t, err, "the server cuts its connections")
	gone := func() bool { // the server removes this file last of all
		_, err := os.Stat(filepath.Join(data, "postmaster.pid"))
		return os.IsNotExist(err)
	}
	require.Eventually(t, gone, time.Minute, 10*time.Millisecond)
	requireNothingListens(t, host.url)
	start(t, localpg.Config{Dir: data, Fast: true}) // the folder is free again
}

func TestTemporaryFolderEndsWithItsStarter(t *testing.T) {
	t.Parallel()
	host := startHost(t, "", nil)
	require.DirExists(t, host.temp)
	require.NoError(t, host.cmd.Process.Kill())
	require.Error(t, host.cmd.Wait())
	gone := func() bool {
		_, err := os.Stat(host.temp)
		return os.IsNotExist(err)
	}
	require.Eventually(t, gone, time.Minute, 10*time.Millisecond)
	requireNothingListens(t, host.url)
}

func TestOpenLeavesSomebodyElsesServerAlone(t *testing.T) {
	s := start(t, localpg.Config{Fast: true})
	t.Setenv("DATABASE_URL", s.URL())
	opened, err := localpg.Open(t.Context(), localpg.Config{})
	require.NoError(t, err)
	require.Equal(t, s.URL(), opened.URL())
	require.NoError(t, opened.Stop())
	connect(t, s.URL())
}

func TestOpenStartsServerWithoutDatabaseURL(t *testing.T) {
	t.Setenv("DATABASE_URL", "")
	s, err := localpg.Open(t.Context(), localpg.Config{Fast: true})
	require.NoError(t, err)
	connect(t, s.URL())
	require.NoError(t, s.Stop())
	requireNothingListens(t, s.URL())
}

func start(t *testing.T, cfg localpg.Config) *localpg.Server {
	t.Helper()
	s, err := localpg.Start(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Stop() })
	return s
}

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func requireNothingListens(t *testing.T, address string) {
	t.Helper()
	parsed, err := url.Parse(address)
	require.NoError(t, err)
	var dialer net.Dialer
	_, err = dialer.DialContext(t.Context(), "tcp", parsed.Host)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
}

func writeFile(t *testing.T, name, content string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(content), mode))
}
