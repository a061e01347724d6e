package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// probeSession refuses a connection that does not keep a session: behind a transaction pooler the
// queue would never hear of new jobs, and prepared statements would vanish (case B114).
func probeSession(ctx context.Context, pool *pgxpool.Pool) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	cfg := pool.Config().ConnConfig.Copy()
	cfg.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	listener, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return connectError(err)
	}
	defer func() { _ = listener.Close(context.WithoutCancel(ctx)) }()
	other, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return connectError(err)
	}
	defer func() { _ = other.Close(context.WithoutCancel(ctx)) }()
	channel := fmt.Sprintf("airtable_replay_probe_%d", time.Now().UnixNano())
	if _, err := listener.Exec(ctx, "LISTEN "+channel); err != nil {
		return fmt.Errorf("listen on database: %w", err)
	}
	if _, err := other.Exec(ctx, "NOTIFY "+channel); err != nil {
		return fmt.Errorf("notify database: %w", err)
	}
	heard, cancelHeard := context.WithTimeout(ctx, 5*time.Second)
	defer cancelHeard()
	if _, err := listener.WaitForNotification(heard); err != nil {
		if errors.Is(heard.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
			return errors.New("the database connection does not keep a session (a pooler in transaction mode, such as PgBouncer?): " +
				"jobs would never be picked up; point DATABASE_URL at PostgreSQL itself or at a pool in session mode")
		}
		return fmt.Errorf("wait for notification: %w", err)
	}
	return nil
}

// connectError words what pgx spreads over a line for every address and protocol that it tried.
func connectError(err error) error {
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok {
		return fmt.Errorf("connect to database: %w", refusal)
	}
	if unknown, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("connect to database: %w", unknown)
	}
	if dial, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("connect to database: %w", dial)
	}
	return fmt.Errorf("connect to database: %w", err)
}
