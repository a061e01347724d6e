package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// terminal is a process of the binary at a terminal of its own, as a person has it.
type terminal struct {
	screen *watched // all that was written to the terminal
	keys   *os.File
	cmd    *exec.Cmd
	done   chan struct{}
}

// openTerminal makes a terminal of so many columns.
func openTerminal(t *testing.T, columns uint16) (keys, screen *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	fd := int(keys.Fd())
	require.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: columns}))
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	return keys, screen
}

// at starts the binary at a terminal.
func at(t *testing.T, columns uint16, env []string, args ...string) *terminal {
	t.Helper()
	keys, screen := openTerminal(t, columns)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	c := &terminal{screen: newWatched(), keys: keys, cmd: exec.CommandContext(ctx, binary, args...), done: make(chan struct{})}
	c.cmd.Dir, c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = t.TempDir(), screen, screen, screen
	c.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME")}, env...)
	require.NoError(t, c.cmd.Start())
	require.NoError(t, screen.Close())
	go func() {
		_, err := io.Copy(c.screen, keys) // ends with an error once nobody has the terminal open
		if err != nil && !errors.Is(err, syscall.EIO) {
			fmt.Fprintln(os.Stderr, "read terminal:", err)
		}
		c.screen.end()
		_ = c.cmd.Wait() // the exit code tells
		close(c.done)
	}()
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		<-c.done
		_ = keys.Close()
		cancel()
	})
	return c
}

// sees waits until something stands on the terminal.
func (c *terminal) sees(t *testing.T, what string) {
	t.Helper()
	require.NoError(t, c.screen.await(func(text string) bool { return strings.Contains(text, what) }), "%q in\n%s", what, c.screen)
}

// types presses keys.
func (c *terminal) types(t *testing.T, keys string) {
	t.Helper()
	_, err := io.WriteString(c.keys, keys)
	require.NoError(t, err)
}

func (c *terminal) ends(t *testing.T, code int) string {
	t.Helper()
	<-c.done
	require.Equal(t, code, c.cmd.ProcessState.ExitCode(), "%s", c.screen)
	return c.screen.String()
}

func TestTerminalAsksBeforeARun(t *testing.T) {
	t.Parallel()
	s := newSession(t, apptest.Options{})
	id := s.world.File(t, shipped("O-1"), nil)
	no := at(t, 100, s.env, "runs", "start", "--id", id)
	no.sees(t, "Start the run? [y/N] ")
	no.types(t, "\n")
	require.Contains(t, no.ends(t, 1), "airtable-replay: nothing was changed")
	require.Equal(t, "pending_review", s.world.Entry(t, id)["status"])

	left := at(t, 100, s.env, "runs", "start", "--id", id)
	left.sees(t, "Start the run? [y/N] ")
	require.NoError(t, left.cmd.Process.Signal(syscall.SIGINT))
	require.Contains(t, left.ends(t, 1), "airtable-replay: nothing was changed")
	require.Equal(t, "pending_review", s.world.Entry(t, id)["status"])

	yes := at(t, 100, s.env, "runs", "start", "--id", id, "--watch")
	yes.sees(t, "A run would claim 1 entry about 1 record: 0 created, 1 updated.")
	yes.sees(t, "Start the run? [y/N] ")
	yes.types(t, "y\n")
	require.Contains(t, yes.ends(t, 0), "replayed  1\r\n")
	require.Equal(t, "resolved", s.world.Entry(t, id)["status"])
}

func TestTerminalShowsABarThatFits(t *testing.T) {
	t.Parallel()
	s := newSession(t, apptest.Options{NoStart: true})
	for _, order := range []string{"O-1", "O-2", "O-3"} {
		s.world.File(t, shipped(order), nil)
	}
	c := run(t, s.env, "runs", "start", "--source", "order-system", "--yes", "--json")
	var started struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(c.stdout.String()), &started))
	watching := at(t, 50, s.env, "runs", "watch", started.ID)
	watching.sees(t, "\r\x1b[K"+strings.Repeat("░", 24)+" 0/3")
	s.world.Start(t, 0)
	screen := watching.ends(t, 0)
	require.Contains(t, screen, strings.Repeat("█", 24)+" 3/3")
	drawn := strings.Split(screen, "\r\x1b[K")
	for _, line := range drawn[:len(drawn)-1] {
		require.Less(t, len([]rune(line)), 50, line)
	}
	require.True(t, strings.HasPrefix(drawn[len(drawn)-1], started.ID), "the bar is taken back before the totals")
}

// What is to be forced is shown first, and pressed with the values that were seen (R11).
func TestTerminalShowsWhatWouldBeWrittenOver(t *testing.T) {
	t.Parallel()
	s := newSession(t, apptest.Options{})
	id := s.world.File(t, shipped("O-1"), nil)
	s.world.Hand(t, "Orders", "recOrd00000000001", apptest.Failed.Add(3600e9), apptest.Doc{"Delivery Date": "2026-10-09"})
	c := at(t, 100, s.env, "entries", "replay", id, "--mode", "overwrite", "--reason", "agreed", "--wait")
	c.sees(t, "2026-10-09")
	c.sees(t, "Write over the current values? [y/N] ")
	c.types(t, "yes\n")
	require.Contains(t, c.ends(t, 0), "Delivery Date  2026-10-09  2026-10-05")
	require.Equal(t, "2026-10-05", s.world.OrderCells(t, "O-1")["Delivery Date"])
}

func TestTerminalHasItsOwnWidth(t *testing.T) {
	t.Parallel()
	s := newSession(t, apptest.Options{NoStart: true})
	s.world.File(t, shipped(strings.Repeat("長い注文", 20)), nil)
	for _, columns := range []uint16{62, 80, 120} {
		c := at(t, columns, s.env, "entries", "list")
		for line := range strings.Lines(c.ends(t, 0)) {
			wide := 0
			for _, r := range strings.TrimRight(line, "\r\n") {
				if wide++; r > 0x3000 {
					wide++
				}
			}
			require.LessOrEqual(t, wide, int(columns), line)
		}
	}
}
