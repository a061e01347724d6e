package config

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a token or key that was referred to by the configuration. It redacts itself in every
// printed, logged or encoded form; only Reveal tells it.
type Secret struct{ value string }

// NewSecret makes a Secret of its value.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal is the secret itself, to be handed to the one request that needs it.
func (s Secret) Reveal() string { return s.value }

// IsSet tells whether there is a secret.
func (s Secret) IsSet() bool { return s.value != "" }

// String is "[redacted]", or "" for no secret.
func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return "[redacted]"
}

// GoString is String: %#v redacts as well.
func (s Secret) GoString() string { return s.String() }

// Format redacts under every verb and flag of fmt.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue redacts in slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText redacts in JSON and whatever else encodes text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalYAML redacts in YAML.
func (s Secret) MarshalYAML() (any, error) { return s.String(), nil }
