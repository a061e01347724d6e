package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/config"
)

// minimal is a file with a line of its base left open.
const minimal = `bases:
  orders:
    id: appOrdersSandbox01
    %s
targets:
  Orders: {base: orders, key: Order ID}
`

func TestReferences(t *testing.T) {
	t.Parallel()
	files := func(path string) ([]byte, error) {
		if content, ok := map[string]string{
			"/run/secrets/token": "patFromFile\n", "windows": "patFromFile\r\n", "a b's": "patFromFile", "empty": "\n", "two lines": "pat\nmore\n",
		}[path]; ok {
			return []byte(content), nil
		}
		return noFiles(path)
	}
	for line, want := range map[string]string{
		"token: ${AIRTABLE_TOKEN}":              "patSecretOne",
		"token: '${AIRTABLE_TOKEN}'":            "patSecretOne",
		`token: "${AIRTABLE_TOKEN}" # it's one`: "patSecretOne",
		"token: ${AIRTABLE_TOKEN}   # a note":   "patSecretOne",
		"token: ${file:/run/secrets/token}":     "patFromFile",
		"token: ${file:windows}":                "patFromFile",
		"token: ${file:a b's}":                  "patFromFile",
		"token: !!str ${AIRTABLE_TOKEN}":        "patSecretOne",
	} {
		file, err := config.Load(fmt.Appendf(nil, minimal, line), env, config.WithFiles(files))
		require.NoError(t, err, line)
		require.Equal(t, want, file.Bases["orders"].Token.Reveal(), line)
	}
	for line, want := range map[string]string{
		"token: ${file:empty}":           "the file empty is empty",
		"token: ${file:two lines}":       "blanks or line breaks",
		"token: ${file:nowhere}":         "cannot be read",
		"token: ${}":                     "does not stand in the file",
		"token: ${A}${B}":                "does not stand in the file",
		"token: pre${AIRTABLE_TOKEN}":    "does not stand in the file",
		"token: \"\"":                    "does not stand in the file",
		"token: ":                        "is required",
		"token: [\"${AIRTABLE_TOKEN}\"]": "write a single value",
	} {
		_, err := config.Load(fmt.Appendf(nil, minimal, line), env, config.WithFiles(files))
		require.ErrorContains(t, err, want, line)
	}
}

// Between the braces of a flow mapping the braces of a reference are no plain YAML; the contract
// writes them so.
func TestReferencesInFlowMappings(t *testing.T) {
	t.Parallel()
	text := `bases:
  orders: {id: ${BASE_ID}, token: ${AIRTABLE_TOKEN}, alert: [ops]}
targets:
  Orders: {base: orders, key: "It's ${AIRTABLE_TOKEN}, quoted", table: Owner's ${AIRTABLE_TOKEN}}
notify:
  ops: { url: 'https://ops.example.com/it''s?x=${AIRTABLE_TOKEN}', secret: ${OPS_WEBHOOK_SECRET} , on: [base.halted]} # {a: ${X}, b}
`
	file, err := config.Load([]byte(strings.Replace(text, "table: Owner's ${AIRTABLE_TOKEN}", "table: Owner's", 1)), env)
	require.NoError(t, err)
	require.Equal(t, "appFromEnvironment", file.Bases["orders"].ID)
	require.Equal(t, "patSecretOne", file.Bases["orders"].Token.Reveal())
	require.Equal(t, "whsec_three", file.Notify["ops"].Secret.Reveal())
	require.Equal(t, "It's ${AIRTABLE_TOKEN}, quoted", file.Targets["Orders"].Key, "only whole values are references")
	require.Equal(t, "Owner's", file.Targets["Orders"].Table)
	require.Equal(t, "https://ops.example.com/it's?x=${AIRTABLE_TOKEN}", file.Notify["ops"].URL)
}

func TestAnchorsAndMerges(t *testing.T) {
	t.Parallel()
	file, err := config.Load([]byte(`bases:
  one: &base {id: appOneSandbox00001, token: "${AIRTABLE_TOKEN}", token_owner: us, retry: &retry {attempts: 3}}
  two:
    <<: *base
    id: appTwoSandbox00001
    retry: *retry
targets:
  Orders: {base: one, key: Order ID, table: 2026, fields: {007: , Status: ~}}
`), env)
	require.NoError(t, err)
	require.Equal(t, "appTwoSandbox00001", file.Bases["two"].ID)
	require.Equal(t, "us", file.Bases["two"].TokenOwner)
	require.Equal(t, 3, file.Bases["two"].Retry.Attempts)
	require.Equal(t, "2026", file.Targets["Orders"].Table, "as written, though YAML takes it for a number")
	require.Contains(t, file.Targets["Orders"].Fields, "007")
	require.Equal(t, config.DefaultMaxLength, file.Targets["Orders"].Fields["Status"].MaxLength)
}

func TestReextractAddress(t *testing.T) {
	t.Parallel()
	r := config.Reextract{URL: "https://shop.internal/orders/{id}?id={id}"}
	address, err := r.Address(`A/1 & "b"+?#é`)
	require.NoError(t, err)
	require.Equal(t, "https://shop.internal/orders/A%2F1%20%26%20%22b%22%2B%3F%23%C3%A9?id=A%2F1%20%26%20%22b%22%2B%3F%23%C3%A9", address)
	for _, id := range []string{"", ".", ".."} {
		_, err = r.Address(id)
		require.ErrorContains(t, err, "cannot stand in a URL")
	}
}
