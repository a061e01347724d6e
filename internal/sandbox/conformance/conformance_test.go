package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"airtable-replay/internal/sandbox"
	"airtable-replay/internal/sandbox/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	base  = "appConformance0001"
	token = "patConformance.full"
)

func scenarios(t *testing.T) []conformance.Scenario {
	t.Helper()
	all, err := conformance.Load(os.DirFS("../testdata/wire"))
	require.NoError(t, err)
	return all
}

// emulated is a sandbox over HTTP.
func emulated(t *testing.T) (conformance.Target, *sandbox.Sandbox) {
	t.Helper()
	seed, err := sandbox.ParseSeed([]byte(conformance.Seed(base, token)))
	require.NoError(t, err)
	box, err := sandbox.New(seed, sandbox.Config{})
	require.NoError(t, err)
	server := httptest.NewServer(box.Handler())
	t.Cleanup(func() {
		box.Close()
		server.Close()
	})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return conformance.Target{URL: server.URL, Token: token, Base: base, Table: "Conformance", Client: client}, box
}

func TestSandbox(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			target, box := emulated(t)
			require.NoError(t, target.Play(t.Context(), s), "%s\n%s", s.Title, s.Source)
			left, err := box.Records(base, "Conformance")
			require.NoError(t, err)
			require.Empty(t, left, "what the exchanges created is deleted")
		})
	}
}

func TestRealBase(t *testing.T) {
	t.Parallel()
	target := conformance.Target{URL: "https://api.airtable.com", Token: os.Getenv("AIRTABLE_CONFORMANCE_TOKEN"),
		Base: os.Getenv("AIRTABLE_CONFORMANCE_BASE"), Table: os.Getenv("AIRTABLE_CONFORMANCE_TABLE"), Pace: 250 * time.Millisecond}
	if target.Token == "" || target.Base == "" {
		t.Skip("AIRTABLE_CONFORMANCE_TOKEN and AIRTABLE_CONFORMANCE_BASE name no real base to compare the sandbox with")
	}
	require.NotEmpty(t, target.Table, "AIRTABLE_CONFORMANCE_TABLE must name the table in which records may be created")
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	t.Cleanup(transport.CloseIdleConnections)
	target.Client = &http.Client{Transport: transport, Timeout: time.Minute}
	missing, err := target.Missing(t.Context())
	require.NoError(t, err)
	require.Empty(t, missing, "add these fields to table %s", target.Table)
	for _, s := range scenarios(t) {
		t.Run(s.Name, func(t *testing.T) { // one after the other: the base has one rate limit
			if s.Needs != "" {
				t.Skip("only the sandbox can play it, because " + s.Needs)
			}
			require.NoError(t, target.Play(t.Context(), s), "%s\n%s", s.Title, s.Source)
		})
	}
}

func TestMissingFieldsAreNamed(t *testing.T) {
	t.Parallel()
	target, box := emulated(t)
	missing, err := target.Missing(t.Context())
	require.NoError(t, err)
	require.Empty(t, missing)
	require.NoError(t, box.RenameField(base, "Conformance", "Price", "Cost"))
	require.NoError(t, box.DeleteField(base, "Conformance", "Stars"))
	missing, err = target.Missing(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"Price: currency", "Stars: rating, max: 5"}, missing)
	target.Table = "Elsewhere"
	_, err = target.Missing(t.Context())
	require.ErrorContains(t, err, `has no "Elsewhere"`)
}
