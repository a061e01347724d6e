package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	pageLink = regexp.MustCompile(`\]\(([^)#:]+)\)`)
	// repositoryPath is a path of this repository: below one of its folders, or a page beside the README.
	repositoryPath = regexp.MustCompile(`^((cmd|internal|api|web|migrations|scripts)/[\w./-]+|[A-Z]+\.md|Makefile|Dockerfile|compose\.yaml)$`)
)

// Pages name files all over the repository; none may name one that is not there.
func TestPagesNameFilesThatExist(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	named := 0
	for _, page := range []string{"README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		require.NoError(t, err)
		for _, m := range append(codeSpan.FindAllStringSubmatch(string(text), -1), pageLink.FindAllStringSubmatch(string(text), -1)...) {
			if repositoryPath.MatchString(m[1]) {
				_, err := os.Stat(filepath.Join(root, strings.TrimSuffix(m[1], "/")))
				require.NoError(t, err, "%s names %s", page, m[1])
				named++
			}
		}
	}
	require.Greater(t, named, 20)
}
