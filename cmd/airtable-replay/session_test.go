package main_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// session is a person at the command line, whose commands and answers are kept.
type session struct {
	t     *testing.T
	world *apptest.World
	env   []string
	names map[string]string // what stands for an ID in the commands
	text  strings.Builder
}

func newSession(t *testing.T, o apptest.Options) *session {
	t.Helper()
	w := apptest.New(t, o)
	return &session{t: t, world: w, names: map[string]string{}, env: []string{
		"AIRTABLE_REPLAY_URL=" + w.URLs[0], "AIRTABLE_REPLAY_TOKEN=" + w.Token, "COLUMNS=100",
	}}
}

// say runs a command and keeps it with its answer and its exit code; {name} stands for an ID.
func (s *session) say(words ...string) *command {
	s.t.Helper()
	args := make([]string, len(words))
	shown := make([]string, len(words))
	for i, word := range words {
		args[i] = word
		for name, id := range s.names {
			args[i] = strings.ReplaceAll(args[i], "{"+name+"}", id)
		}
		if shown[i] = word; strings.ContainsAny(word, " \"'") || word == "" {
			shown[i] = "'" + word + "'"
		}
	}
	c := run(s.t, s.env, args...)
	fmt.Fprintf(&s.text, "$ airtable-replay %s\n%s", strings.Join(shown, " "), c.stdout)
	for line := range strings.Lines(c.stderr.String()) {
		s.text.WriteString("! " + line)
	}
	if c.code() != 0 {
		fmt.Fprintf(&s.text, "exit code %d\n", c.code())
	}
	s.text.WriteString("\n")
	return c
}

var (
	anID      = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	anInstant = regexp.MustCompile(`(20\d\d-\d\d-\d\d)([ T]\d\d:\d\d(:\d\d)?)?`)
	aStep     = regexp.MustCompile(`(?m)^! (queued|running): .*\n`) // how many there are depends on the moment
	aCursor   = regexp.MustCompile(`--cursor \S+`)
)

// golden holds what was said to the file of that name. IDs are numbered as they appear, and the times of
// today are taken out; widths stay.
func (s *session) golden(name string) {
	s.t.Helper()
	numbers := map[string]string{}
	text := anID.ReplaceAllStringFunc(s.text.String(), func(id string) string {
		if numbers[id] == "" {
			numbers[id] = fmt.Sprintf("00000000-0000-7000-8000-%012d", len(numbers)+1)
		}
		return numbers[id]
	})
	text = anInstant.ReplaceAllStringFunc(text, func(at string) string {
		day, err := time.Parse(time.DateOnly, at[:len(time.DateOnly)])
		if err != nil || time.Since(day).Abs() > 48*time.Hour {
			return at
		}
		return regexp.MustCompile(`\d`).ReplaceAllString(at, "0")
	})
	text = aStep.ReplaceAllString(text, "")
	text = aCursor.ReplaceAllString(text, "--cursor CURSOR")
	text = strings.ReplaceAll(text, s.world.URLs[0], "SERVICE")
	requireGolden(s.t, name, strings.ReplaceAll(text, s.world.SandboxURL, "SANDBOX"))
}

func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o700))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(string(want), got))
}
