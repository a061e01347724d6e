package store

import (
	"context"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// Token is an API token without its secret.
type Token struct {
	ID        string
	Name      string
	Scopes    []string
	CreatedAt time.Time
	LastUsed  time.Time // zero: never; kept to the minute
	Revoked   time.Time // zero: valid
}

// CreateToken stores a token under the hash of its secret. A name is taken while a token of that
// name is valid.
func (s *Store) CreateToken(ctx context.Context, name string, scopes []string, hash [32]byte) (Token, error) {
	t := Token{ID: newID(), Name: name, Scopes: scopes}
	const createToken = `
		INSERT INTO api_token (id, name, scopes, hash) VALUES (@id, @name, @scopes, @hash)
		ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING RETURNING created_at`
	rows, err := s.db(ctx).Query(ctx, createToken, names{"id": t.ID, "name": name, "scopes": scopes, "hash": hash[:]})
	if err != nil {
		return Token{}, interpretError("create token", err)
	}
	made, err := pgx.CollectRows(rows, pgx.RowTo[time.Time])
	if err != nil {
		return Token{}, interpretError("create token", err)
	}
	if len(made) == 0 {
		return Token{}, deadletter.Errorf(deadletter.CodeConflict, "token-exists", "a token named %q exists; revoke it first or choose another name", name)
	}
	t.CreatedAt = made[0].UTC()
	return t, nil
}

// TokenByHash finds the valid token of a secret, by the secret's SHA-256, and notes its use.
func (s *Store) TokenByHash(ctx context.Context, hash [32]byte) (Token, error) {
	var t Token
	var used instant
	var usedNow bool
	const tokenByHash = `SELECT id::text, name, scopes, created_at, last_used_at, coalesce(last_used_at > replay_now() - interval '1 minute', false)
		FROM api_token WHERE hash = $1 AND revoked_at IS NULL`
	err := s.db(ctx).QueryRow(ctx, tokenByHash, hash[:]).Scan(&t.ID, &t.Name, &t.Scopes, &t.CreatedAt, &used, &usedNow)
	if err != nil {
		return Token{}, interpretError("find token", err)
	}
	t.CreatedAt, t.LastUsed = t.CreatedAt.UTC(), used.Time
	if !usedNow {
		const useToken = `UPDATE api_token SET last_used_at = replay_now() WHERE id = $1`
		if _, err := s.db(ctx).Exec(ctx, useToken, t.ID); err != nil {
			return Token{}, interpretError("note token use", err)
		}
	}
	return t, nil
}

// ListTokens lists all tokens, the newest first, revoked ones too.
func (s *Store) ListTokens(ctx context.Context) ([]Token, error) {
	const listTokens = `SELECT id::text, name, scopes, created_at, last_used_at, revoked_at FROM api_token ORDER BY created_at DESC, id DESC`
	rows, err := s.db(ctx).Query(ctx, listTokens)
	if err != nil {
		return nil, interpretError("list tokens", err)
	}
	ts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (t Token, err error) {
		var used, revoked instant
		err = row.Scan(&t.ID, &t.Name, &t.Scopes, &t.CreatedAt, &used, &revoked)
		t.CreatedAt, t.LastUsed, t.Revoked = t.CreatedAt.UTC(), used.Time, revoked.Time
		return t, err
	})
	return ts, interpretError("list tokens", err)
}

// RevokeToken ends the valid token of a name.
func (s *Store) RevokeToken(ctx context.Context, name string) error {
	const revokeToken = `UPDATE api_token SET revoked_at = replay_now() WHERE name = $1 AND revoked_at IS NULL`
	tag, err := s.db(ctx).Exec(ctx, revokeToken, name)
	if err != nil {
		return interpretError("revoke token", err)
	}
	if tag.RowsAffected() == 0 {
		return deadletter.Errorf(deadletter.CodeNotFound, "", "there is no valid token named %q", name)
	}
	return nil
}
