package migrations_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"

	"airtable-replay/internal/store/storetest"
	"airtable-replay/migrations"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

// things are the tables, functions, indexes and triggers of a database.
func things(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	rows, err := pool.Query(t.Context(), `
		SELECT relkind::text || ' ' || relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
		UNION ALL SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
		UNION ALL SELECT 'trigger ' || tgname FROM pg_trigger WHERE NOT tgisinternal
		UNION ALL SELECT 'type ' || typname FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype = 'e' ORDER BY 1`)
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return names
}

func requireSteps(t *testing.T, pool *pgxpool.Pool, applied bool) {
	t.Helper()
	steps, err := migrations.Status(t.Context(), pool)
	require.NoError(t, err)
	require.Equal(t, []migrations.Step{{Name: "00001_init.sql", Applied: applied}, {Name: "river", Applied: applied}}, steps)
	current, err := migrations.Current(t.Context(), pool)
	require.NoError(t, err)
	require.Equal(t, applied, current)
}

// Several replicas may start at once on an empty database, each with a pool as small as can be.
func TestUpFromSeveralReplicasAtOnce(t *testing.T) {
	t.Parallel()
	db := storetest.NewEmptyDB(t)
	const replicas = 6
	errs := make([]error, replicas)
	var wg sync.WaitGroup
	for i := range replicas {
		cfg, err := pgxpool.ParseConfig(db.URL)
		require.NoError(t, err)
		cfg.MaxConns = 1
		pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		wg.Go(func() { errs[i] = migrations.Up(t.Context(), pool) })
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	requireSteps(t, db.Pool, true)
	require.Equal(t, things(t, storetest.NewDB(t).Pool), things(t, db.Pool))
}

func TestUpAndDownAndUpAgain(t *testing.T) {
	t.Parallel()
	db := storetest.NewEmptyDB(t)
	requireSteps(t, db.Pool, false)
	require.NoError(t, migrations.Up(t.Context(), db.Pool))
	first := things(t, db.Pool)
	require.NoError(t, migrations.Up(t.Context(), db.Pool), "nothing is left to do")
	require.Equal(t, first, things(t, db.Pool))
	requireSteps(t, db.Pool, true)

	require.NoError(t, migrations.Down(t.Context(), db.Pool))
	require.Empty(t, slices.DeleteFunc(things(t, db.Pool), isLedger))
	requireSteps(t, db.Pool, false)
	require.NoError(t, migrations.Down(t.Context(), db.Pool), "nothing is left to remove")

	require.NoError(t, migrations.Up(t.Context(), db.Pool))
	require.Equal(t, first, things(t, db.Pool))
}

// isLedger tells the table in which the migrations note what they did.
func isLedger(name string) bool {
	return slices.Contains([]string{"r goose_db_version", "S goose_db_version_id_seq", "i goose_db_version_pkey"}, name)
}

// A migration that is called off lets go of the lock.
func TestMigrationCanBeCalledOff(t *testing.T) {
	t.Parallel()
	db := storetest.NewEmptyDB(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, migrations.Up(gone, db.Pool), context.Canceled)
	requireSteps(t, db.Pool, false)
	require.NoError(t, migrations.Up(t.Context(), db.Pool))
}
