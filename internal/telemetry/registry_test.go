package telemetry_test

import (
	"net/http/httptest"
	"testing"

	"airtable-replay/internal/telemetry"

	"github.com/stretchr/testify/require"
)

func TestRegistriesAreSeparate(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1.0.0", "2.0.0"} {
		r := telemetry.NewRegistry(version)
		w := httptest.NewRecorder()
		telemetry.MetricsHandler(r).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		require.Equal(t, 200, w.Code)
		require.Contains(t, w.Body.String(), `airtable_replay_build_info{version="`+version+`"} 1`)
		require.Contains(t, w.Body.String(), "go_goroutines ")
		require.Contains(t, w.Body.String(), "process_start_time_seconds ")
	}
}
