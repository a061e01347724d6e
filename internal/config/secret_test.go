package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/config"
)

func TestSecretRedactsItself(t *testing.T) {
	t.Parallel()
	const value = "patSecret.ofTheBase"
	holder := struct{ Token config.Secret }{config.NewSecret(value)}
	var printed []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10.3s"} {
		printed = append(printed, fmt.Sprintf(verb, holder), fmt.Sprintf(verb, holder.Token), fmt.Sprintf(verb, &holder.Token))
	}
	encoded, err := json.Marshal(holder)
	require.NoError(t, err)
	require.JSONEq(t, `{"Token":"[redacted]"}`, string(encoded))
	document, err := yaml.Marshal(holder)
	require.NoError(t, err)
	require.Equal(t, "token: \"[redacted]\"\n", string(document))
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "token", holder.Token, "holder", holder)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "token", holder.Token, "holder", holder)
	printed = append(printed, string(encoded), string(document), log.String())
	for _, text := range printed {
		require.NotContains(t, text, "ofTheBase")
		require.NotContains(t, text, fmt.Sprintf("%x", "ofTheBase"))
	}
	require.Equal(t, value, holder.Token.Reveal())
	require.Equal(t, "[redacted]", holder.Token.String())
	require.Equal(t, "[redacted]", fmt.Sprintf("%#v", holder.Token))
	require.True(t, holder.Token.IsSet())
	require.False(t, config.Secret{}.IsSet())
	require.Empty(t, config.Secret{}.String())
}

func TestLoggedConfigurationHoldsNoSecret(t *testing.T) {
	t.Parallel()
	file, err := config.Load(read(t, "contract.yaml"), env)
	require.NoError(t, err)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("configuration", "file", file)
	for _, secret := range []string{"patSecretOne", "patSecretTwo", "whsec_three"} {
		require.NotContains(t, log.String(), secret)
	}
	var line struct {
		File struct {
			Bases   map[string]map[string]any `json:"bases"`
			Targets map[string]string         `json:"targets"`
		} `json:"file"`
	}
	require.NoError(t, json.Unmarshal(log.Bytes(), &line))
	require.Equal(t, "appOrdersSandbox01", line.File.Bases["orders"]["id"])
	require.Equal(t, "orders/Orders, rank 1", line.File.Targets["Orders"])
}
