package telemetry_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/telemetry"

	"github.com/stretchr/testify/require"
)

func TestJSONLinesCarryTheRequest(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l, err := telemetry.NewLogger(&out, telemetry.LogOptions{Format: telemetry.FormatJSON})
	require.NoError(t, err)
	ctx := telemetry.WithRequestID(t.Context(), "r-1")
	l.With(telemetry.KeyBase, "orders").InfoContext(ctx, "PressReplay", "due", time.Date(2026, 10, 4, 10, 0, 0, 0, time.FixedZone("", 7200)))
	l.DebugContext(ctx, "not shown")
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line), "one line, and nothing of a lower level")
	require.Equal(t, "PressReplay", line["msg"])
	require.Equal(t, "r-1", line["request_id"])
	require.Equal(t, "orders", line["base"])
	require.Equal(t, "2026-10-04T08:00:00Z", line["due"])
	require.True(t, strings.HasSuffix(line["time"].(string), "Z"), line["time"])
}

func TestLinesWithoutARequestCarryNoID(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l, err := telemetry.NewLogger(&out, telemetry.LogOptions{Format: telemetry.FormatJSON})
	require.NoError(t, err)
	l.WithGroup("g").Info("Sweep", "a", 1)
	require.NotContains(t, out.String(), "request_id")
	require.Contains(t, out.String(), `"g":{"a":1}`)
}

func TestTextIsForPeople(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l, err := telemetry.NewLogger(&out, telemetry.LogOptions{Level: "debug"})
	require.NoError(t, err)
	l.DebugContext(telemetry.WithRequestID(t.Context(), "r-1"), "ShowEntry", telemetry.KeyError, "two\nlines \x1b[31m")
	require.Contains(t, out.String(), "DBG ShowEntry")
	require.Contains(t, out.String(), "request_id=r-1")
	require.NotContains(t, out.String(), "\x1b", "no colours into a file, and no escapes from data")
	require.Equal(t, 1, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), "Z DBG", "times are in UTC")
}

func TestLogSettings(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]slog.Level{"": slog.LevelInfo, "debug": slog.LevelDebug, "WARN": slog.LevelWarn, "error": slog.LevelError} {
		for _, format := range []string{"", telemetry.FormatText, telemetry.FormatJSON} {
			l, err := telemetry.NewLogger(&bytes.Buffer{}, telemetry.LogOptions{Level: level, Format: format})
			require.NoError(t, err)
			require.True(t, l.Enabled(t.Context(), want))
			require.False(t, l.Enabled(t.Context(), want-1))
		}
	}
	_, err := telemetry.NewLogger(&bytes.Buffer{}, telemetry.LogOptions{Level: "loud"})
	require.EqualError(t, err, `LOG_LEVEL is "loud"; it must be debug, info, warn or error`)
	_, err = telemetry.NewLogger(&bytes.Buffer{}, telemetry.LogOptions{Format: "xml"})
	require.EqualError(t, err, `LOG_FORMAT is "xml"; it must be text or json`)
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	require.Empty(t, telemetry.RequestID(t.Context()))
	require.True(t, telemetry.ValidRequestID(telemetry.NewRequestID()))
	require.NotEqual(t, telemetry.NewRequestID(), telemetry.NewRequestID())
	for id, want := range map[string]bool{
		"a": true, strings.Repeat("x", 64): true, "A-b_c.9": true, "": false, strings.Repeat("x", 65): false, "a b": false, "a\n": false, "ä": false, `"`: false,
	} {
		require.Equal(t, want, telemetry.ValidRequestID(id), id)
	}
}
