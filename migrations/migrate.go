package migrations

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// Up brings the database to the newest schema. It may be called by several processes at once; one
// works, the others wait and find nothing left to do.
func Up(ctx context.Context, pool *pgxpool.Pool) error {
	return locked(ctx, pool, func(p *goose.Provider) error {
		if _, err := p.Up(ctx); err != nil {
			return fmt.Errorf("migrate up: %w", err)
		}
		return river(ctx, pool, rivermigrate.DirectionUp)
	})
}

// Down removes everything that Up made. All data is lost.
func Down(ctx context.Context, pool *pgxpool.Pool) error {
	return locked(ctx, pool, func(p *goose.Provider) error {
		if err := river(ctx, pool, rivermigrate.DirectionDown); err != nil {
			return err
		}
		if _, err := p.DownTo(ctx, 0); err != nil {
			return fmt.Errorf("migrate down: %w", err)
		}
		return nil
	})
}

// Step is one migration and whether the database has it.
type Step struct {
	Name    string
	Applied bool
}

// Status lists the migrations in order, River's schema as the last step.
func Status(ctx context.Context, pool *pgxpool.Pool) ([]Step, error) {
	p, closeDB, err := provider(pool)
	if err != nil {
		return nil, err
	}
	defer closeDB()
	list, err := p.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("migration status: %w", err)
	}
	var steps []Step
	for _, m := range list {
		steps = append(steps, Step{Name: m.Source.Path, Applied: m.State == goose.StateApplied})
	}
	applied, err := riverCurrent(ctx, pool)
	if err != nil {
		return nil, err
	}
	return append(steps, Step{Name: "river", Applied: applied}), nil
}

// Current tells whether nothing is left to migrate.
func Current(ctx context.Context, pool *pgxpool.Pool) (bool, error) {
	steps, err := Status(ctx, pool)
	if err != nil {
		return false, err
	}
	for _, s := range steps {
		if !s.Applied {
			return false, nil
		}
	}
	return true, nil
}

func provider(pool *pgxpool.Pool) (*goose.Provider, func(), error) {
	db := stdlib.OpenDBFromPool(pool)
	p, err := goose.NewProvider(goose.DialectPostgres, db, files)
	if err != nil {
		_ = db.Close()
		return nil, nil, fmt.Errorf("read migrations: %w", err)
	}
	return p, func() { _ = db.Close() }, nil
}

// locked holds one advisory lock around goose's and River's migrations, so that replicas take turns. The
// lock has a connection of its own: a pool may have no more than one.
func locked(ctx context.Context, pool *pgxpool.Pool, do func(*goose.Provider) error) error {
	p, closeDB, err := provider(pool)
	if err != nil {
		return err
	}
	defer closeDB()
	conn, err := pgx.ConnectConfig(ctx, pool.Config().ConnConfig)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // which lets go of the lock
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", lock.DefaultLockID); err != nil {
		return fmt.Errorf("take migration lock: %w", err)
	}
	return do(p)
}

func river(ctx context.Context, pool *pgxpool.Pool, d rivermigrate.Direction) error {
	m, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return fmt.Errorf("read River migrations: %w", err)
	}
	opts := &rivermigrate.MigrateOpts{}
	if d == rivermigrate.DirectionDown {
		opts.TargetVersion = -1
	}
	if _, err := m.Migrate(ctx, d, opts); err != nil {
		return fmt.Errorf("migrate River: %w", err)
	}
	return nil
}

func riverCurrent(ctx context.Context, pool *pgxpool.Pool) (bool, error) {
	m, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return false, fmt.Errorf("read River migrations: %w", err)
	}
	res, err := m.Validate(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("check River migrations: %w", err)
	}
	return res.OK, nil
}
