package main_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"airtable-replay/internal/store/storetest"

	"github.com/stretchr/testify/require"
)

// binary is the command as users have it, built once.
var binary string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "airtable-replay-command-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "airtable-replay")
	args := []string{"build", "-buildvcs=false", "-ldflags", "-X main.release=v0.0.0-test", "-o", binary}
	if raceDetector {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, ".")...)
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build command:", err)
		return 1
	}
	return storetest.Main(m)
}

// patience bounds every wait; it is no judgement of speed.
const patience = 2 * time.Minute

// command is one process of the binary.
type command struct {
	cmd    *exec.Cmd
	stdout *watched
	stderr *watched
	exited chan struct{}
}

// start runs the binary in an empty folder, in an environment of PATH, HOME and env (NAME=value) alone.
func start(t testing.TB, env []string, args ...string) *command {
	t.Helper()
	return startFor(t, patience, env, args...)
}

// startFor is start for a process that may run for longer.
func startFor(t testing.TB, most time.Duration, env []string, args ...string) *command {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), most)
	c := &command{cmd: exec.CommandContext(ctx, binary, args...), stdout: newWatched(), stderr: newWatched(), exited: make(chan struct{})}
	c.cmd.Dir = t.TempDir()
	c.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, env...)
	c.cmd.Stdout, c.cmd.Stderr = c.stdout, c.stderr
	c.cmd.WaitDelay = 10 * time.Second
	require.NoError(t, c.cmd.Start())
	go func() {
		_ = c.cmd.Wait() // the exit code tells
		c.stdout.end()
		c.stderr.end()
		close(c.exited)
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Signal(syscall.SIGTERM)
		<-c.exited
		cancel()
		if t.Failed() {
			t.Logf("%s %s wrote:\n%s%s", filepath.Base(binary), strings.Join(args, " "), c.stdout, c.stderr)
		}
	})
	return c
}

// run runs the binary to its end.
func run(t testing.TB, env []string, args ...string) *command {
	t.Helper()
	c := start(t, env, args...)
	c.wait(t)
	return c
}

func (c *command) wait(t testing.TB) {
	t.Helper()
	<-c.exited
	require.NotEqual(t, -1, c.code(), "ended by a signal:\n%s", c.stderr)
}

func (c *command) code() int { return c.cmd.ProcessState.ExitCode() }

// stop asks the process to end and holds it to a clean end.
func (c *command) stop(t testing.TB, signal syscall.Signal) {
	t.Helper()
	require.NoError(t, c.cmd.Process.Signal(signal))
	c.wait(t)
	require.Equal(t, 0, c.code(), "%s", c.stderr)
}

// refused holds a process to an exit code and to a message on standard error alone.
func (c *command) refused(t testing.TB, code int, message string) {
	t.Helper()
	require.Equal(t, code, c.code(), "%s", c.stderr)
	require.Equal(t, message, c.stderr.String())
	require.Empty(t, c.stdout.String())
}

var listening = regexp.MustCompile(`msg=listening url=(\S+)|INF listening url=(\S+)`)

// urls waits until the process has said n times where it listens.
func (c *command) urls(t testing.TB, n int) []string {
	t.Helper()
	var found []string
	require.NoError(t, c.stderr.await(func(text string) bool {
		found = nil
		for _, m := range listening.FindAllStringSubmatch(text, -1) {
			found = append(found, m[1]+m[2])
		}
		return len(found) >= n
	}), "%s", c.stderr)
	return found
}

// watched collects output and wakes those who wait for some of it.
type watched struct {
	mu    sync.Mutex
	text  strings.Builder
	ended bool
	more  *sync.Cond
}

func newWatched() *watched {
	w := &watched{}
	w.more = sync.NewCond(&w.mu)
	return w
}

// Write implements io.Writer.
func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.more.Broadcast()
	return w.text.Write(p)
}

func (w *watched) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.more.Broadcast()
}

// String is what was written so far.
func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// await returns once done is content with what was written; an error when the process ended before.
func (w *watched) await(done func(text string) bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !done(w.text.String()) {
		if w.ended {
			return errors.New("the process ended before")
		}
		w.more.Wait()
	}
	return nil
}

var _ io.Writer = (*watched)(nil)

// write puts a file into a folder of the test's own.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// need sees to it that this machine has a program; where it is missing, root gets it installed and anybody
// else is told the command that does.
func need(t *testing.T, piece string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "scripts/need.sh", piece)
	cmd.Dir = filepath.Join("..", "..")
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
}

// shell runs lines as people paste them into a terminal, with the binary on the PATH, and gives what they
// print.
func shell(t *testing.T, env []string, lines string) string {
	t.Helper()
	need(t, "curl")
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", lines)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{"PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH")}, env...)
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	return string(said)
}
