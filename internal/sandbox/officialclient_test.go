//go:build officialclient

package sandbox_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

// TestOfficialClient lets a client judge the sandbox that nobody here wrote:
// npm's airtable. It needs node, and NODE_PATH to name the folder that the
// package was installed into; without them it fails.
func TestOfficialClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sandbox.Config{Rate: 5, Now: time.Now})
	cmd := exec.CommandContext(t.Context(), "node", "testdata/official_client.js", w.url)
	cmd.Env = os.Environ()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	refused := 0
	for _, r := range w.box.Requests() {
		if r.Status == 429 {
			refused++
		}
	}
	require.Positive(t, refused, "the burst met the rate limit")
}
