package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"time"

	"airtable-replay/internal/app"
	"airtable-replay/internal/config"
	"airtable-replay/internal/httpapi"
	"airtable-replay/internal/localpg"
	"airtable-replay/internal/sandbox"
)

// The base of the demo's seed, and the table in it that has the button.
const (
	demoBase    = "appOrdersSandbox01"
	deadLetters = "Dead Letter Queue"
)

// demoGrace is how long the demo's work may take to end.
const demoGrace = 25 * time.Second

// demoWorkers is plenty for one base.
const demoWorkers = 2

// hurriedPace is the requests per second of a demo that nobody watches; the emulator has no limit then.
const hurriedPace = 200

var (
	//go:embed demo/seed.yaml
	demoSeed []byte
	//go:embed demo/config.yaml
	demoConfig []byte
)

type stageOptions struct {
	listen, sandboxListen string
	hurry                 bool // at a raised pace
}

// stage is everything that the demo runs.
type stage struct {
	url, sandboxURL string
	token           string // with the admin scope
	client          *demoClient
	servers         *serving

	postgres *localpg.Server
	sandbox  *sandbox.Sandbox
	service  *app.App
}

// newStage starts PostgreSQL, the emulator and the service.
func newStage(p *process, o stageOptions) (*stage, error) {
	s := &stage{servers: newServing(), token: newSecret()}
	if err := s.open(p, o); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// open binds both addresses first: the emulator's button has to know the service's, and the service the
// emulator's.
func (s *stage) open(p *process, o stageOptions) error {
	door, err := listen(p.ctx, o.listen, "--listen")
	if err != nil {
		return err
	}
	airtable, err := listen(p.ctx, o.sandboxListen, "--sandbox-listen")
	if err != nil {
		return errors.Join(err, door.Close())
	}
	s.url, s.sandboxURL = reachable(door), reachable(airtable)
	err = s.build(p, o)
	if err != nil {
		return errors.Join(err, door.Close(), airtable.Close())
	}
	return s.start(p, door, airtable)
}

// build makes all the parts.
func (s *stage) build(p *process, o stageOptions) error {
	button := newSecret()
	env := map[string]string{
		"SERVICE_URL": s.url, "SANDBOX_URL": s.sandboxURL, "BUTTON_TOKEN": button, "AIRTABLE_TOKEN": "patSandbox.full",
	}
	lookup := func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
	if err := s.buildSandbox(p, o, lookup); err != nil {
		return err
	}
	if err := s.buildService(p, o, lookup); err != nil {
		return err
	}
	return errors.Join(
		s.createToken(p.ctx, "demo", httpapi.ScopeAdmin, s.token),
		s.createToken(p.ctx, "button", httpapi.ScopeReplay, button),
	)
}

func (s *stage) buildSandbox(p *process, o stageOptions, lookup func(string) (string, bool)) error {
	seed, err := sandbox.ParseSeed(demoSeed)
	if err != nil {
		return fmt.Errorf("read demo seed: %w", err)
	}
	settings := sandbox.DefaultConfig()
	if o.hurry {
		settings = sandbox.Config{}
	}
	settings.LookupEnv, settings.Logger = lookup, p.logger
	if s.sandbox, err = sandbox.New(seed, settings); err != nil {
		return fmt.Errorf("build sandbox: %w", err)
	}
	return nil
}

func (s *stage) buildService(p *process, o stageOptions, lookup func(string) (string, bool)) error {
	file, err := config.Load(demoConfig, lookup)
	if err != nil {
		return fmt.Errorf("read demo configuration: %w", err)
	}
	if o.hurry {
		for _, base := range file.Bases {
			base.RequestsPerSecond = hurriedPace
		}
	}
	// The data is thrown away in the end, so it need not survive a power cut.
	if s.postgres, err = localpg.Start(p.ctx, localpg.Config{Fast: true, Logger: p.logger}); err != nil {
		return err
	}
	s.service, err = app.New(p.ctx, app.Options{
		Config: file, DatabaseURL: s.postgres.URL(), Migrate: true, Workers: demoWorkers, Grace: demoGrace, Version: version(), Logger: p.logger, ConsoleURL: s.url,
	})
	return err
}

func (s *stage) createToken(ctx context.Context, name, scope, secret string) error {
	_, err := s.service.Store.CreateToken(ctx, name, []string{scope}, sha256.Sum256([]byte(secret)))
	return err
}

// start begins to answer and to work.
func (s *stage) start(p *process, door, airtable net.Listener) error {
	s.servers.start(airtable, s.sandbox.Handler())
	s.servers.start(door, s.service.Handler())
	client, err := newDemoClient(s.url, s.sandboxURL, s.token)
	if err != nil {
		return err
	}
	s.client = client
	return s.service.Start(context.WithoutCancel(p.ctx))
}

// close stops what was started, in reverse order: the emulator answers until the service is drained.
func (s *stage) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), demoGrace+afterGrace)
	defer cancel()
	var errs []error
	if s.client != nil {
		s.client.close()
		errs = append(errs, s.service.Drain(ctx))
	}
	if s.sandbox != nil {
		s.sandbox.Close()
	}
	errs = append(errs, s.servers.shutdown(ctx))
	if s.service != nil {
		s.service.Close()
	}
	if s.postgres != nil {
		errs = append(errs, s.postgres.Stop())
	}
	return errors.Join(errs...)
}
