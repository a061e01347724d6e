package localpg

import (
	"context"
	"syscall"
	"time"
)

// Search looks for PostgreSQL in the given places alone, as the account that
// would run it, and returns the folder and release found.
type Search struct{ Path, Cache, Repository string }

// Find answers with the folder of the programs and their version.
func (s Search) Find(ctx context.Context, made int) (dir, version string, err error) {
	account, err := unprivilegedAccount()
	if err != nil {
		return "", "", err
	}
	found, err := search{account: account, path: s.Path, cache: s.Cache, repository: s.Repository}.find(ctx, made)
	return found.dir, found.version, err
}

// Barrier is account.barrier for the account with the given IDs.
func Barrier(path string, uid, gid int) string {
	return account{uid: uid, gid: gid, credential: &syscall.Credential{}}.barrier(path)
}

// PID is the server's process ID.
func (s *Server) PID() int { return s.process.cmd.Process.Pid }

// TempDir is the folder that Stop removes.
func (s *Server) TempDir() string { return s.tempDir }

// SetStopBound changes how long Stop waits after each signal.
func (s *Server) SetStopBound(bound time.Duration) { s.process.bound = bound }

// EmbeddedVersion is the release that is downloaded.
const EmbeddedVersion = string(embeddedVersion)
