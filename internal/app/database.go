package app

import (
	"context"
	"errors"
	"fmt"

	"airtable-replay/internal/config"
	"airtable-replay/internal/store"
	"airtable-replay/migrations"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Database is the database without the service, for commands about the schema and about tokens.
type Database struct{ pool *pgxpool.Pool }

// CheckDatabaseURL refuses what is no address of a PostgreSQL database; the error has no password in it.
func CheckDatabaseURL(url string) error {
	_, err := poolConfig(url)
	return err
}

// OpenDatabase connects to the database. Its error is a sentence that names the cause.
func OpenDatabase(ctx context.Context, url string) (*Database, error) {
	cfg, err := poolConfig(url)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to database: %w", err)
	}
	if err := probeSession(ctx, pool); err != nil {
		pool.Close()
		return nil, err
	}
	return &Database{pool: pool}, nil
}

// OpenMigrated is OpenDatabase that refuses a database without the newest schema.
func OpenMigrated(ctx context.Context, url string) (*Database, error) {
	db, err := OpenDatabase(ctx, url)
	if err != nil {
		return nil, err
	}
	if err := requireMigrated(ctx, db.pool); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// Close lets go of the connections.
func (d *Database) Close() { d.pool.Close() }

// Store gives access to what a migrated database holds.
func (d *Database) Store() *store.Store { return store.New(d.pool, "") }

// StoreOf is Store for a configuration, whose dead letter table it keeps in mind.
func (d *Database) StoreOf(file *config.File) *store.Store {
	if file.DeadLetters == nil {
		return d.Store()
	}
	return store.New(d.pool, file.DeadLetters.Base)
}

// MigrateUp brings the database to the newest schema; several processes may do so at once.
func (d *Database) MigrateUp(ctx context.Context) error { return migrations.Up(ctx, d.pool) }

// MigrateDown removes the schema with all data.
func (d *Database) MigrateDown(ctx context.Context) error { return migrations.Down(ctx, d.pool) }

// MigrationStatus lists the migrations in order.
func (d *Database) MigrationStatus(ctx context.Context) ([]migrations.Step, error) {
	return migrations.Status(ctx, d.pool)
}

func poolConfig(url string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read DATABASE_URL: %w", err)
	}
	// Our statements are short; to compile one first can take a second.
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SET jit = off")
		return err
	}
	return cfg, nil
}

func requireMigrated(ctx context.Context, pool *pgxpool.Pool) error {
	current, err := migrations.Current(ctx, pool)
	if err != nil {
		return err
	}
	if !current {
		return errors.New("the database is not migrated: run airtable-replay migrate up, or serve --migrate")
	}
	return nil
}
