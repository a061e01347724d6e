package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"airtable-replay/internal/app"
	"airtable-replay/internal/config"

	"golang.org/x/sync/errgroup"
)

// afterGrace is what a drained process may take to write down how its work ended.
const afterGrace = 4 * time.Second

// serveCommand runs the service.
type serveCommand struct {
	configured
	connected
	Listen        string        `env:"AIRTABLE_REPLAY_LISTEN" default:"127.0.0.1:8080" placeholder:"ADDR" help:"Address of the API (default ${default})."`
	ConsoleURL    string        `name:"console-url" env:"AIRTABLE_REPLAY_CONSOLE_URL" placeholder:"URL" help:"Where people reach the service, such as https://replay.example.com; the dead letter table links there."`
	MetricsListen string        `placeholder:"ADDR" help:"Address of /metrics, if it is to be kept off the API's."`
	Migrate       bool          `help:"Bring the database to the newest schema first; safe when several replicas start at once."`
	Workers       int           `default:"8" placeholder:"N" help:"Bases worked on at once (default ${default}); 0: none, another process has the workers."`
	Grace         time.Duration `default:"25s" placeholder:"TIME" help:"How long work and requests under way may take to end after SIGTERM (default ${default})."`
}

// Help shows how the command is used.
func (serveCommand) Help() string {
	return `Everything about bases, targets and sources is in the configuration file; its secrets are references to the environment or to files.

Examples:

	export DATABASE_URL=postgres://replay:secret@127.0.0.1:5432/replay
	airtable-replay serve --config replay.yaml --migrate
	airtable-replay serve --config replay.yaml --listen :8080 --metrics-listen 127.0.0.1:9090
	airtable-replay serve --config replay.yaml --workers 0`
}

// Validate refuses what could never run.
func (c *serveCommand) Validate() error {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:8080"
	}
	err := checkAddress("--listen", c.Listen)
	if c.MetricsListen != "" {
		err = errors.Join(err, checkAddress("--metrics-listen", c.MetricsListen))
	}
	c.ConsoleURL = strings.TrimRight(c.ConsoleURL, "/")
	if u, parseErr := url.Parse(c.ConsoleURL); c.ConsoleURL != "" && (parseErr != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "") {
		err = errors.Join(err, fmt.Errorf("--console-url: %q is no address of a site, such as https://replay.example.com", c.ConsoleURL))
	}
	if c.Workers < 0 || c.Workers > 1000 {
		err = errors.Join(err, fmt.Errorf("--workers: %d is not between 0 and 1000", c.Workers))
	}
	if c.Grace <= 0 {
		err = errors.Join(err, fmt.Errorf("--grace: %s is not longer than 0s", c.Grace))
	}
	return errors.Join(c.configured.validate(), c.connected.validate(), err)
}

// Run implements the command.
func (c *serveCommand) Run(p *process) error {
	file, err := c.load()
	if err != nil {
		return err
	}
	service, err := app.New(p.ctx, app.Options{
		Config: file, DatabaseURL: c.DatabaseURL, Migrate: c.Migrate, Workers: c.Workers, Grace: c.Grace, Version: version(),
		Logger: p.logger, MetricsApart: c.MetricsListen != "", ConsoleURL: c.ConsoleURL,
	})
	if err != nil {
		return p.interrupted(err)
	}
	defer service.Close()
	servers := newServing()
	if err := c.open(p, service, servers); err != nil {
		return err
	}
	p.logger.Info("configuration", "version", version(), "workers", c.Workers, "grace", c.Grace, "file", c.Config, "settings", file)
	if err := service.Start(context.WithoutCancel(p.ctx)); err != nil {
		return errors.Join(err, servers.shutdown(p.ctx))
	}
	broken := servers.wait(p.ctx)
	p.logger.Info("stopping", "grace", c.Grace)
	began := time.Now()
	if err := errors.Join(broken, drain(c.Grace, service, servers)); err != nil {
		return err
	}
	if time.Since(began) >= c.Grace {
		p.logger.Warn("work under way was cut off after the grace; the next process goes on with it", "grace", c.Grace)
	}
	p.logger.Info("stopped")
	return nil
}

// open binds the addresses and begins to answer.
func (c *serveCommand) open(p *process, service *app.App, servers *serving) error {
	api, err := listen(p.ctx, c.Listen, "--listen")
	if err != nil {
		return err
	}
	if c.MetricsListen != "" {
		metrics, err := listen(p.ctx, c.MetricsListen, "--metrics-listen")
		if err != nil {
			return errors.Join(err, api.Close())
		}
		routes := http.NewServeMux()
		routes.Handle("GET /metrics", service.Metrics())
		servers.start(metrics, routes)
		p.logger.Info("listening", "url", reachable(metrics)+"/metrics")
	}
	servers.start(api, service.Handler())
	p.logger.Info("listening", "url", reachable(api))
	return nil
}

// drain lets requests and passes under way end side by side: either may need the whole grace.
func drain(grace time.Duration, service *app.App, servers *serving) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace+afterGrace)
	defer cancel()
	var both errgroup.Group
	both.Go(func() error { return servers.shutdown(ctx) })
	both.Go(func() error { return service.Drain(ctx) })
	return both.Wait()
}

// configured is a command that needs the configuration file.
type configured struct {
	Config string `env:"AIRTABLE_REPLAY_CONFIG" placeholder:"FILE" help:"The configuration file."`
}

func (c configured) validate() error {
	if c.Config == "" {
		return errors.New("the configuration file is not named: use --config FILE or AIRTABLE_REPLAY_CONFIG")
	}
	return nil
}

func (c configured) load() (*config.File, error) {
	data, err := os.ReadFile(c.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage("there is no configuration file %s: name it with --config or AIRTABLE_REPLAY_CONFIG", c.Config)
	}
	if err != nil {
		return nil, usage("read configuration file: %w", err)
	}
	file, err := config.Load(data, os.LookupEnv)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Config, err)
	}
	return file, nil
}

// connected is a command that needs the database.
type connected struct {
	DatabaseURL string `name:"database-url" env:"DATABASE_URL" placeholder:"URL" help:"The PostgreSQL database; other users of this machine can read a flag, so prefer the environment."`
}

func (c connected) validate() error {
	if c.DatabaseURL == "" {
		return errors.New("the database is not named: set DATABASE_URL, such as postgres://user:password@host:5432/name")
	}
	return app.CheckDatabaseURL(c.DatabaseURL)
}
