package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"airtable-replay/internal/store/storetest"

	"github.com/stretchr/testify/require"
)

// serviceConfig is the demo's configuration, with its secret in SECRET_TOKEN.
func serviceConfig(t *testing.T, sandboxURL string) string {
	t.Helper()
	text, err := os.ReadFile("demo/config.yaml")
	require.NoError(t, err)
	return write(t, "replay.yaml", strings.NewReplacer("${SANDBOX_URL}", sandboxURL, "${AIRTABLE_TOKEN}", "${SECRET_TOKEN}").Replace(string(text)))
}

const (
	airtableSecret = "patSandbox.full"
	nowhere        = "http://127.0.0.1:1"
)

func serveEnv(database, config string) []string {
	return []string{"DATABASE_URL=" + database, "AIRTABLE_REPLAY_CONFIG=" + config, "AIRTABLE_REPLAY_LISTEN=127.0.0.1:0", "SECRET_TOKEN=" + airtableSecret}
}

// call sends a request and reads the answer.
func call(t *testing.T, method, url, token string, body any) (int, string) {
	t.Helper()
	var text bytes.Buffer
	if body != nil {
		require.NoError(t, json.NewEncoder(&text).Encode(body))
	}
	r, err := http.NewRequestWithContext(t.Context(), method, url, &text)
	require.NoError(t, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(answer)
}

func TestServeRefusesUnmigratedDatabaseUnlessItMayMigrate(t *testing.T) {
	t.Parallel()
	database := strings.TrimPrefix(emptyDatabase(t), "DATABASE_URL=")
	env := serveEnv(database, serviceConfig(t, nowhere))
	run(t, env, "serve").refused(t, 1, "airtable-replay: the database is not migrated: run airtable-replay migrate up, or serve --migrate\n")
	c := start(t, env, "serve", "--migrate")
	status, _ := call(t, "GET", c.urls(t, 1)[0]+"/readyz", "", nil)
	require.Equal(t, http.StatusOK, status)
	c.stop(t, syscall.SIGTERM)
}

func TestServeAnswersUntilSignalled(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			db := storetest.NewDB(t)
			env := serveEnv(db.URL, serviceConfig(t, nowhere))
			created := run(t, env[:1], "token", "create", "reader", "--scope", "read")
			c := start(t, env, "serve", "--metrics-listen", "127.0.0.1:0")
			urls := c.urls(t, 2)
			metrics, api := urls[0], urls[1]

			status, _ := call(t, "GET", api+"/v1/bases", "", nil)
			require.Equal(t, http.StatusUnauthorized, status)
			status, answer := call(t, "GET", api+"/v1/bases", strings.TrimSpace(created.stdout.String()), nil)
			require.Equal(t, http.StatusOK, status)
			require.Contains(t, answer, `"orders"`)
			status, answer = call(t, "GET", metrics, "", nil)
			require.Equal(t, http.StatusOK, status)
			require.Contains(t, answer, `airtable_replay_build_info{version="v0.0.0-test"} 1`)
			status, _ = call(t, "GET", api+"/metrics", "", nil)
			require.Equal(t, http.StatusNotFound, status)
			c.stop(t, signal)

			log := c.stderr.String()
			require.Equal(t, 1, strings.Count(log, "configuration "), "the effective configuration is logged once")
			require.Contains(t, log, "settings.bases.orders.id=appOrdersSandbox01")
			require.Contains(t, log, "stopped")
			for _, secret := range []string{airtableSecret, strings.TrimSpace(created.stdout.String()), db.URL} {
				require.NotContains(t, log, secret)
			}
		})
	}
}

func TestServeLogsJSON(t *testing.T) {
	t.Parallel()
	db := storetest.NewDB(t)
	c := start(t, append(serveEnv(db.URL, serviceConfig(t, nowhere)), "LOG_FORMAT=json"), "serve", "--workers", "0")
	require.NoError(t, c.stderr.await(func(text string) bool { return strings.Contains(text, `"msg":"configuration"`) }))
	c.stop(t, syscall.SIGTERM)
	for line := range strings.Lines(c.stderr.String()) {
		require.True(t, json.Valid([]byte(line)), line)
	}
}

func TestServeNamesEveryFaultOfItsConfiguration(t *testing.T) {
	t.Parallel()
	file := write(t, "replay.yaml", `bases:
  orders:
    id: appOrdersSandbox01
    token: patLiteral
    colour: blue
targets:
  Orders:
    base: order
    key: Order ID
`)
	c := run(t, []string{"DATABASE_URL=postgres://a:b@127.0.0.1:1/c"}, "serve", "--config", file)
	require.Equal(t, 2, c.code())
	text := c.stderr.String()
	require.Regexp(t, `^airtable-replay: \S+/replay.yaml: configuration has \d faults:\n`, text)
	require.Regexp(t, `(?m)^ +line 4: bases.orders.token: `, text)
	require.Regexp(t, `(?m)^ +line 5: bases.orders.colour: `, text)
	require.Regexp(t, `(?m)^ +line 8: targets.Orders.base: `, text)
	require.NotContains(t, text, "patLiteral")
}

func TestAddressInUseIsOneSentence(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	address := taken.Addr().String()
	sentence := func(flag string) string {
		return "airtable-replay: address " + address + " is in use: stop the program that listens there, or choose another address with " + flag + "\n"
	}
	db := storetest.NewDB(t)
	env := serveEnv(db.URL, serviceConfig(t, nowhere))
	run(t, env, "serve", "--listen", address).refused(t, 1, sentence("--listen"))
	run(t, env, "serve", "--metrics-listen", address).refused(t, 1, sentence("--metrics-listen"))
	run(t, nil, "demo", "--sandbox-listen", address, "--listen", "127.0.0.1:0").refused(t, 1, sentence("--sandbox-listen"))
}
