package main_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

func TestRunsAreForecastStartedAndRead(t *testing.T) {
	t.Parallel()
	s := newSession(t, apptest.Options{})
	for _, order := range []string{"O-1", "O-2", "O-9"} {
		s.world.File(t, shipped(order), nil)
	}
	s.say("runs", "start")
	s.say("runs", "start", "--reason", "other", "--yes")
	s.say("runs", "start", "--reason", "transient_exhausted", "--dry-run")
	s.say("runs", "start", "--reason", "transient_exhausted")
	s.say("runs", "start", "--reason", "transient_exhausted", "--by", "ann", "--note", "after the outage", "--yes", "--watch")
	s.say("runs", "list")
	c := run(t, s.env, "runs", "list", "--json")
	var list struct{ Runs []struct{ ID string } }
	require.NoError(t, json.Unmarshal([]byte(c.stdout.String()), &list))
	s.names["run"] = list.Runs[0].ID
	s.say("runs", "show", "{run}")
	s.say("runs", "watch", "{run}")
	s.say("runs", "cancel", "{run}")
	s.say("runs", "watch", "01900000-0000-7000-8000-000000000000")
	s.say("bases", "list")
	s.say("runs", "start", "--outcome", "Replay Failed", "--yes", "--watch")
	s.say("runs", "show", "{run}")
	s.golden("runs")

	dir := t.TempDir()
	saved := filepath.Join(dir, "evidence.csv")
	require.Equal(t, 0, run(t, s.env, "runs", "evidence", s.names["run"], "--format", "csv", "-o", saved).code())
	text, err := os.ReadFile(saved)
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	require.NoError(t, err)
	require.Greater(t, len(rows), 3)
	again := run(t, s.env, "runs", "evidence", s.names["run"], "-o", saved)
	again.refused(t, 2, "airtable-replay: --output: "+saved+" exists\n")
	require.True(t, json.Valid([]byte(run(t, s.env, "runs", "evidence", s.names["run"]).stdout.String())))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestRunsAreCancelledAndWatchedToTheirEnd(t *testing.T) {
	t.Parallel()
	s := newSession(t, apptest.Options{NoStart: true})
	s.world.File(t, shipped("O-1"), nil)
	c := run(t, s.env, "runs", "start", "--source", "order-system", "--yes", "--json")
	require.Equal(t, 0, c.code(), "%s", c.stderr)
	var started struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(c.stdout.String()), &started))

	left := start(t, s.env, "runs", "watch", started.ID)
	require.NoError(t, left.stderr.await(func(text string) bool { return strings.Contains(text, "0 of 1") }))
	require.NoError(t, left.cmd.Process.Signal(syscall.SIGINT))
	left.wait(t)
	require.Equal(t, 1, left.code())
	require.Contains(t, left.stderr.String(), "interrupted; the service goes on with what it has accepted\n")

	watching := start(t, s.env, "runs", "watch", started.ID)
	require.NoError(t, watching.stderr.await(func(text string) bool { return strings.Contains(text, "0 of 1") }))
	require.Equal(t, 0, run(t, s.env, "runs", "cancel", started.ID, "--reason", "wrong selector").code())
	watching.wait(t)
	require.Equal(t, 1, watching.code())
	require.Contains(t, watching.stderr.String(), "airtable-replay: the run is cancelled\n")
	require.Contains(t, watching.stdout.String(), "released  1\n")
}

func TestBasesAreHaltedAndResumed(t *testing.T) {
	t.Parallel()
	s := newSession(t, apptest.Options{NoStart: true})
	s.names["one"] = s.world.File(t, shipped("O-1"), nil)
	s.say("bases", "halt", "orders")
	s.say("entries", "replay", "{one}")
	s.say("entries", "show", "{one}")
	s.say("bases", "halt", "orders", "--reason", "moving the table", "--yes")
	s.say("entries", "show", "{one}")
	s.say("entries", "replay", "{one}")
	s.say("bases", "resume", "orders")
	s.say("bases", "halt", "elsewhere", "--yes")
	s.golden("bases")
}
