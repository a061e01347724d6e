package main_test

import (
	"context"
	"crypto/sha256"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"airtable-replay/internal/store/storetest"

	"github.com/stretchr/testify/require"
)

// emptyDatabase makes a database without a schema and gives the setting that names it.
func emptyDatabase(t *testing.T) string {
	t.Helper()
	db := storetest.NewDB(t)
	u, err := url.Parse(db.URL)
	require.NoError(t, err)
	u.Path += "_empty"
	name := strings.TrimPrefix(u.Path, "/")
	_, err = db.Pool.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := db.Pool.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		require.NoError(t, err)
	})
	return "DATABASE_URL=" + u.String()
}

func TestMigrationsGoUpAndDown(t *testing.T) {
	t.Parallel()
	database := emptyDatabase(t)
	status := func() string {
		c := run(t, []string{database}, "migrate", "status")
		require.Equal(t, 0, c.code())
		return c.stdout.String()
	}
	before := status()
	require.Contains(t, before, "river")
	require.NotContains(t, before, "applied")
	run(t, []string{database}, "token", "list").refused(t, 1,
		"airtable-replay: the database is not migrated: run airtable-replay migrate up, or serve --migrate\n")

	require.Equal(t, 0, run(t, []string{database}, "migrate", "up").code())
	require.Equal(t, strings.ReplaceAll(before, "pending", "applied"), status())
	require.Equal(t, 0, run(t, []string{database}, "migrate", "up").code(), "nothing left to do")

	require.Equal(t, 0, run(t, []string{database}, "migrate", "down", "--yes").code())
	require.Equal(t, before, status())
}

func TestReplicasMigrateAtOnce(t *testing.T) {
	t.Parallel()
	database := emptyDatabase(t)
	var replicas []*command
	for range 3 {
		replicas = append(replicas, start(t, []string{database}, "migrate", "up"))
	}
	for _, c := range replicas {
		c.wait(t)
		require.Equal(t, 0, c.code(), "%s", c.stderr)
	}
	c := run(t, []string{database}, "migrate", "status")
	require.NotContains(t, c.stdout.String(), "pending")
}

func TestTokenSecretIsShownOnceAndStoredAsHash(t *testing.T) {
	t.Parallel()
	db := storetest.NewDB(t)
	env := []string{"DATABASE_URL=" + db.URL}
	c := run(t, env, "token", "create", "pipeline", "--scope", "write,read,read")
	require.Equal(t, 0, c.code())
	require.Regexp(t, regexp.MustCompile(`^replay_[A-Z2-7]{52}\n$`), c.stdout.String())
	secret := strings.TrimSpace(c.stdout.String())
	require.NotContains(t, c.stderr.String(), secret)

	var hash []byte
	var scopes []string
	require.NoError(t, db.Pool.QueryRow(t.Context(), `SELECT hash, scopes FROM api_token WHERE name = 'pipeline'`).Scan(&hash, &scopes))
	want := sha256.Sum256([]byte(secret))
	require.Equal(t, want[:], hash)
	require.Equal(t, []string{"read", "write"}, scopes)

	run(t, env, "token", "create", "pipeline", "--scope", "read").refused(t, 1,
		"airtable-replay: a token named \"pipeline\" exists; revoke it first or choose another name\n")
	other := run(t, env, "token", "create", "button", "--scope", "replay", "--scope", "read")
	require.NotEqual(t, c.stdout.String(), other.stdout.String())

	list := func() string {
		c := run(t, env, "token", "list")
		require.Equal(t, 0, c.code())
		require.NotContains(t, c.stdout.String(), secret)
		return c.stdout.String()
	}
	require.Regexp(t, `(?m)^NAME +SCOPES +CREATED +LAST USED +REVOKED\nbutton +read,replay +20\S+Z +- +-\npipeline +read,write +20\S+Z +- +-\n$`, list())
	require.Equal(t, 0, run(t, env, "token", "revoke", "pipeline").code())
	require.Regexp(t, `(?m)^pipeline +read,write +20\S+Z +- +20\S+Z\n$`, list())
	run(t, env, "token", "revoke", "pipeline").refused(t, 1, "airtable-replay: there is no valid token named \"pipeline\"\n")
}
