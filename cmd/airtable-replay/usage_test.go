package main_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersionIsPrinted(t *testing.T) {
	t.Parallel()
	c := run(t, nil, "version")
	require.Equal(t, 0, c.code())
	require.Equal(t, "v0.0.0-test\n", c.stdout.String())
	require.Equal(t, "v0.0.0-test\n", run(t, nil, "--version").stdout.String())
}

func TestHelpIsAlsoAWord(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{{}, {"runs", "start"}} {
		c := run(t, nil, append([]string{"help"}, words...)...)
		require.Equal(t, 0, c.code())
		require.Equal(t, run(t, nil, append(words, "--help")...).stdout.String(), c.stdout.String())
	}
}

func TestEveryCommandHelps(t *testing.T) {
	t.Parallel()
	commands := [][]string{
		{"demo"}, {"serve"}, {"migrate", "up"}, {"migrate", "down"}, {"migrate", "status"},
		{"token", "create"}, {"token", "list"}, {"token", "revoke"}, {"sandbox"}, {"version"}, {"doctor"}, {"setup"}, {"completion"},
		{"entries", "list"}, {"entries", "show"}, {"entries", "history"}, {"entries", "preview"}, {"entries", "replay"}, {"entries", "summary"},
		{"entries", "ignore"}, {"entries", "reopen"}, {"entries", "reset"}, {"entries", "assign"}, {"entries", "edit"}, {"entries", "payloads"},
		{"entries", "file"}, {"entries", "restore"}, {"entries", "stuck", "list"}, {"entries", "stuck", "reset"},
		{"runs", "start"}, {"runs", "list"}, {"runs", "show"}, {"runs", "watch"}, {"runs", "cancel"}, {"runs", "evidence"},
		{"bases", "list"}, {"bases", "halt"}, {"bases", "resume"},
	}
	overview := run(t, nil, "--help")
	require.Equal(t, 0, overview.code())
	for _, command := range commands {
		require.Contains(t, overview.stdout.String(), "\n  "+strings.Join(command, " ")+" ")
		c := run(t, nil, append(command, "--help")...)
		require.Equal(t, 0, c.code())
		require.Contains(t, c.stdout.String(), "airtable-replay "+strings.Join(command, " "))
		if command[0] != "version" {
			require.Contains(t, c.stdout.String(), "Example", command)
		}
	}
	for line := range strings.Lines(overview.stdout.String()) {
		require.LessOrEqual(t, len(line), 100+1, line)
	}
}

func TestWrongUsageIsRefused(t *testing.T) {
	t.Parallel()
	database := []string{"DATABASE_URL=postgres://replay:hidden@127.0.0.1:1/replay"}
	for _, c := range []struct {
		name string
		env  []string
		args string
		want string
	}{
		{"no command", nil, "", "expected one of \"demo\", \"serve\", \"migrate\", \"token\", \"sandbox\", ...\n  See airtable-replay --help"},
		{"unknown flag", nil, "serve --sleep", "unknown flag --sleep\n  See airtable-replay serve --help"},
		{"nothing named", nil, "serve", "serve: the configuration file is not named: use --config FILE or AIRTABLE_REPLAY_CONFIG\n" +
			"  the database is not named: set DATABASE_URL, such as postgres://user:password@host:5432/name\n  See airtable-replay serve --help"},
		{"bad database", []string{"DATABASE_URL=nothing://a:hidden@b"}, "token list",
			"token list: read DATABASE_URL: cannot parse `nothing://a:xxxxxx@b`: failed to parse as keyword/value (invalid keyword/value)\n  See airtable-replay token list --help"},
		{"no file", database, "serve --config nowhere.yaml", "there is no configuration file nowhere.yaml: name it with --config or AIRTABLE_REPLAY_CONFIG"},
		{"bad numbers", database, "serve --config a --workers=-1 --grace 0s --listen 8080 --metrics-listen x",
			"serve: --listen: \"8080\" is no address such as 127.0.0.1:8080 or :8080\n  --metrics-listen: \"x\" is no address such as 127.0.0.1:8080 or :8080\n" +
				"  --workers: -1 is not between 0 and 1000\n  --grace: 0s is not longer than 0s\n  See airtable-replay serve --help"},
		{"log level", []string{"LOG_LEVEL=loud"}, "version", "LOG_LEVEL is \"loud\"; it must be debug, info, warn or error"},
		{"log format", nil, "version --log-format xml", "LOG_FORMAT is \"xml\"; it must be text or json"},
		{"no confirmation", database, "migrate down",
			"migrate down: this deletes every entry, payload, history and token for good: add --yes if you mean it\n  See airtable-replay migrate down --help"},
		{"no scope", database, "token create a", "missing flags: --scope=SCOPE,...\n  See airtable-replay token create --help"},
		{"unknown scope", database, "token create a --scope read,all",
			"token create: --scope: \"all\" is none of read, write, replay, admin\n  See airtable-replay token create --help"},
		{"no seed", nil, "sandbox --seed nowhere.yaml", "there is no seed file nowhere.yaml"},
		{"no API token", nil, "bases list", "bases list: no API token is named: set AIRTABLE_REPLAY_TOKEN (airtable-replay token create makes one)\n  See airtable-replay bases list --help"},
		{"bad address", []string{"AIRTABLE_REPLAY_TOKEN=a", "AIRTABLE_REPLAY_URL=replay.example"}, "bases list",
			"bases list: --url: \"replay.example\" is no address such as https://replay.example\n  See airtable-replay bases list --help"},
		{"address without a scheme", []string{"AIRTABLE_REPLAY_TOKEN=a", "AIRTABLE_REPLAY_URL=127.0.0.1:8080"}, "bases list",
			"bases list: --url: \"127.0.0.1:8080\" lacks the beginning: say http://127.0.0.1:8080, or https://127.0.0.1:8080\n  See airtable-replay bases list --help"},
		{"page too long", []string{"AIRTABLE_REPLAY_TOKEN=a"}, "entries list --limit 9999", "entries list: --limit: 9999 is not between 1 and 200\n  See airtable-replay entries list --help"},
		{"page of runs too long", []string{"AIRTABLE_REPLAY_TOKEN=a"}, "runs list --limit 0", "runs list: --limit: 0 is not between 1 and 200\n  See airtable-replay runs list --help"},
		{"no selector", []string{"AIRTABLE_REPLAY_TOKEN=a"}, "runs start", "runs start: say which entries: --reason, --outcome, --source, --target, --run, --owner, --from, --to or --id\n  See airtable-replay runs start --help"},
		{"fields of no mode", []string{"AIRTABLE_REPLAY_TOKEN=a"}, "entries replay x --field Status", "entries replay: --field: needed with --mode chosen_fields, and only there\n  See airtable-replay entries replay --help"},
		{"no reason", []string{"AIRTABLE_REPLAY_TOKEN=a"}, "entries replay x --mode overwrite --expect Status=Shipped",
			"entries replay: --expect: \"Status=Shipped\" is not FIELD=JSON, such as 'Status=\"Pending\"' or 'Note=null'\n  --reason: needed with --mode overwrite\n  See airtable-replay entries replay --help"},
		{"unknown status", []string{"AIRTABLE_REPLAY_TOKEN=a"}, "entries list --status open",
			"--status must be one of \"pending_review\",\"replaying\",\"resolved\",\"ignored\" but got \"open\"\n  See airtable-replay entries list --help"},
		{"negative rate", nil, "sandbox --seed a --rate=-1 --penalty=-1s",
			"sandbox: --rate: -1 is less than 0\n  --penalty: -1s is less than 0s\n  See airtable-replay sandbox --help"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run(t, c.env, strings.Fields(c.args)...).refused(t, 2, "airtable-replay: "+c.want+"\n")
		})
	}
}

func TestUnreachableDatabaseIsOneSentence(t *testing.T) {
	t.Parallel()
	c := run(t, []string{"DATABASE_URL=postgres://replay:hidden@127.0.0.1:1/replay"}, "token", "list")
	c.refused(t, 1, "airtable-replay: connect to database: dial tcp 127.0.0.1:1: connect: connection refused\n")
}
