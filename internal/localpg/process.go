package localpg

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	startBound   = time.Minute           // from the start to the first answer
	connectBound = 5 * time.Second       // of one try: somebody else may listen there
	pollEvery    = 20 * time.Millisecond // between tries
	stopBound    = 20 * time.Second      // from a signal to the end, per signal
)

// watchdog becomes the server, whose command line follows the folder to discard,
// after leaving a process behind that reads file descriptor 3, the pipe from the
// process that started it. A line means that the server has ended; the end of
// the pipe means that its starter has died, and then the server ($$, since exec
// keeps the process ID) is told to end, rudely after ten seconds, and the folder
// is removed. The watchdog is forked twice: a child of its own that it does not
// know would look like a crashed backend to the server.
const watchdog = `
( (
	exec >/dev/null 2>&1
	read -r word <&3 && exit 0
	kill -INT $$
	for second in 1 2 3 4 5 6 7 8 9 10; do
		sleep 1
		kill -0 $$ || break
	done
	kill -QUIT $$ && sleep 1
	[ -z "$1" ] || rm -rf "$1"
) & )
shift
exec "$@" </dev/null 3<&-
`

var errPortTaken = errors.New("port is taken")

// process is a server process and the pipe that keeps it alive.
type process struct {
	cmd    *exec.Cmd
	alive  *os.File
	exited chan struct{} // closed once the server has ended and was reaped
	bound  time.Duration // how long each signal may take, see stopBound
}

// command prepares a program that runs as the account, in a session of its own,
// so that a Ctrl-C meant for us does not end the database before us.
func (a account) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = "/" // the present folder may be closed to the account
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.WaitDelay = connectBound
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: a.credential}
	return cmd
}

// run starts the server on port and waits until it answers at address.
func (c cluster) run(ctx context.Context, port int, address string) (*process, error) {
	ctx, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	name := filepath.Join(c.dir, "airtable-replay.log")
	output, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("server log: %w", err)
	}
	defer output.Close() //nolint:errcheck // written by the server only
	p, err := c.spawn(ctx, output, port)
	if err != nil {
		return nil, err
	}
	if err := p.awaitReady(ctx, address); err != nil {
		return nil, errors.Join(c.explain(err, name), p.stop())
	}
	return p, nil
}

func (c cluster) spawn(ctx context.Context, output *os.File, port int) (*process, error) {
	args := []string{"-c", watchdog, "postgres-watchdog", c.discard, c.binaries.program("postgres"), "-D", c.dir}
	for _, setting := range c.settings(port) {
		args = append(args, "-c", setting)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("watchdog pipe: %w", err)
	}
	defer read.Close() //nolint:errcheck // the child has its own
	cmd := c.account.command(context.WithoutCancel(ctx), "/bin/sh", args...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = output, output, []*os.File{read}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("postgres start: %w", err), write.Close())
	}
	p := &process{cmd: cmd, alive: write, exited: make(chan struct{}), bound: stopBound}
	go p.reap()
	return p, nil
}

// reap notes the end of the server, and only then lets the watchdog go.
func (p *process) reap() {
	_ = p.cmd.Wait() // how it ended is in its log
	_, _ = p.alive.WriteString("ended\n")
	_ = p.alive.Close()
	close(p.exited)
}

var errEnded = errors.New("postgres ended while starting")

func (p *process) awaitReady(ctx context.Context, address string) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if answers(ctx, address) {
			return nil
		}
		select {
		case <-p.exited:
			return errEnded
		case <-ctx.Done():
			return fmt.Errorf("postgres start: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// answers tells whether the server at address takes our password: another
// server that got hold of the port would not.
func answers(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, connectBound)
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return false
	}
	_ = conn.Close(ctx)
	return true
}

// explain adds to a failed start what the server's log says about it.
func (c cluster) explain(err error, log string) error {
	if !errors.Is(err, errEnded) {
		return err
	}
	said, readErr := os.ReadFile(log)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	switch text := string(said); {
	case strings.Contains(text, "could not create any TCP/IP sockets"):
		return errPortTaken
	case strings.Contains(text, `lock file "postmaster.pid" already exists`):
		return fmt.Errorf("data folder %s is in use by another server: stop that one, or choose another folder", c.dir)
	default:
		return fmt.Errorf("%w: %s", err, lastLine(said))
	}
}

// stop ends the server: first by cutting its connections and closing the
// cluster in order, then without order, at last by force.
func (p *process) stop() error {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		_ = p.cmd.Process.Signal(signal) // fails only if it has ended
		select {
		case <-p.exited:
			return nil
		case <-time.After(p.bound):
		}
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.exited
	return errors.New("postgres did not end when asked and was killed")
}

// freePort returns a port of 127.0.0.1 that nobody listens on at the moment.
func freePort(ctx context.Context) (int, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("free port: %w", err)
	}
	address, err := netip.ParseAddrPort(listener.Addr().String())
	return int(address.Port()), errors.Join(err, listener.Close())
}
