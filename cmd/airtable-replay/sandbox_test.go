package main_test

import (
	"fmt"
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const smallSeed = `bases:
  - id: appSmall0000000001
    name: Small
    tokens: ["${SMALL_TOKEN}"]
    tables:
      - name: Things
        fields: [{name: Name, type: singleLineText}]
        records: [{Name: one}, {Name: two}]
`

func TestSandboxServesItsSeed(t *testing.T) {
	t.Parallel()
	c := start(t, []string{"SMALL_TOKEN=patSmall"}, "sandbox", "--seed", write(t, "seed.yaml", smallSeed), "--listen", "127.0.0.1:0", "--rate", "2", "--penalty", "40s")
	url := c.urls(t, 1)[0]
	status, answer := call(t, "GET", url+"/v0/appSmall0000000001/Things", "patSmall", nil)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, answer, `"Name":"two"`)
	status, _ = call(t, "GET", url+"/v0/appSmall0000000001/Things", "patOther", nil)
	require.Equal(t, http.StatusUnauthorized, status)
	_, options := call(t, "GET", url+"/_sandbox/options", "", nil)
	require.Contains(t, options, `"rate":2,`)
	require.Contains(t, options, `"penalty":"40s"`)
	c.stop(t, syscall.SIGTERM)
}

func TestSandboxLetsGoOfHeldRequests(t *testing.T) {
	t.Parallel()
	c := start(t, []string{"SMALL_TOKEN=patSmall"}, "sandbox", "--seed", write(t, "seed.yaml", smallSeed), "--listen", "127.0.0.1:0", "--rate", "0")
	url := c.urls(t, 1)[0]
	status, answer := call(t, "POST", url+"/_sandbox/faults", "", map[string]any{"method": "GET", "times": 1, "delay": "1h"})
	require.Equal(t, http.StatusOK, status, answer)
	held := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v0/appSmall0000000001/Things", http.NoBody)
		if err == nil {
			_, err = http.DefaultTransport.RoundTrip(r) //nolint:bodyclose // no answer comes
		}
		held <- err
	}()
	for asked := false; !asked; { // until the request has arrived
		_, log := call(t, "GET", url+"/_sandbox/requests", "", nil)
		asked = len(log) > len(`{"requests":[]}`)+1
	}
	c.stop(t, syscall.SIGTERM)
	require.Error(t, <-held)
}

func TestSandboxNamesEveryFaultOfItsSeed(t *testing.T) {
	t.Parallel()
	seed := write(t, "seed.yaml", `bases:
  - id: wrong
    tables:
      - name: Things
        fields: [{name: Name, type: nothing}]
`)
	c := run(t, nil, "sandbox", "--seed", seed)
	require.Equal(t, 2, c.code())
	require.Contains(t, c.stderr.String(), fmt.Sprintf("airtable-replay: %s: line ", seed))
	require.Regexp(t, `line 2: bases\[0\].id: `, c.stderr.String())
	require.Regexp(t, `line 5: bases\[0\].tables\[0\].fields\[0\].type: `, c.stderr.String())
}
