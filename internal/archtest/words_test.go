package archtest_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rule is a word that the project must not hold, and why.
type rule struct {
	word *regexp.Regexp
	why  string
}

// registries are the hosts of package registries and mirrors, by their labels,
// so that this file does not hold the names that it forbids.
var registries = [][]string{
	{"registry", "npmjs", "org"}, {"proxy", "golang", "org"}, {"sum", "golang", "org"},
	{"deb", "debian", "org"}, {"security", "debian", "org"}, {"repo1", "maven", "org"},
	{"pypi", "org"}, {"gcr", "io"}, {"ghcr", "io"}, {"docker", "io"},
}

// forbidden words tie the project to one machine, to one mirror, or to papers
// that are not part of it.
var forbidden = func() []rule {
	rules := []rule{
		{folderOf("work", "root", "home", "Users"), "names a folder of one machine: use a relative path"},
		{regexp.MustCompile(`(?i)\b(mission|contract|cases|style|brief)` + `\.md`), "names a paper outside the project: cite the requirement's number"},
	}
	for _, labels := range registries {
		host := regexp.MustCompile(`(?i)\b` + strings.Join(labels, `\.`) + `\b`)
		rules = append(rules, rule{host, "names a package registry: leave that to the machine's settings"})
	}
	return rules
}()

func folderOf(names ...string) *regexp.Regexp {
	return regexp.MustCompile(`(^|[\s"'=(:` + "`" + `])/(` + strings.Join(names, "|") + `)(/|$|[\s"'])`)
}

func TestForbiddenWords(t *testing.T) {
	t.Parallel()
	var breaches []string
	for _, name := range trackedFiles(t) {
		content, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and the removal not committed yet
		}
		require.NoError(t, err)
		breaches = append(breaches, forbiddenWords(name, content)...)
	}
	requireKept(t, breaches)
}

func TestWordRulesFindBreaches(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"see /" + "work/main":               "names a folder",
		"cd /" + "root":                     "names a folder",
		`"/` + `home/somebody/x"`:           "names a folder",
		"https://registry." + "npmjs.org/a": "names a package registry",
		"FROM g" + "cr.io/distroless":       "names a package registry",
		"as mission" + ".md says":           "names a paper",
		"https://example.test/" + "work/1":  "",
		"the framework/root of it":          "",
		"mission C3":                        "",
		"\x00 binary /" + "work/main":       "",
	} {
		requireFound(t, text, want, forbiddenWords("a.txt", []byte("fine\n"+text+"\n")))
	}
}

// forbiddenWords judges a text file; files with NUL bytes are no text.
func forbiddenWords(name string, content []byte) []string {
	if bytes.IndexByte(content, 0) >= 0 {
		return nil
	}
	var breaches []string
	for _, rule := range forbidden {
		if at := rule.word.FindIndex(content); at != nil {
			line := 1 + bytes.Count(content[:at[0]], []byte("\n"))
			breaches = append(breaches, fmt.Sprintf("%s:%d: %s", name, line, rule.why))
		}
	}
	return breaches
}

// trackedFiles lists what the repository holds.
func trackedFiles(t *testing.T) []string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, ".git")); os.IsNotExist(err) {
		t.Skip("not a clone of the repository, so nothing tells its files from others")
	}
	// The clone may belong to another user than the one who tests it.
	cmd := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "ls-files", "-z")
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	names := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	require.NotEmpty(t, names)
	return names
}
