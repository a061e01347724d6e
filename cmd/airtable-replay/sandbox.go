package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"airtable-replay/internal/sandbox"
)

// sandboxGrace is how long requests under way may take to end after a signal.
const sandboxGrace = 5 * time.Second

// sandboxCommand runs the Airtable emulator.
type sandboxCommand struct {
	Seed    string        `required:"" placeholder:"FILE" help:"The bases, tables and records to start with."`
	Listen  string        `default:"127.0.0.1:8090" placeholder:"ADDR" help:"Address of the emulator (default ${default})."`
	Rate    int           `default:"5" placeholder:"N" help:"Requests per second that a base takes (default ${default}); 0: no limit."`
	Penalty time.Duration `default:"30s" placeholder:"TIME" help:"How long a base refuses everything after the limit was passed (default ${default})."`
}

// Help shows how the command is used.
func (sandboxCommand) Help() string {
	return `Clients need no more than its address in place of Airtable's. What it holds is lost when it stops.

Examples:

	airtable-replay sandbox --seed cmd/airtable-replay/demo/seed.yaml
	airtable-replay sandbox --seed seed.yaml --listen 127.0.0.1:8090 --rate 0`
}

// Validate refuses what could never run.
func (c *sandboxCommand) Validate() error {
	errs := []error{checkAddress("--listen", c.Listen)}
	if c.Rate < 0 {
		errs = append(errs, fmt.Errorf("--rate: %d is less than 0", c.Rate))
	}
	if c.Penalty < 0 {
		errs = append(errs, fmt.Errorf("--penalty: %s is less than 0s", c.Penalty))
	}
	return errors.Join(errs...)
}

// Run implements the command.
func (c *sandboxCommand) Run(p *process) error {
	seed, err := c.seed()
	if err != nil {
		return err
	}
	settings := sandbox.DefaultConfig()
	settings.Rate, settings.Penalty, settings.Logger = c.Rate, c.Penalty, p.logger
	if c.Rate == 0 {
		settings.OwnerRate = 0
	}
	emulator, err := sandbox.New(seed, settings)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Seed, err)
	}
	defer emulator.Close()
	listener, err := listen(p.ctx, c.Listen, "--listen")
	if err != nil {
		return err
	}
	servers := newServing()
	servers.start(listener, emulator.Handler())
	p.logger.Info("listening", "url", reachable(listener), "rate", c.Rate, "penalty", c.Penalty)
	broken := servers.wait(p.ctx)
	emulator.Close() // lets go of requests that a fault holds back
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), sandboxGrace)
	defer cancel()
	return errors.Join(broken, servers.shutdown(ctx))
}

func (c *sandboxCommand) seed() (sandbox.Seed, error) {
	data, err := os.ReadFile(c.Seed)
	if errors.Is(err, fs.ErrNotExist) {
		return sandbox.Seed{}, usage("there is no seed file %s", c.Seed)
	}
	if err != nil {
		return sandbox.Seed{}, usage("read seed file: %w", err)
	}
	seed, err := sandbox.ParseSeed(data)
	if err != nil {
		return sandbox.Seed{}, fmt.Errorf("%s: %w", c.Seed, err)
	}
	return seed, nil
}
