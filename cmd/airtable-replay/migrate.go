package main

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"airtable-replay/internal/app"
)

// migrateCommand is about the database schema.
type migrateCommand struct {
	Up     migrateUpCommand     `cmd:"" help:"Bring the database to the newest schema."`
	Down   migrateDownCommand   `cmd:"" help:"Remove everything from the database, all data included."`
	Status migrateStatusCommand `cmd:"" help:"List the migrations and whether they are applied."`
}

type migrateUpCommand struct{ connected }

// Help shows how the command is used.
func (migrateUpCommand) Help() string {
	return `The schema includes that of the job queue. Several replicas may migrate at once: one works, the others wait.

Example:

	airtable-replay migrate up`
}

// Validate refuses a call without a database.
func (c *migrateUpCommand) Validate() error { return c.validate() }

// Run implements the command.
func (c *migrateUpCommand) Run(p *process) error {
	db, err := app.OpenDatabase(p.ctx, c.DatabaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.MigrateUp(p.ctx); err != nil {
		return err
	}
	p.logger.Info("the database has the newest schema")
	return nil
}

type migrateDownCommand struct {
	connected
	Yes bool `help:"Yes, delete every entry, payload, history and token."`
}

// Help shows how the command is used.
func (migrateDownCommand) Help() string {
	return `For throwing a database away. Every entry, payload, history and token is deleted for good.

Example:

	airtable-replay migrate down --yes`
}

// Validate refuses a call without a database or without the confirmation.
func (c *migrateDownCommand) Validate() error {
	if !c.Yes {
		return errors.Join(c.validate(), errors.New("this deletes every entry, payload, history and token for good: add --yes if you mean it"))
	}
	return c.validate()
}

// Run implements the command.
func (c *migrateDownCommand) Run(p *process) error {
	db, err := app.OpenDatabase(p.ctx, c.DatabaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.MigrateDown(p.ctx); err != nil {
		return err
	}
	p.logger.Info("the schema and all data are removed")
	return nil
}

type migrateStatusCommand struct{ connected }

// Help shows how the command is used.
func (migrateStatusCommand) Help() string {
	return `Example:

	airtable-replay migrate status`
}

// Validate refuses a call without a database.
func (c *migrateStatusCommand) Validate() error { return c.validate() }

// Run implements the command.
func (c *migrateStatusCommand) Run(p *process) error {
	db, err := app.OpenDatabase(p.ctx, c.DatabaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	steps, err := db.MigrationStatus(p.ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MIGRATION\tSTATE")
	for _, step := range steps {
		state := "pending"
		if step.Applied {
			state = "applied"
		}
		fmt.Fprintf(table, "%s\t%s\n", step.Name, state)
	}
	return table.Flush()
}
