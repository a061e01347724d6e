package store

import (
	"context"
	"time"
)

// Session is a person's session in the console, without its secret.
type Session struct {
	Token   Token  // what the person may do
	Person  string // who acts, as they said at the login
	Started time.Time
	Expires time.Time
}

// StartSession stores a session of a valid token under the hash of its secret, and forgets those that
// are over.
func (s *Store) StartSession(ctx context.Context, tokenID, person string, hash [32]byte, lasts time.Duration) error {
	if _, err := s.db(ctx).Exec(ctx, `DELETE FROM session WHERE expires_at <= replay_now()`); err != nil {
		return interpretError("forget sessions", err)
	}
	const startSession = `INSERT INTO session (hash, token_id, person, expires_at) VALUES (@hash, @token, @person, replay_now() + @lasts::interval)`
	_, err := s.db(ctx).Exec(ctx, startSession, names{"hash": hash[:], "token": tokenID, "person": text(person), "lasts": lasts})
	return interpretError("start session", err)
}

// SessionByHash finds a session that is not over, of a token that is not revoked.
func (s *Store) SessionByHash(ctx context.Context, hash [32]byte) (Session, error) {
	var found Session
	const sessionByHash = `
		SELECT t.id::text, t.name, t.scopes, t.created_at, s.person, s.created_at, s.expires_at
		FROM session s JOIN api_token t ON t.id = s.token_id
		WHERE s.hash = $1 AND s.expires_at > replay_now() AND t.revoked_at IS NULL`
	t := &found.Token
	err := s.db(ctx).QueryRow(ctx, sessionByHash, hash[:]).Scan(&t.ID, &t.Name, &t.Scopes, &t.CreatedAt, &found.Person, &found.Started, &found.Expires)
	if err != nil {
		return Session{}, interpretError("find session", err)
	}
	t.CreatedAt, found.Started, found.Expires = t.CreatedAt.UTC(), found.Started.UTC(), found.Expires.UTC()
	return found, nil
}

// EndSession ends a session; one that is unknown has ended already.
func (s *Store) EndSession(ctx context.Context, hash [32]byte) error {
	_, err := s.db(ctx).Exec(ctx, `DELETE FROM session WHERE hash = $1`, hash[:])
	return interpretError("end session", err)
}
