package localpg

import (
	"errors"
	"fmt"
	"os"
	osuser "os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is who PostgreSQL runs as. PostgreSQL refuses to run as root, so root
// lends it another account; everybody else runs it as themselves.
type account struct {
	name       string
	uid, gid   int
	credential *syscall.Credential // nil: run as the present user
}

func unprivilegedAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{name: "the present user", uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := osuser.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(found.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(found.Gid, 10, 32)
		if errUID != nil || errGID != nil || uid == 0 {
			continue
		}
		return account{
			name: name, uid: int(uid), gid: int(gid),
			credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)},
		}, nil
	}
	return account{}, errors.New("PostgreSQL does not run as root and this machine has neither a user postgres nor nobody to run it as: run as an ordinary user, or set DATABASE_URL")
}

// own gives path to the account, so that the server can write there.
func (a account) own(path string) error {
	if a.credential == nil {
		return nil
	}
	if err := os.Chown(path, a.uid, a.gid); err != nil {
		return fmt.Errorf("folder handover to user %s: %w", a.name, err)
	}
	return nil
}

// tempDir makes a folder that the account owns, below the system's temporary
// folder or, where root's is private, below /tmp.
func (a account) tempDir() (string, error) {
	parent := os.TempDir()
	if a.barrier(parent) != "" {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "airtable-replay-postgres-")
	if err != nil {
		return "", fmt.Errorf("temporary folder: %w", err)
	}
	return dir, a.own(dir)
}

// barrier names the first folder on the way to path, itself included, that the
// account may not enter, or is empty. Folders yet to be made are no barrier.
func (a account) barrier(path string) string {
	if a.credential == nil {
		return ""
	}
	if parent := filepath.Dir(path); parent != path {
		if closed := a.barrier(parent); closed != "" {
			return closed
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	enter := os.FileMode(0o001)
	switch {
	case int(owner.Uid) == a.uid:
		enter = 0o100
	case int(owner.Gid) == a.gid:
		enter = 0o010
	}
	if info.Mode().Perm()&enter == 0 {
		return path
	}
	return ""
}
