package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"airtable-replay/internal/config"
	"airtable-replay/internal/sandbox"
	"airtable-replay/internal/telemetry"

	"github.com/alecthomas/kong"
)

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2 // wrong usage or configuration
)

// commandLine is the command line with all its commands.
type commandLine struct {
	Demo    demoCommand    `cmd:"" help:"Run PostgreSQL, the Airtable emulator and the service in one, with dead letters to press."`
	Serve   serveCommand   `cmd:"" help:"Run the service: API, workers, sweeper."`
	Migrate migrateCommand `cmd:"" help:"Bring the database schema up, take it down, or show it."`
	Token   tokenCommand   `cmd:"" help:"Make, list and revoke API tokens."`
	Sandbox sandboxCommand `cmd:"" help:"Run the Airtable emulator alone."`
	Doctor  doctorCommand  `cmd:"" help:"Check what the configuration needs of Airtable and the database."`
	Setup   setupCommand   `cmd:"" help:"Add the fields that the Airtable side lacks."`
	Entries entriesCommand `cmd:"" help:"List, replay and review dead letters, over the API."`
	Runs    runsCommand    `cmd:"" help:"Start and follow runs over many entries, over the API."`
	Bases   basesCommand   `cmd:"" help:"List, halt and resume bases, over the API."`
	Version versionCommand `cmd:"" help:"Print the version."`

	Completion completionCommand `cmd:"" help:"Print a script that completes commands in a shell."`
	Complete   completeCommand   `cmd:"" hidden:"" name:"__complete"`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`

	LogLevel  string `env:"LOG_LEVEL" placeholder:"LEVEL" help:"debug, info, warn or error (default info)."`
	LogFormat string `env:"LOG_FORMAT" placeholder:"FORMAT" help:"text or json (default text)."`
}

// process is what a command may use of the process that it runs in.
type process struct {
	ctx    context.Context // ends with SIGINT or SIGTERM
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	logger *slog.Logger
	model  *kong.Application
	// levelChosen tells that the user has said how much is to be logged.
	levelChosen bool
}

// interrupted forgives an error of starting when the user has ended the program meanwhile: whatever was
// under way then was cut off.
func (p *process) interrupted(err error) error {
	if p.ctx.Err() == nil {
		return err
	}
	p.logger.Info("ended while starting", "error", err)
	return nil
}

// usageError is a mistake in how the program was called.
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	var line commandLine
	if len(args) > 0 && args[0] == "help" {
		args = append(args[1:], "--help")
	}
	parser := kong.Must(&line, kong.Name("airtable-replay"), kong.Vars{"version": version()},
		kong.Description("The service behind the Replay button of an Airtable dead letter queue."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}))
	command, err := parser.Parse(args)
	if err != nil {
		if parse, ok := errors.AsType[*kong.ParseError](err); ok {
			// Optional flags may have no value, which is nothing to be told.
			text := strings.Replace(err.Error(), `must be one of "",`, "must be one of ", 1)
			err = usage("%s\nSee %s --help", text, strings.TrimSpace("airtable-replay "+chosen(parse.Context)))
		}
		return report(err)
	}
	logger, err := telemetry.NewLogger(os.Stderr, telemetry.LogOptions{Level: line.LogLevel, Format: line.LogFormat})
	if err != nil {
		return report(usageError{err})
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return report(command.Run(&process{
		ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, logger: logger, model: parser.Model, levelChosen: line.LogLevel != "",
	}))
}

// chosen names the command that was recognised before the mistake.
func chosen(ctx *kong.Context) string {
	if node := ctx.Selected(); node != nil {
		return strings.TrimPrefix(node.FullPath(), "airtable-replay ")
	}
	return ""
}

// report prints an error, and gives the exit code that it stands for.
func report(err error) int {
	if err == nil {
		return exitDone
	}
	fmt.Fprintln(os.Stderr, "airtable-replay: "+strings.ReplaceAll(err.Error(), "\n", "\n  "))
	_, misused := errors.AsType[usageError](err)
	_, misconfigured := errors.AsType[*config.Problems](err)
	_, misseeded := errors.AsType[sandbox.SeedError](err)
	if refusal, ok := errors.AsType[*problemError](err); ok && refusal.misused() {
		return exitUsage
	}
	if misused || misconfigured || misseeded {
		return exitUsage
	}
	return exitFailed
}
