package httpapi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi"

	"github.com/stretchr/testify/require"
)

func withKey(q request, key string) request {
	q.header = map[string]string{"Idempotency-Key": key}
	return q
}

// TestRepetitionGetsTheFirstAnswer asks every operation that creates.
func TestRepetitionGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	for route, op := range httpapi.Operations() {
		if !op.Creates {
			continue
		}
		t.Run(op.Name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			q := withKey(sample(route, op), "key-1")
			first := b.call(t, q)
			require.Less(t, first.status, 300)
			require.True(t, b.inTx, "the operation runs within the transaction of its answer")
			require.Empty(t, first.header.Get("Idempotent-Replayed"))
			b.err = errors.New("must not be asked again")
			again := b.call(t, q)
			require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
			again.header.Del("Idempotent-Replayed")
			require.Equal(t, first, again)
			require.Len(t, b.calls, 1)
		})
	}
}

func TestKeyWithAnotherRequestIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	q := withKey(request{method: "POST", path: pressPath, body: `{"requested_by": "ada"}`}, "key-1")
	require.Equal(t, 202, b.call(t, q).status)
	for _, other := range []request{
		withKey(request{method: "POST", path: pressPath, body: `{"requested_by": "bob"}`}, "key-1"),
		withKey(request{method: "POST", path: pressPath}, "key-1"),
		withKey(request{method: "POST", path: "/v1/entries/recDeadLetter0001/replay", body: q.body}, "key-1"),
	} {
		a := b.call(t, other)
		require.Equal(t, 422, a.status)
		require.Equal(t, "/problems/idempotency-key-reused", a.problem(t).Type)
	}
	require.Len(t, b.calls, 1)

	q.token = "replay"
	require.Equal(t, 202, b.call(t, q).status)
	require.Len(t, b.calls, 2, "keys belong to their token")
}

func TestRefusalsAreKeptFaultsOfOursAreNot(t *testing.T) {
	t.Parallel()
	for code, keep := range map[deadletter.Code]bool{
		deadletter.CodeConflict: true, deadletter.CodeNotFound: true, deadletter.CodeInvalid: true,
		deadletter.CodeRateLimited: false, deadletter.CodeUpstream: false, deadletter.CodeUnavailable: false, deadletter.CodeInternal: false,
	} {
		b := setup(t)
		b.err = deadletter.Errorf(code, "", "no")
		q := withKey(request{method: "POST", path: pressPath}, "key-1")
		first := b.call(t, q)
		require.GreaterOrEqual(t, first.status, 400)
		b.err = nil
		again := b.call(t, q)
		if keep {
			require.Equal(t, first.status, again.status, code)
			require.Equal(t, first.body, again.body)
		} else {
			require.Equal(t, 202, again.status, code)
		}
	}
}

func TestPanicUnderAKeyIsAnsweredAndNotKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.panics = "boom"
	q := withKey(request{method: "POST", path: pressPath}, "key-1")
	require.Equal(t, 500, b.call(t, q).status)
	b.panics = nil
	require.Equal(t, 202, b.call(t, q).status)
}

// TestLostRaceIsRunAgain: the store must see the cause, and nothing of the first try may be left.
func TestLostRaceIsRunAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	deadlock := errors.New("deadlock detected")
	b.err = fmt.Errorf("press replay: %w", deadlock)
	b.answers.again = func(err error) bool {
		b.err = nil
		return errors.Is(err, deadlock)
	}
	q := withKey(request{method: "POST", path: pressPath, body: `{"requested_by": "ada"}`}, "key-1")
	require.Equal(t, 202, b.call(t, q).status)
	require.Equal(t, 2, b.answers.runs)
	require.Equal(t, b.calls[0], b.calls[1], "the second try reads the whole body")
	line := b.lines(t)[0]
	require.NotContains(t, line, "error")
	require.NotContains(t, line, "problem")
}

func TestAnswerThatCannotBeStoredIsNotGiven(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.answers.fail = errors.New("commit failed")
	a := b.call(t, withKey(request{method: "POST", path: pressPath}, "key-1"))
	require.Equal(t, 500, a.status)
	require.NotContains(t, a.body, runID)
	require.Empty(t, a.header.Get("Location"))
}

func TestKeysMustBePlain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, key := range []string{"", " ", "a b", "ä", "a\x7f", strings.Repeat("x", 256)} {
		a := b.call(t, withKey(request{method: "POST", path: pressPath}, key))
		require.Equal(t, 400, a.status, key)
		require.Equal(t, []string{"Idempotency-Key format"}, a.problem(t).rules())
	}
	require.Zero(t, b.answers.runs)
	require.Equal(t, 202, b.call(t, withKey(request{method: "POST", path: pressPath}, strings.Repeat("x", 255))).status)
}

func TestOtherOperationsTakeNoKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 2 {
		require.Equal(t, 200, b.call(t, withKey(request{method: "POST", path: "/v1/entries/" + entryID + "/reset"}, "key-1")).status)
	}
	require.Len(t, b.calls, 4) // each call keeps its verb and its order
	require.Zero(t, b.answers.runs)
}

func TestStoredAnswersReadAsTheFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.entry = settledEntry()
	q := withKey(request{method: "POST", path: pressPath}, "key-1")
	require.Equal(t, b.call(t, q).body, b.call(t, q).body)
	require.Contains(t, b.call(t, q).body, `<b>\"503\" & more</b>`)
}
