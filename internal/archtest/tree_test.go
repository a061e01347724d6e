package archtest_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the name of this module, as in go.mod.
const module = "airtable-replay"

// root is the module's folder, seen from this one.
var root = filepath.Join("..", "..")

// goFile is one parsed Go file.
type goFile struct {
	path      string // slash-separated, from the module's root
	lines     int
	generated bool
	test      bool
	set       *token.FileSet
	syntax    *ast.File
}

// folder is the package's path within the module.
func (f goFile) folder() string { return path.Dir(f.path) }

// at words a breach of a rule at a place in the file.
func (f goFile) at(where token.Pos, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", f.path, f.set.Position(where).Line, fmt.Sprintf(format, args...))
}

// tree is a module's Go source.
type tree []goFile

// written keeps what people wrote: the rest follows its generator's taste.
func (t tree) written() tree {
	return slices.DeleteFunc(slices.Clone(t), func(f goFile) bool { return f.generated })
}

// product keeps what people wrote and users run.
func (t tree) product() tree {
	return slices.DeleteFunc(t.written(), func(f goFile) bool { return f.test })
}

// tests keeps the test files.
func (t tree) tests() tree {
	return slices.DeleteFunc(t.written(), func(f goFile) bool { return !f.test })
}

// packages groups the files by folder.
func (t tree) packages() map[string]tree {
	grouped := map[string]tree{}
	for _, f := range t {
		grouped[f.folder()] = append(grouped[f.folder()], f)
	}
	return grouped
}

// parse reads one Go file of a tree.
func parse(name string, source []byte) (goFile, error) {
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return goFile{}, err
	}
	return goFile{
		path:      name,
		lines:     bytes.Count(source, []byte("\n")),
		generated: ast.IsGenerated(syntax),
		test:      strings.HasSuffix(name, "_test.go"),
		set:       set,
		syntax:    syntax,
	}, nil
}

// ourTree is this module as it stands.
var ourTree = sync.OnceValues(func() (tree, error) {
	var t tree
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && skipped(entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f, err := parse(filepath.ToSlash(relative), source)
		t = append(t, f)
		return err
	})
	return t, err
})

// skipped tells which folders hold no source of the module.
func skipped(folder string) bool {
	return folder == "testdata" || folder == "node_modules" || strings.HasPrefix(folder, ".") || strings.HasPrefix(folder, "_")
}

// ours is the module's tree, which must hold something to judge.
func ours(t *testing.T) tree {
	t.Helper()
	loaded, err := ourTree()
	require.NoError(t, err)
	require.NotEmpty(t, loaded)
	return loaded
}

// sample makes a tree of one file.
func sample(t *testing.T, name, source string) tree {
	t.Helper()
	f, err := parse(name, []byte(source))
	require.NoError(t, err)
	return tree{f}
}

// requireKept fails with every breach of a rule, a line each.
func requireKept(t *testing.T, breaches []string) {
	t.Helper()
	slices.Sort(breaches)
	require.Empty(t, breaches, "\n"+strings.Join(breaches, "\n"))
}

// requireFound shows that a rule finds a breach, worded with want, in a sample;
// where want is empty the rule must be content.
func requireFound(t *testing.T, name, want string, breaches []string) {
	t.Helper()
	if want == "" {
		require.Empty(t, breaches, name)
		return
	}
	require.Len(t, breaches, 1, name)
	require.Contains(t, breaches[0], want, name)
}
