package main_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"airtable-replay/internal/store/storetest"

	"github.com/stretchr/testify/require"
)

// surgery is the demo's base and configuration, for doctor and setup.
func surgery(t *testing.T) (sandboxURL string, env []string) {
	t.Helper()
	url := demoSandbox(t)
	db := storetest.NewDB(t)
	return url, []string{"DATABASE_URL=" + db.URL, "AIRTABLE_REPLAY_CONFIG=" + serviceConfig(t, url), "SECRET_TOKEN=" + airtableSecret, "COLUMNS=100"}
}

var aUser = regexp.MustCompile(`usr\w{14}`)

func (c *command) told(t *testing.T, name string) {
	t.Helper()
	var text bytes.Buffer
	text.WriteString(aUser.ReplaceAllString(c.stdout.String(), "USER"))
	for line := range strings.Lines(c.stderr.String()) {
		text.WriteString("! " + line)
	}
	requireGolden(t, name, text.String())
}

func TestDoctorTellsWhatToMend(t *testing.T) {
	t.Parallel()
	url, env := surgery(t)
	c := run(t, env, "doctor")
	require.Equal(t, 0, c.code(), "a warning is no failure")
	c.told(t, "doctor")

	control := func(path string, body map[string]any) {
		status, said := call(t, "POST", url+"/_sandbox/"+path, "", body)
		require.Equal(t, 200, status, said)
	}
	control("fields", map[string]any{"base": "appOrdersSandbox01", "table": "Orders", "field": "Delivery Date Changed At", "delete": true})
	control("fields", map[string]any{"base": "appOrdersSandbox01", "table": "Dead Letter Queue", "field": "Replay Notes", "rename_to": "Notes"})
	c = run(t, env, "doctor")
	require.Equal(t, 1, c.code())
	c.told(t, "doctor-faults")
	var report struct {
		Findings []struct{ Area, Subject, Level, Detail, Fix string }
	}
	c = run(t, env, "doctor", "--json", "--all-records")
	require.Equal(t, 1, c.code())
	require.NoError(t, json.Unmarshal([]byte(c.stdout.String()), &report))
	require.Contains(t, c.stdout.String(), `"level": "fault"`)

	control("tokens", map[string]any{"token": airtableSecret, "state": "revoked"})
	c = run(t, env[1:], "doctor")
	require.Equal(t, 1, c.code())
	require.Contains(t, c.stdout.String(), "fault    token orders: is refused by Airtable: ")
	require.Contains(t, c.stdout.String(), "warning  database: no database is named")
	require.NotContains(t, c.stdout.String(), airtableSecret)

	c = run(t, env[1:], "setup", "--dry-run")
	require.Equal(t, 1, c.code(), "what could not be looked at is not in order")
	require.Contains(t, c.stdout.String(), "could not look at the base orders: what it lacks is not known\n")
	require.NotContains(t, c.stdout.String(), "nothing to add")
	require.Equal(t, "airtable-replay: the tables of orders could not be checked\n", c.stderr.String())
}

func TestDoctorTellsOfTheDatabase(t *testing.T) {
	t.Parallel()
	_, env := surgery(t)
	c := run(t, append(env[1:], "DATABASE_URL=postgres://replay:hidden@127.0.0.1:1/replay"), "doctor")
	require.Equal(t, 1, c.code())
	require.Contains(t, c.stdout.String(), "fault    database: connect to database: dial tcp 127.0.0.1:1: connect: connection refused\n")
	c = run(t, append(env[1:], emptyDatabase(t)), "doctor")
	require.Equal(t, 1, c.code())
	require.Contains(t, c.stdout.String(), "         -> run airtable-replay migrate up\n")
	run(t, append(env[1:], emptyDatabase(t)), "setup").refused(t, 1, "airtable-replay: the database is not migrated: run airtable-replay migrate up, or serve --migrate\n"+
		"  nothing was added: mend that first, or run setup without DATABASE_URL\n")
	c = run(t, nil, "doctor", "--config", "nowhere.yaml")
	require.Equal(t, 2, c.code())
}

func TestSetupAddsFields(t *testing.T) {
	t.Parallel()
	url, env := surgery(t)
	for _, field := range []string{"Replay Notes", "Attempts"} {
		status, said := call(t, "POST", url+"/_sandbox/fields", "", map[string]any{"base": "appOrdersSandbox01", "table": "Dead Letter Queue", "field": field, "delete": true})
		require.Equal(t, 200, status, said)
	}
	status, said := call(t, "POST", url+"/_sandbox/fields", "", map[string]any{"base": "appOrdersSandbox01", "table": "Orders", "field": "Delivery Date Changed At", "delete": true})
	require.Equal(t, 200, status, said)
	c := run(t, env, "setup", "--dry-run")
	require.Equal(t, 0, c.code(), "%s", c.stderr)
	c.told(t, "setup-dry")
	c = run(t, env, "setup")
	require.Equal(t, 0, c.code(), "%s", c.stderr)
	c.told(t, "setup")
	c = run(t, env, "setup", "--json")
	require.Equal(t, 0, c.code())
	require.Contains(t, c.stdout.String(), `"additions": []`)
	require.Contains(t, c.stdout.String(), `"by_hand": [`)
}
