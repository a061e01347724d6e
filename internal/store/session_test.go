package store_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/stretchr/testify/require"
)

func TestSessionEndsWithItsTimeItsTokenOrItself(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.db.SimulateClock(t)
	token, err := b.store.CreateToken(b.ctx, "ops", []string{"replay", "read"}, sha256.Sum256([]byte("secret")))
	require.NoError(t, err)
	start := func(secret string) [32]byte {
		hash := sha256.Sum256([]byte(secret))
		require.NoError(t, b.store.StartSession(b.ctx, token.ID, "Ann", hash, time.Hour))
		return hash
	}
	gone := func(hash [32]byte) {
		t.Helper()
		_, err := b.store.SessionByHash(b.ctx, hash)
		require.Equal(t, deadletter.CodeNotFound, deadletter.CodeOf(err))
	}
	first, second := start("1"), start("2")
	found, err := b.store.SessionByHash(b.ctx, first)
	require.NoError(t, err)
	require.Equal(t, "Ann", found.Person)
	require.Equal(t, token.ID, found.Token.ID)
	require.Equal(t, "ops", found.Token.Name)
	require.Equal(t, []string{"replay", "read"}, found.Token.Scopes)
	require.Equal(t, time.Hour, found.Expires.Sub(found.Started).Round(time.Minute))
	gone(sha256.Sum256([]byte("3")))

	require.NoError(t, b.store.EndSession(b.ctx, first))
	require.NoError(t, b.store.EndSession(b.ctx, first), "ending it again does no harm")
	gone(first)

	b.db.Advance(t, 61*time.Minute)
	gone(second)
	third := start("3")
	require.Equal(t, "1", b.value(t, `SELECT count(*) FROM session`), "those that are over are forgotten")
	require.NoError(t, b.store.RevokeToken(b.ctx, "ops"))
	gone(third)
}
