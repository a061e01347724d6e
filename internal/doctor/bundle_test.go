package doctor_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"airtable-replay/internal/config"
	"airtable-replay/internal/doctor"
	"airtable-replay/internal/sandbox"
	"airtable-replay/internal/store"
	"airtable-replay/internal/store/storetest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	baseID = "appOrdersSandbox01"
	secret = "patSandbox.full"
)

// bundle is a sandbox with what is to be checked.
type bundle struct {
	t     testing.TB
	box   *sandbox.Sandbox
	url   string
	store *store.Store
	conf  doctor.Config
}

// setting shapes a bundle; the zero value is a base in good order.
type setting struct {
	seed, config func(text string) string
	noDatabase   bool
}

func setup(t *testing.T, s setting) *bundle {
	t.Helper()
	text := read(t, "seed.yaml")
	if s.seed != nil {
		text = s.seed(text)
	}
	seed, err := sandbox.ParseSeed([]byte(text))
	require.NoError(t, err)
	b := &bundle{t: t}
	b.box, err = sandbox.New(seed, sandbox.Config{})
	require.NoError(t, err)
	server := httptest.NewServer(b.box.Handler())
	t.Cleanup(func() {
		b.box.Close()
		server.Close()
	})
	b.url = server.URL
	text = strings.ReplaceAll(read(t, "config.yaml"), "SANDBOX", server.URL)
	if s.config != nil {
		text = s.config(text)
	}
	b.conf.File, err = config.Load([]byte(text), func(name string) (string, bool) { return secret, name == "AIRTABLE_TOKEN" })
	require.NoError(t, err)
	if !s.noDatabase {
		b.store = store.New(storetest.NewDB(t).Pool, "orders")
		require.NoError(t, b.store.EnsureBases(t.Context(), []string{"orders"}, []string{"integrations"}))
		b.conf.Store = b.store
	}
	return b
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(text)
}

// change replaces text that must be there exactly once.
func change(t testing.TB, old, with string) func(string) string {
	return func(text string) string {
		require.Equal(t, 1, strings.Count(text, old), "%q", old)
		return strings.Replace(text, old, with, 1)
	}
}

// control asks the sandbox's control API to break something.
func (b *bundle) control(path string, body any) {
	b.t.Helper()
	text, err := json.Marshal(body)
	require.NoError(b.t, err)
	resp, err := http.Post(b.url+"/_sandbox/"+path, "application/json", bytes.NewReader(text)) //nolint:noctx // of a test
	require.NoError(b.t, err)
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(b.t, err)
	require.Equal(b.t, http.StatusOK, resp.StatusCode, "%s", answer)
}

func (b *bundle) check() doctor.Report {
	b.t.Helper()
	r, err := doctor.Check(b.t.Context(), b.conf)
	require.NoError(b.t, err)
	return r
}

// text writes findings as the golden files have them.
func (b *bundle) text(findings []doctor.Finding) string {
	var out strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&out, "%s | %s | %s | %s\n", f.Level, f.Area, f.Subject, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(&out, "    %s\n", f.Fix)
		}
	}
	return strings.ReplaceAll(out.String(), b.url, "SANDBOX")
}

// bad lists the findings that are not ok.
func bad(r doctor.Report) []doctor.Finding {
	var out []doctor.Finding
	for _, f := range r.Findings {
		if f.Level != doctor.OK {
			out = append(out, f)
		}
	}
	return out
}

func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(string(want), got))
}
