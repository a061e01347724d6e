package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Store runs the service's transactions on one database. It is safe for concurrent use.
type Store struct {
	pool       *pgxpool.Pool
	mirrorBase string
	totals     totals
}

// New makes a Store. mirrorBase is the base that holds the dead letter table; empty: entries are not
// mirrored.
func New(pool *pgxpool.Pool, mirrorBase string) *Store {
	return &Store{pool: pool, mirrorBase: mirrorBase}
}

// Now is the shared clock on which leases, slots, pauses and rests run: the database's.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	var now time.Time
	err := s.db(ctx).QueryRow(ctx, "SELECT replay_now()").Scan(&now)
	return now.UTC(), interpretError("read clock", err)
}

// Ping tells whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	return interpretError("reach database", s.pool.Ping(ctx))
}

type txKey struct{}

// querier is what a pool and a transaction have in common.
type querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, rows pgx.CopyFromSource) (int64, error)
}

func (s *Store) db(ctx context.Context) querier {
	if tx, ok := TxFrom(ctx); ok {
		return tx
	}
	return s.pool
}

// TxFrom is the transaction that ctx carries, for a job queue that must insert into the same one.
func TxFrom(ctx context.Context) (pgx.Tx, bool) {
	tx, ok := ctx.Value(txKey{}).(pgx.Tx)
	return tx, ok
}

// InTx runs do in one transaction, carried by the context it is given. Within a transaction that ctx
// already carries it is a savepoint: an error undoes what do did, and no more. A deadlock or a
// serialization failure is tried once more, so do must have no effect outside the database.
func (s *Store) InTx(ctx context.Context, do func(ctx context.Context) error) error {
	if outer, ok := TxFrom(ctx); ok {
		return pgx.BeginFunc(ctx, outer, func(tx pgx.Tx) error { return do(context.WithValue(ctx, txKey{}, tx)) })
	}
	err := s.once(ctx, do)
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && lostRace(pg.Code) {
		err = s.once(ctx, do)
	}
	return interpretError("run transaction", err)
}

// join runs do within the transaction that ctx carries, which an error then has to end, or in one of its own.
func (s *Store) join(ctx context.Context, do func(ctx context.Context) error) error {
	if _, ok := TxFrom(ctx); ok {
		return do(ctx)
	}
	return s.InTx(ctx, do)
}

func (s *Store) once(ctx context.Context, do func(ctx context.Context) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		return do(context.WithValue(ctx, txKey{}, tx))
	})
}

// names are the named arguments of one query; a missing or unused one is an error.
type names = pgx.StrictNamedArgs
