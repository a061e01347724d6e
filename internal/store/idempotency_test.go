package store_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

const token = "0197c0de-0000-7000-8000-00000000000f"

func hash(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// The same request under one key has one effect and one answer; another request is refused (R10).
func TestSameKeySameAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	answer := store.Answer{Status: 201, Header: map[string]string{"Location": "/x"}, Body: []byte("{\x00\xff}")}
	calls := 0
	ask := func(token, key, body string) (store.Answer, bool, error) {
		return b.store.Idempotent(t.Context(), token, hash(key), hash(body), func(ctx context.Context) (store.Answer, error) {
			calls++
			_, _, err := b.store.FileEntry(ctx, filing(orders, key+token, "a"))
			return answer, err
		})
	}
	got, replayed, err := ask(token, "k", "body")
	require.NoError(t, err)
	require.False(t, replayed)
	require.Equal(t, answer, got)
	got, replayed, err = ask(token, "k", "body")
	require.NoError(t, err)
	require.True(t, replayed)
	require.Equal(t, answer, got)
	require.Equal(t, 1, calls)
	_, _, err = ask(token, "k", "other body")
	d := problem(t, err)
	require.Equal(t, []any{deadletter.CodeInvalid, "idempotency-key-reused"}, []any{d.Code, d.Problem})
	require.Equal(t, 1, calls)
	for _, c := range [][2]string{{token, "other key"}, {"0197c0de-0000-7000-8000-00000000000e", "k"}} {
		_, replayed, err = ask(c[0], c[1], "body")
		require.NoError(t, err)
		require.False(t, replayed)
	}
	require.Equal(t, 3, calls)
}

// Thirty at once: one effect, and the same answer for all.
func TestSameKeyAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.wide(t, 35)
	var calls atomic.Int64
	const n = 30
	answers, errs := make([]store.Answer, n), make([]error, n)
	var fresh atomic.Int64
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			var replayed bool
			answers[i], replayed, errs[i] = s.Idempotent(t.Context(), token, hash("k"), hash("b"), func(ctx context.Context) (store.Answer, error) {
				_, _, err := s.FileEntry(ctx, filing(orders, "a", "a"))
				return store.Answer{Status: 200, Body: []byte{byte(calls.Add(1))}}, err
			})
			if !replayed {
				fresh.Add(1)
			}
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Equal(t, []int64{1, 1}, []int64{calls.Load(), fresh.Load()})
	for _, a := range answers {
		require.Equal(t, []byte{1}, a.Body)
	}
	require.Equal(t, "1", b.value(t, `SELECT count(*)::text FROM entry`))
}

// An answer that is not kept undoes everything, and the key can be used again.
func TestFailedRequestIsRepeatable(t *testing.T) {
	t.Parallel()
	b := setup(t)
	before := b.state(t)
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		status int
		err    error
	}{"an error": {0, broken}, "a refusal": {0, deadletter.Errorf(deadletter.CodeConflict, "", "no")}, "a fault of ours": {503, nil}} {
		a, replayed, err := b.store.Idempotent(t.Context(), token, hash("k"), hash("b"), func(ctx context.Context) (store.Answer, error) {
			_, _, err := b.store.FileEntry(ctx, filing(orders, "a", "a"))
			require.NoError(t, err)
			return store.Answer{Status: c.status, Body: []byte("x")}, c.err
		})
		require.False(t, replayed)
		if c.err != nil {
			require.ErrorIs(t, err, c.err, name)
		} else {
			require.NoError(t, err)
			require.Equal(t, []byte("x"), a.Body)
		}
		require.Empty(t, cmp.Diff(before, b.state(t)), name)
	}
	_, replayed, err := b.store.Idempotent(t.Context(), token, hash("k"), hash("another body"), func(context.Context) (store.Answer, error) {
		return store.Answer{Status: 200}, nil
	})
	require.NoError(t, err)
	require.False(t, replayed)
}

// A refusal within a kept answer undoes what it did, and no more: each verb is a savepoint.
func TestRefusalWithinAKeptAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.file(t, "a").ID
	_, _, err := b.store.Idempotent(t.Context(), token, hash("k"), hash("b"), func(ctx context.Context) (store.Answer, error) {
		err := b.store.InTx(ctx, func(ctx context.Context) error {
			if _, err := b.store.ClaimEntries(ctx, press(id)); err != nil {
				return err
			}
			return b.store.IgnoreEntry(ctx, id, "ann", "") // it is replaying now
		})
		require.Equal(t, deadletter.CodeConflict, deadletter.CodeOf(err))
		return store.Answer{Status: 409}, b.store.RefusePress(ctx, id, "ann", "no")
	})
	require.NoError(t, err)
	e := b.show(t, id)
	require.Equal(t, []any{deadletter.PendingReview, "no"}, []any{e.Status, e.Refusal})
	require.Equal(t, "0 1", b.value(t, `SELECT concat_ws(' ', (SELECT count(*) FROM run), (SELECT count(*) FROM idempotency_key WHERE status = 409))`))
}

func TestAnswersAreForgotten(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	keep := func(key string) {
		_, _, err := b.store.Idempotent(t.Context(), token, hash(key), hash("b"), func(context.Context) (store.Answer, error) { return store.Answer{Status: 200}, nil })
		require.NoError(t, err)
	}
	keep("old")
	b.advance(t, time.Microsecond)
	keep("new")
	b.advance(t, 48*time.Hour-time.Microsecond)
	for _, want := range []int{0, 1, 1, 0} {
		n, err := b.store.ForgetAnswers(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, n)
		b.advance(t, time.Microsecond)
	}
	require.Equal(t, "0", b.value(t, `SELECT count(*)::text FROM idempotency_key`))
}

func TestTokens(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	made, err := b.store.CreateToken(t.Context(), "ops", []string{"read", "replay"}, hash("secret"))
	require.NoError(t, err)
	require.Equal(t, store.Token{ID: made.ID, Name: "ops", Scopes: []string{"read", "replay"}, CreatedAt: morning}, made)
	_, err = b.store.CreateToken(t.Context(), "ops", []string{"admin"}, hash("other"))
	require.Equal(t, "token-exists", problem(t, err).Problem)

	used := func() time.Time {
		t.Helper()
		got, err := b.store.TokenByHash(t.Context(), hash("secret"))
		require.NoError(t, err)
		require.Equal(t, []any{made.ID, made.Scopes}, []any{got.ID, got.Scopes})
		list, err := b.store.ListTokens(t.Context())
		require.NoError(t, err)
		return list[len(list)-1].LastUsed
	}
	require.Equal(t, morning, used())
	b.advance(t, time.Minute-time.Microsecond)
	require.Equal(t, morning, used(), "to the minute")
	b.advance(t, time.Microsecond)
	require.Equal(t, morning.Add(time.Minute), used())

	require.NoError(t, b.store.RevokeToken(t.Context(), "ops"))
	require.Equal(t, deadletter.CodeNotFound, problem(t, b.store.RevokeToken(t.Context(), "ops")).Code)
	_, err = b.store.TokenByHash(t.Context(), hash("secret"))
	require.Equal(t, deadletter.CodeNotFound, problem(t, err).Code)
	_, err = b.store.TokenByHash(t.Context(), hash("nothing"))
	require.Equal(t, deadletter.CodeNotFound, problem(t, err).Code)
	b.advance(t, time.Second)
	again, err := b.store.CreateToken(t.Context(), "ops", []string{"admin"}, hash("other"))
	require.NoError(t, err, "a name is free once its token is revoked")
	list, err := b.store.ListTokens(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{again.ID, made.ID}, []string{list[0].ID, list[1].ID})
	require.Equal(t, morning.Add(time.Minute), list[1].Revoked)
	require.Zero(t, list[0].Revoked)
}
