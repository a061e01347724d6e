package localpg_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"airtable-replay/internal/localpg"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// hostVariable makes the test program a host: it starts a server in the folder
// that the variable names, or in a temporary one, prints its URL and temporary
// folder, and stops it at the end of its input.
const hostVariable = "LOCALPG_TEST_HOST_DIR"

func TestMain(m *testing.M) {
	if dir, ok := os.LookupEnv(hostVariable); ok {
		if err := host(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func host(dir string) error {
	s, err := localpg.Start(context.Background(), localpg.Config{Dir: dir, Fast: true})
	if err != nil {
		return err
	}
	fmt.Println(s.URL(), s.TempDir())
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return s.Stop()
}

// hostProcess is a host in a process of its own.
type hostProcess struct {
	cmd   *exec.Cmd
	stdin io.Closer
	url   string
	temp  string
}

// startHost runs a host whose data is in dir, as credential when there is one.
func startHost(t *testing.T, dir string, credential *syscall.Credential) *hostProcess {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), sharedBinary(t))
	cmd.Env = []string{hostVariable + "=" + dir, "PATH=" + os.Getenv("PATH")}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		require.FailNow(t, "host did not start", stderr.String())
	}
	address, temp, _ := strings.Cut(strings.TrimSpace(line), " ")
	return &hostProcess{cmd: cmd, stdin: stdin, url: address, temp: temp}
}

// sharedBinary copies this test program to where every user may run it.
func sharedBinary(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	program, err := os.ReadFile(self)
	require.NoError(t, err)
	copied := filepath.Join(openDir(t), "host")
	require.NoError(t, os.WriteFile(copied, program, 0o755))
	return copied
}

// openDir is t.TempDir for a folder that every user may enter.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "localpg-test-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}
