package doctor_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/sandbox"
	"airtable-replay/internal/store"

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

func holdMirror(t testing.TB, b *bundle) {
	t.Helper()
	_, _, err := b.store.FileEntry(t.Context(), store.Filing{
		SourceSystem: "order-system", RawPayload: []byte("{}"), ReasonCode: "other", FirstAttemptAt: time.Now(), Operation: "update", Actor: "test",
	})
	require.NoError(t, err)
	lease, ok, err := b.store.AcquireLease(t.Context(), "orders", "test", time.Minute)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, b.store.HoldMirror(t.Context(), lease, time.Hour, "the table is full"))
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
	text = regexp.MustCompile(`tbl\w{14}`).ReplaceAllString(text, "tblTABLE")
	return regexp.MustCompile(`is (59m5\ds|1h0m\ds) `).ReplaceAllString(text, "is an hour ")
}

// hooked is a base whose presses are told by a webhook of Airtable's; its token may have some scopes only.
func hooked(t testing.TB, scopes ...string) setting {
	s := setting{config: change(t, "table: Dead Letter Queue}", "table: Dead Letter Queue, notification_url: \"http://127.0.0.1:1/v1/airtable/notifications\"}")}
	if len(scopes) > 0 {
		s.seed = change(t, "tokens: [patSandbox.full]", "tokens: [{token: patSandbox.full, scopes: ["+scopes[0]+"]}]")
	}
	return s
}

func tellScopes(b *bundle) {
	require.NoError(b.t, b.box.SetOptions(func(o *sandbox.Options) { o.WhoamiScopes = true }))
}

// hook makes a webhook that is pinged at an address.
func (b *bundle) hook(address string) {
	b.t.Helper()
	b.conf.File.DeadLetters.NotificationURL = address
	client := airtable.New(airtable.Config{BaseURL: b.url, Token: secret})
	defer client.CloseIdleConnections()
	tables, err := client.Schema(b.t.Context(), baseID)
	require.NoError(b.t, err)
	for _, table := range tables {
		if table.Name != "Dead Letter Queue" {
			continue
		}
		_, err = client.CreateHook(b.t.Context(), baseID, airtable.HookSpec{URL: address, Table: table.ID, Watch: []string{table.PrimaryFieldID}, Sources: []string{"client"}})
		require.NoError(b.t, err)
	}
	_, err = b.box.Edit(sandbox.Edit{Base: baseID, Table: "Dead Letter Queue", Fields: map[string]any{"DLQ Record ID": "x"}, By: "Ann"})
	require.NoError(b.t, err)
	require.NoError(b.t, b.box.Await(b.t.Context(), func() bool {
		hooks, err := client.ListHooks(b.t.Context(), baseID)
		return err == nil && hooks[0].LastPing != nil
	}))
}

// withoutMirror is a base that has no dead letter table.
func withoutMirror(text string) string {
	text, _, _ = strings.Cut(text, "      - name: Dead Letter Queue\n")
	return text
}
