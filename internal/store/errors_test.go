package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// Every error of the driver becomes one of the domain's, its cause kept for the log alone.
func TestInterpretError(t *testing.T) {
	t.Parallel()
	code := func(c string) error {
		return fmt.Errorf("scan: %w", &pgconn.PgError{Code: c, Message: "secret detail"})
	}
	domain := deadletter.Errorf(deadletter.CodeConflict, "x", "no")
	for name, c := range map[string]struct {
		err  error
		want deadletter.Code
	}{
		"deadlock":                    {code("40P01"), deadletter.CodeUnavailable},
		"serialization failure":       {code("40001"), deadletter.CodeUnavailable},
		"connection lost":             {code("08006"), deadletter.CodeUnavailable},
		"too many connections":        {code("53300"), deadletter.CodeUnavailable},
		"disk full":                   {code("53100"), deadletter.CodeUnavailable},
		"shutting down":               {code("57P01"), deadletter.CodeUnavailable},
		"starting up":                 {code("57P03"), deadletter.CodeUnavailable},
		"lock not to be had":          {code("55P03"), deadletter.CodeUnavailable},
		"a standby":                   {code("25006"), deadletter.CodeUnavailable},
		"NUL":                         {code("22021"), deadletter.CodeInvalid},
		"NUL in a document":           {code("22P05"), deadletter.CodeInvalid},
		"unique violation":            {code("23505"), deadletter.CodeInternal},
		"foreign key":                 {code("23503"), deadletter.CodeInternal},
		"check":                       {code("23514"), deadletter.CodeInternal},
		"a trigger":                   {code("P0001"), deadletter.CodeInternal},
		"syntax":                      {code("42601"), deadletter.CodeInternal},
		"no rows":                     {pgx.ErrNoRows, deadletter.CodeNotFound},
		"cut in the middle":           {fmt.Errorf("receive: %w", io.ErrUnexpectedEOF), deadletter.CodeUnavailable},
		"closed":                      {io.EOF, deadletter.CodeUnavailable},
		"reset":                       {&net.OpError{Op: "read", Err: errors.New("connection reset by peer")}, deadletter.CodeUnavailable},
		"the caller hung up":          {context.Canceled, deadletter.CodeInternal},
		"out of time":                 {fmt.Errorf("timeout: %w", context.DeadlineExceeded), deadletter.CodeInternal},
		"anything else":               {errors.New("odd"), deadletter.CodeInternal},
		"the domain's stays":          {domain, deadletter.CodeConflict},
		"the domain's stays, wrapped": {fmt.Errorf("x: %w", domain), deadletter.CodeConflict},
	} {
		got := store.InterpretError("do it", c.err)
		require.ErrorIs(t, got, c.err, name)
		require.Equal(t, c.want, deadletter.CodeOf(got), name)
		d, ok := errors.AsType[*deadletter.Error](got)
		if ok && d != domain {
			require.NotContains(t, d.Message, "secret", name)
			require.Contains(t, d.Err.Error(), "do it: ", name)
			require.Equal(t, c.want == deadletter.CodeUnavailable, d.RetryAfter > 0, name)
		}
	}
	require.NoError(t, store.InterpretError("do it", nil))
	require.Equal(t, store.ErrStale, store.InterpretError("do it", store.ErrStale))
}

// A database that is not there is told as unavailable, by every verb alike.
func TestNoDatabase(t *testing.T) {
	t.Parallel()
	pool, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/none?connect_timeout=1")
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	s := store.New(pool, "")
	require.Equal(t, deadletter.CodeUnavailable, deadletter.CodeOf(s.Ping(t.Context())))
	_, err = s.ShowEntry(t.Context(), token)
	require.Equal(t, deadletter.CodeUnavailable, deadletter.CodeOf(err))
	_, _, err = s.AcquireLease(t.Context(), orders, "x", 1)
	require.Equal(t, deadletter.CodeUnavailable, deadletter.CodeOf(err))
}

func TestPingAndClock(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	require.NoError(t, b.store.Ping(t.Context()))
	now, err := b.store.Now(t.Context())
	require.NoError(t, err)
	require.Equal(t, morning, now)
}

// A transaction that loses a deadlock is tried once more, and a lost retry is told as busy.
func TestDeadlockIsTriedOnceMore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.wide(t, 4)
	ids := b.fileIDs(t, "a", "b")
	tries := make([]int, 2)
	errs := make([]error, 2)
	met := make(chan struct{}, 2)
	var both sync.Once
	gate := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			errs[i] = s.InTx(t.Context(), func(ctx context.Context) error {
				tries[i]++
				if err := s.RefusePress(ctx, ids[i], "ann", "first"); err != nil {
					return err
				}
				if tries[i] == 1 { // each holds one row before it asks for the other's
					met <- struct{}{}
					if len(met) == 2 {
						both.Do(func() { close(gate) })
					}
					<-gate
				}
				return s.RefusePress(ctx, ids[1-i], "ann", "second")
			})
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Contains(t, []int{3, 4}, tries[0]+tries[1], "one of them lost; then, on a busy machine, the other may have")
	require.LessOrEqual(t, max(tries[0], tries[1]), 2, "each is tried once more at most")

	n := 0
	err := s.InTx(t.Context(), func(context.Context) error {
		n++
		return &pgconn.PgError{Code: "40001"}
	})
	require.Equal(t, 2, n)
	require.Equal(t, deadletter.CodeUnavailable, deadletter.CodeOf(err))
}

// Within a transaction another one is a savepoint: what fails is undone, and no more.
func TestNestedTransactionIsASavepoint(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lost := errors.New("lost")
	require.NoError(t, b.store.InTx(t.Context(), func(ctx context.Context) error {
		_, _, err := b.store.FileEntry(ctx, filing(orders, "kept", "a"))
		require.NoError(t, err)
		require.ErrorIs(t, b.store.InTx(ctx, func(ctx context.Context) error {
			_, _, err := b.store.FileEntry(ctx, filing(orders, "undone", "a"))
			require.NoError(t, err)
			return lost
		}), lost)
		_, _, err = b.store.FileEntry(ctx, filing(orders, "kept too", "a"))
		return err
	}))
	require.Equal(t, "2", b.value(t, `SELECT count(*)::text FROM entry`))
	require.ErrorIs(t, b.store.InTx(t.Context(), func(ctx context.Context) error {
		_, _, err := b.store.FileEntry(ctx, filing(orders, "undone", "a"))
		require.NoError(t, err)
		return lost
	}), lost)
	require.Equal(t, "2", b.value(t, `SELECT count(*)::text FROM entry`))
	_, inTx := store.TxFrom(t.Context())
	require.False(t, inTx)
}
