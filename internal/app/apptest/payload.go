package apptest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Order is the payload of the order system.
func Order(id, updatedAt string, fields Doc) string { return Payload("order", id, updatedAt, fields) }

// Line is the payload of the line system.
func Line(id, updatedAt string, fields Doc) string { return Payload("line", id, updatedAt, fields) }

// Account is the payload of the account system.
func Account(id, updatedAt, name string) string {
	return Payload("account", id, updatedAt, Doc{"name": name})
}

// Payload is what the senders of the default configuration send: updated_at beside an object that has
// the id and the fields. An empty updatedAt leaves the version out.
func Payload(object, id, updatedAt string, fields Doc) string {
	body := Doc{"id": id}
	for k, v := range fields {
		body[k] = v
	}
	p := Doc{object: body}
	if updatedAt != "" {
		p["updated_at"] = updatedAt
	}
	b, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// SeedWith is the default seed with more tables in its base, as YAML list items that begin in column 0.
func SeedWith(tables string) string { return DefaultSeed + indent(tables, 6) }

// Rules are parts of a configuration, as YAML maps that begin in column 0.
type Rules struct{ Targets, Sources, Replay string }

// ConfigWith is the default configuration with more targets and sources, and a replay section of its
// own where one is given.
func ConfigWith(t testing.TB, r Rules) string {
	t.Helper()
	text := replaceOnce(t, DefaultConfig, "\nsources:\n", "\n"+indent(r.Targets, 2)+"sources:\n")
	text = replaceOnce(t, text, "\nreplay:", "\n"+indent(r.Sources, 2)+"replay:")
	if r.Replay != "" {
		before, _, _ := strings.Cut(text, "\nreplay:")
		text = before + "\nreplay: " + r.Replay + "\n"
	}
	return text
}

// Change edits a configuration or a seed in one place, which must be there exactly once.
func Change(t testing.TB, text, old, with string) string {
	t.Helper()
	return replaceOnce(t, text, old, with)
}

// Partial is the default configuration with on_shared_change: partial.
func Partial(t testing.TB) string {
	t.Helper()
	return Change(t, DefaultConfig, "on_shared_change: review", "on_shared_change: partial")
}

func replaceOnce(t testing.TB, text, old, with string) string {
	t.Helper()
	require.Equal(t, 1, strings.Count(text, old), "%q in\n%s", old, text)
	return strings.Replace(text, old, with, 1)
}

func indent(text string, by int) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	pad := strings.Repeat(" ", by)
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	return pad + strings.Join(lines, "\n"+pad) + "\n"
}
