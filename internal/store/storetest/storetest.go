package storetest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/localpg"
	"airtable-replay/migrations"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// DB is a migrated database for one test.
type DB struct {
	URL    string
	Pool   *pgxpool.Pool
	frozen bool
}

var (
	once     sync.Once
	admin    *pgxpool.Pool
	address  string
	template string
	copying  string // how a template is copied
	startErr error
	server   *localpg.Server
	cloning  sync.Mutex
)

// Main runs a package's tests and stops the PostgreSQL that they started. Call it from TestMain.
func Main(m *testing.M) int {
	code := m.Run()
	if server != nil {
		if template != "" {
			_ = exec("DROP DATABASE IF EXISTS " + template + " WITH (FORCE)")
		}
		if admin != nil {
			admin.Close()
		}
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// NewDB clones the migrated template. The database is dropped when the test ends.
func NewDB(t testing.TB) *DB {
	t.Helper()
	once.Do(start)
	require.NoError(t, startErr, "a PostgreSQL for the tests")
	return create(t, " TEMPLATE "+template+copying)
}

// NewEmptyDB makes a database without a schema, for tests of the migrations.
func NewEmptyDB(t testing.TB) *DB {
	t.Helper()
	once.Do(start)
	require.NoError(t, startErr, "a PostgreSQL for the tests")
	return create(t, "")
}

func create(t testing.TB, like string) *DB {
	t.Helper()
	name := "t_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	cloning.Lock()
	err := exec("CREATE DATABASE " + name + like)
	cloning.Unlock()
	require.NoError(t, err)
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.Path = "/" + name
	db := &DB{URL: u.String()}
	db.Pool, err = pgxpool.New(t.Context(), db.LeanURL(t))
	require.NoError(t, err)
	t.Cleanup(func() {
		db.Pool.Close()
		require.NoError(t, exec("DROP DATABASE "+name+" WITH (FORCE)"))
	})
	return db
}

// LeanURL is the database's address for few connections that plan each statement once: cold caches and the
// plans of tiny tables cost a test more than all else. A benchmark gets the plain address.
func (db *DB) LeanURL(t testing.TB) string {
	t.Helper()
	if _, measuring := t.(*testing.B); measuring {
		return db.URL
	}
	u, err := url.Parse(db.URL)
	require.NoError(t, err)
	q := u.Query()
	q.Set("pool_max_conns", "4")
	q.Set("plan_cache_mode", "force_generic_plan")
	u.RawQuery = q.Encode()
	return u.String()
}

// SimulateClock puts the shared clock under the test's control: it runs on, moved by Advance.
func (db *DB) SimulateClock(t testing.TB) {
	t.Helper()
	const simulate = `
		CREATE TABLE clock_offset (by interval NOT NULL);
		INSERT INTO clock_offset VALUES ('0');
		CREATE OR REPLACE FUNCTION replay_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp() + (SELECT by FROM clock_offset)'`
	_, err := db.Pool.Exec(t.Context(), simulate)
	require.NoError(t, err)
}

// FreezeClock makes the shared clock stand still at an instant; only Advance moves it.
func (db *DB) FreezeClock(t testing.TB, at time.Time) {
	t.Helper()
	const freeze = `
		CREATE TABLE clock_frozen (at timestamptz NOT NULL);
		CREATE OR REPLACE FUNCTION replay_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT at FROM clock_frozen'`
	_, err := db.Pool.Exec(t.Context(), freeze)
	require.NoError(t, err)
	_, err = db.Pool.Exec(t.Context(), `INSERT INTO clock_frozen VALUES ($1)`, at)
	require.NoError(t, err)
	db.frozen = true
}

// Advance moves the simulated or frozen clock forward.
func (db *DB) Advance(t testing.TB, by time.Duration) {
	t.Helper()
	advance := `UPDATE clock_offset SET by = by + $1::interval`
	if db.frozen {
		advance = `UPDATE clock_frozen SET at = at + $1::interval`
	}
	_, err := db.Pool.Exec(t.Context(), advance, by)
	require.NoError(t, err)
}

func start() {
	ctx := context.Background()
	server, startErr = localpg.Open(ctx, localpg.Config{Fast: true})
	if startErr != nil {
		return
	}
	address = server.URL()
	if admin, startErr = pgxpool.New(ctx, address); startErr != nil {
		return
	}
	template = "template_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if startErr = exec("CREATE DATABASE " + template); startErr != nil {
		return
	}
	var version int
	if startErr = admin.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); startErr != nil {
		return
	}
	// A copy of the files brings the catalog's cache along, which each new database would build anew.
	if copying = ""; version >= 150000 {
		copying = " STRATEGY file_copy"
	}
	u, err := url.Parse(address)
	if err != nil {
		startErr = err
		return
	}
	u.Path = "/" + template
	pool, err := pgxpool.New(ctx, u.String())
	if err != nil {
		startErr = err
		return
	}
	defer pool.Close()
	startErr = migrations.Up(ctx, pool)
}

func exec(sql string) error {
	_, err := admin.Exec(context.Background(), sql)
	return err
}
