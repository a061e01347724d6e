package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
)

// storyTimeout is after how long a scene that waits for its outcome is given up; the story takes seconds.
const storyTimeout = 3 * time.Minute

// demoCommand runs everything at once on this machine.
type demoCommand struct {
	Once          bool   `help:"Play the story, print how it came out, and end; uses free ports unless told which."`
	Listen        string `placeholder:"ADDR" help:"Address of the service (default 127.0.0.1:8080)."`
	SandboxListen string `placeholder:"ADDR" help:"Address of the emulator (default 127.0.0.1:8090)."`
}

// Help shows how the command is used.
func (demoCommand) Help() string {
	return `A PostgreSQL of its own, the Airtable emulator and the service, with dead letters that wait for a press. Nothing is kept when it ends, and DATABASE_URL is not touched.

Examples:

	airtable-replay demo
	airtable-replay demo --listen 127.0.0.1:9000 --sandbox-listen 127.0.0.1:9001
	airtable-replay demo --once`
}

// Validate refuses what could never run.
func (c *demoCommand) Validate() error {
	listen, sandboxListen := "127.0.0.1:8080", "127.0.0.1:8090"
	if c.Once {
		listen, sandboxListen = "127.0.0.1:0", "127.0.0.1:0"
	}
	if c.Listen == "" {
		c.Listen = listen
	}
	if c.SandboxListen == "" {
		c.SandboxListen = sandboxListen
	}
	return errors.Join(checkAddress("--listen", c.Listen), checkAddress("--sandbox-listen", c.SandboxListen))
}

// Run implements the command.
func (c *demoCommand) Run(p *process) error {
	quiet := newGate(p)
	p.logger = slog.New(quiet)
	stage, err := newStage(p, stageOptions{listen: c.Listen, sandboxListen: c.SandboxListen, hurry: c.Once})
	if err != nil {
		return c.interrupted(p, err)
	}
	err = c.play(p, stage, quiet)
	return errors.Join(err, stage.close())
}

func (c *demoCommand) play(p *process, stage *stage, quiet gate) error {
	play, err := prepare(p.ctx, stage.client)
	if err != nil {
		return c.interrupted(p, err)
	}
	if c.Once {
		ctx, cancel := context.WithTimeout(p.ctx, storyTimeout)
		defer cancel()
		return play.perform(ctx, p.stdout)
	}
	if err := invite(p.stdout, stage, play); err != nil {
		return err
	}
	quiet.open.Store(true)
	return stage.servers.wait(p.ctx)
}

// gate keeps log lines below warnings back until it is opened, so that the preparations do not bury what
// the demo has to say.
type gate struct {
	slog.Handler
	open *atomic.Bool
}

func newGate(p *process) gate {
	g := gate{p.logger.Handler(), new(atomic.Bool)}
	g.open.Store(p.levelChosen)
	return g
}

// Enabled implements slog.Handler.
func (g gate) Enabled(ctx context.Context, level slog.Level) bool {
	return (level >= slog.LevelWarn || g.open.Load()) && g.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (g gate) WithAttrs(attrs []slog.Attr) slog.Handler {
	return gate{g.Handler.WithAttrs(attrs), g.open}
}

// WithGroup implements slog.Handler.
func (g gate) WithGroup(name string) slog.Handler { return gate{g.Handler.WithGroup(name), g.open} }

// interrupted is interrupted for a demo that anybody watches; a story that was not played is a failure.
func (c *demoCommand) interrupted(p *process, err error) error {
	if c.Once {
		return err
	}
	return p.interrupted(err)
}

// invite tells where everything is and what to try.
func invite(w io.Writer, stage *stage, play *play) error {
	var text strings.Builder
	fmt.Fprintf(&text, `The demo runs until you press Ctrl-C; then all of it is gone.

  console   %s   open it and log in with the token below
  Airtable  %s   an emulator: open it to see the tables, edit them and press Replay
  token     %s   for the console and the API; it may do everything

The API is at the console's address; /openapi.yaml describes it. The command line uses it too.

Dead letters wait for a press:

`, stage.url, stage.sandboxURL, stage.token)
	for _, letter := range letters() {
		fmt.Fprintf(&text, "  %s  %s  %s\n", letter.order, play.entries[letter.name], letter.meanwhile)
	}
	fmt.Fprintf(&text, `
Try, in another terminal:

  export AIRTABLE_REPLAY_URL=%[1]s
  export AIRTABLE_REPLAY_TOKEN=%[2]s

  # what waits
  %[3]s entries list
  # what a press would do to O-3, field by field; then press, and wait for what comes of it
  %[3]s entries preview %[4]s
  %[3]s entries replay %[4]s --by you --wait
  # the same of O-2: a hand edit is in its way, so a press would leave it for a review
  %[3]s entries preview %[5]s
  # the API by itself
  curl -sS -H "Authorization: Bearer $AIRTABLE_REPLAY_TOKEN" "$AIRTABLE_REPLAY_URL/v1/entries/%[4]s"
  # the orders as Airtable has them now
  curl -sS "%[6]s/_sandbox/%[7]s/Orders"
`, stage.url, stage.token, programName(), play.entries[clean], play.entries[editedByHand], stage.sandboxURL, demoBase)
	_, err := io.WriteString(w, text.String())
	return err
}

// programName is how another terminal calls this program: by its path, where a shell takes that as it is.
func programName() string {
	path, err := os.Executable()
	if err != nil || strings.ContainsFunc(path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+@", r)
	}) {
		return "airtable-replay"
	}
	return path
}
