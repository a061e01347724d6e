package store

import (
	"context"
	"errors"

	"airtable-replay/internal/deadletter"
)

// Answer is the stored answer to a request that carried an Idempotency-Key.
type Answer struct {
	Status int
	Header map[string]string
	Body   []byte
}

// errRollBack undoes the transaction of a request whose answer must not be kept.
var errRollBack = errors.New("answer is not kept")

// Idempotent runs do in one transaction and stores its answer with it, so that a repetition gets the
// first answer and has no second effect (R10). keyHash is the hash of the key, bodyHash of method,
// path and body. A repetition that arrives while the first is under way waits for it. When do fails
// or answers 5xx, all is rolled back and nothing is stored. replayed tells a stored answer from a
// fresh one.
func (s *Store) Idempotent(ctx context.Context, tokenID string, keyHash, bodyHash [32]byte, do func(ctx context.Context) (Answer, error)) (a Answer, replayed bool, err error) {
	err = s.InTx(ctx, func(ctx context.Context) error {
		const takeKey = `
			INSERT INTO idempotency_key (token_id, key_hash, body_hash, status, body) VALUES (@token, @key, @body, 0, '')
			ON CONFLICT DO NOTHING`
		tag, err := s.db(ctx).Exec(ctx, takeKey, names{"token": tokenID, "key": keyHash[:], "body": bodyHash[:]})
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			replayed = true
			a, err = s.storedAnswer(ctx, tokenID, keyHash, bodyHash)
			return err
		}
		replayed = false
		if a, err = do(ctx); err != nil {
			return err
		}
		if a.Status >= 500 {
			return errRollBack
		}
		return s.keepAnswer(ctx, tokenID, keyHash, a)
	})
	if errors.Is(err, errRollBack) {
		err = nil
	}
	return a, replayed, interpretError("answer once", err)
}

func (s *Store) storedAnswer(ctx context.Context, tokenID string, keyHash, bodyHash [32]byte) (Answer, error) {
	const storedAnswer = `SELECT body_hash, status, header, body FROM idempotency_key WHERE token_id = $1 AND key_hash = $2`
	var a Answer
	var hash, header []byte
	if err := s.db(ctx).QueryRow(ctx, storedAnswer, tokenID, keyHash[:]).Scan(&hash, &a.Status, &header, &a.Body); err != nil {
		return Answer{}, err
	}
	if string(hash) != string(bodyHash[:]) {
		return Answer{}, deadletter.Errorf(deadletter.CodeInvalid, "idempotency-key-reused",
			"this Idempotency-Key was used before with another request; use a new key for a new request")
	}
	return a, read(header, &a.Header)
}

func (s *Store) keepAnswer(ctx context.Context, tokenID string, keyHash [32]byte, a Answer) error {
	header, err := doc(a.Header)
	if err != nil {
		return err
	}
	const keepAnswer = `UPDATE idempotency_key SET status = @status, header = @header, body = @body WHERE token_id = @token AND key_hash = @key`
	_, err = s.db(ctx).Exec(ctx, keepAnswer, names{"status": a.Status, "header": header, "body": orEmpty(a.Body), "token": tokenID, "key": keyHash[:]})
	return err
}

// ForgetAnswers removes stored answers older than 48 hours and returns how many.
func (s *Store) ForgetAnswers(ctx context.Context) (int, error) {
	tag, err := s.db(ctx).Exec(ctx, `DELETE FROM idempotency_key WHERE created_at < replay_now() - interval '48 hours'`)
	return int(tag.RowsAffected()), interpretError("forget answers", err)
}
