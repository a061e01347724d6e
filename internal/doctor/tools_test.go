package doctor_test

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

var addressOf = regexp.MustCompile(`api_url: \S+`)

// mirrorFaults takes two fields out of the dead letter table and spoils two others.
func mirrorFaults(t testing.TB) func(string) string {
	return func(text string) string {
		for old, with := range map[string]string{
			"          - {name: Values Before, type: multilineText}\n":                                    "",
			"          - {name: Attempts, type: number}\n":                                                "",
			"{name: Replay Requested, type: checkbox}":                                                    "{name: Replay Requested, type: singleLineText}",
			"{name: Status, type: singleSelect, choices: [Pending Review, Replaying, Resolved, Ignored]}": "{name: Status, type: singleSelect, choices: [Pending Review]}",
		} {
			text = change(t, old, with)(text)
		}
		return text
	}
}

func halt(t testing.TB, b *bundle) {
	t.Helper()
	_, err := b.store.HaltBase(t.Context(), "orders", "the token was revoked", "ann")
	require.NoError(t, err)
}

func fault(t testing.TB, b *bundle, f sandbox.Fault) {
	t.Helper()
	_, err := b.box.AddFault(f)
	require.NoError(t, err)
}

// shift lets Airtable's clock seem to be off.
func shift(t testing.TB, b *bundle, by time.Duration) {
	t.Helper()
	fault(t, b, sandbox.Fault{Contains: "whoami", Headers: map[string]string{"Date": time.Now().Add(by).UTC().Format(http.TimeFormat)}})
}

// written lists the changes that requests of the Web API have made.
func written(b *bundle) []sandbox.Change {
	var out []sandbox.Change
	for _, c := range b.box.Changes() {
		if c.Request != 0 {
			out = append(out, c)
		}
	}
	return out
}

// steady takes out of a text what differs from run to run.
func steady(text string) string {
	text = regexp.MustCompile(`20\d\d-\d\d-\d\dT\S+Z`).ReplaceAllString(text, "TIME")
	text = regexp.MustCompile(`usr\w{14}`).ReplaceAllString(text, "USER")
	return regexp.MustCompile(`is (59m5\ds|1h0m\ds) `).ReplaceAllString(text, "is an hour ")
}
