package localpg

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// oldestMajor is the oldest PostgreSQL release that is used when found.
const oldestMajor = 14

// folders are where distributions keep PostgreSQL off the PATH: Debian, Red
// Hat, Homebrew on Apple silicon and on Intel, Postgres.app.
var folders = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin",
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// binaries is one installation of PostgreSQL.
type binaries struct {
	dir     string // holds initdb and postgres
	version string // such as 15.8
	major   int
}

// search is where to look for PostgreSQL, and who must be able to run it.
type search struct {
	account    account
	path       string   // folders as in $PATH
	folders    []string // patterns of folders
	cache      string   // where downloaded programs are kept; empty: see cacheDir
	repository string   // where they are downloaded from; empty: the usual place
}

// find returns the installation to use: the one on the PATH, else the newest in
// the usual folders, else a downloaded one. A cluster can only be opened by the
// release that made it, so made (0: none yet) must match.
func (s search) find(ctx context.Context, made int) (binaries, error) {
	for _, b := range s.installed(ctx) {
		if made == 0 || b.major == made {
			return b, nil
		}
	}
	if made == 0 || made == embeddedMajor {
		return s.fetch(ctx)
	}
	return binaries{}, fmt.Errorf("the data folder was made by PostgreSQL %d, which is not installed: install it, or choose another folder", made)
}

// installed lists the usable installations, the preferred one first.
func (s search) installed(ctx context.Context) []binaries {
	onPath := s.usable(ctx, filepath.SplitList(s.path))
	var elsewhere []binaries
	for _, pattern := range s.folders {
		dirs, _ := filepath.Glob(pattern) // the only error is a bad pattern
		elsewhere = append(elsewhere, s.usable(ctx, dirs)...)
	}
	slices.SortStableFunc(elsewhere, func(a, b binaries) int { return cmp.Compare(b.major, a.major) })
	return append(onPath, elsewhere...)
}

// usable keeps the folders whose programs can make and run a cluster.
func (s search) usable(ctx context.Context, dirs []string) []binaries {
	var found []binaries
	for _, dir := range dirs {
		postgres, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres"))
		if err != nil {
			continue
		}
		if b, err := s.inspect(ctx, filepath.Dir(postgres)); err == nil && b.major >= oldestMajor {
			found = append(found, b)
		}
	}
	return found
}

var versionPattern = regexp.MustCompile(`\(PostgreSQL\) ((\d+)\S*)`)

// inspect asks the programs in dir for their version, as the account that will
// run them.
func (s search) inspect(ctx context.Context, dir string) (binaries, error) {
	b := binaries{dir: dir}
	for _, program := range []string{"initdb", "postgres"} {
		out, err := s.account.command(ctx, b.program(program), "--version").Output()
		if err != nil {
			return b, fmt.Errorf("%s version: %w", program, err)
		}
		match := versionPattern.FindSubmatch(out)
		if match == nil {
			return b, fmt.Errorf("%s version: none in %q", program, out)
		}
		b.version = string(match[1])
		if b.major, err = strconv.Atoi(string(match[2])); err != nil {
			return b, fmt.Errorf("%s version: %w", program, err)
		}
	}
	return b, nil
}

func (b binaries) program(name string) string { return filepath.Join(b.dir, name) }
