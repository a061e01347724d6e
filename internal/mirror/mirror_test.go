package mirror_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/mirror"
	"airtable-replay/internal/sandbox"
	"airtable-replay/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func noWake(context.Context) error { return nil }

func timestamp(t *testing.T, text string) deadletter.Version {
	t.Helper()
	v, err := deadletter.ParseVersion(deadletter.VersionSpec{Kind: deadletter.VersionTimestamp}, text, nil)
	require.NoError(t, err)
	return v
}

func TestAFiledEntryIsShown(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1", func(f *store.Filing) {
		f.SourceVersion, f.Version, f.AssignedOwner = "2026-09-30T08:00:00.5Z", timestamp(t, "2026-09-30T08:00:00.5Z"), "ann"
	})
	b.pass()
	row := b.row(e.ID)
	require.Equal(t, row.ID, b.show(e.ID).DLQRecordID)
	require.Empty(t, cmp.Diff(map[string]any{
		"DLQ Record ID": e.ID, "Source System": "order-system", "Target Table": "Orders", "Target ID": "O-1",
		"Raw Payload": `{"order":{"id":"O-1"}}`, "Reason Code": "transient_exhausted", "Error Detail": "Airtable answered HTTP 503",
		"Status Code": float64(503), "Attempts": float64(5), "Status": "Pending Review", "Assigned Owner": "ann",
		"Source Updated At": float64(1790755200500), "First Attempt At": "2026-10-01T09:00:00.123Z",
	}, row.Fields))
}

func TestAReplayIsToldInFull(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1")
	b.press("ann", e.ID)
	b.advance(11 * time.Second)
	b.pass()
	require.Equal(t, "Replaying", b.row(e.ID).Fields["Status"], "a press that lasts over ten seconds")
	require.Equal(t, "ann", b.row(e.ID).Fields["Replay Requested By"])
	require.NotContains(t, b.row(e.ID).Fields, "Replay Outcome")

	b.settle(e.ID, deadletter.Verdict{
		Outcome: deadletter.PartiallyReplayed, Reason: deadletter.ReasonSharedFieldChanged, Note: "Delivery Date was changed.",
		Fields: map[string]any{"Number": json.Number("1970670598291982290"), "Status": "<Shipped> & sent"},
		Skipped: []deadletter.Skip{{
			Field: "Delivery Date", Reason: deadletter.ReasonSharedFieldChanged, ChangedAt: failedAt.Add(time.Hour), Current: "2026-10-09", Incoming: "2026-10-05",
		}},
	}, map[string]any{"Number": nil, "Status": "Pending"})
	b.pass()
	got := b.row(e.ID).Fields
	at, err := time.Parse(time.RFC3339, got["Replayed At"].(string))
	require.NoError(t, err)
	require.Equal(t, b.show(e.ID).Replay.ReplayedAt.Truncate(time.Millisecond), at)
	require.Equal(t, "Resolved", got["Status"])
	require.Equal(t, "Partially Replayed", got["Replay Outcome"])
	require.Equal(t, "Delivery Date was changed.", got["Replay Notes"])
	require.Equal(t, b.show(e.ID).Replay.ReplayedBy, got["Replayed By"])
	require.Equal(t, "{\n  \"Number\": 1970670598291982290,\n  \"Status\": \"<Shipped> & sent\"\n}", got["Fields Replayed"], "exact digits, readable (B20)")
	require.Equal(t, "{\n  \"Number\": null,\n  \"Status\": \"Pending\"\n}", got["Values Before"])
	require.JSONEq(t, `[{"field": "Delivery Date", "reason": "shared_field_changed", "changed_at": "2026-10-01T10:00:00.123Z", "current": "2026-10-09", "incoming": "2026-10-05"}]`,
		got["Fields Skipped"].(string))
}

func TestTenEntriesCostOneRequest(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	entries := b.fileMany(25)
	b.pass()
	require.Len(t, b.requests("PATCH"), 3)
	require.Len(t, b.requests("GET"), 1, "the schema, once")
	require.Len(t, b.rows(), 25)
	b.box.ClearRequests()
	for _, e := range entries {
		require.NoError(t, b.store.RefusePress(t.Context(), e.ID, "ann", "no"))
	}
	b.file("O-26")
	b.pass()
	require.Len(t, b.box.Requests(), 3, "rows by record ID and by merge key share a request")
	require.Len(t, b.rows(), 26)
}

func TestEveryRequestHasItsSlot(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{rate: 4})
	require.NoError(t, b.box.SetOptions(func(o *sandbox.Options) { o.Rate = 5 }))
	b.fileMany(70)
	b.calm()
	require.Len(t, b.rows(), 70)
	for _, r := range b.box.Requests() {
		require.Equal(t, 200, r.Status, "never above the base's limit (B47)")
	}
	require.Len(t, b.box.Requests(), 8)
}

func TestNothingGoesOutWhileTheBaseIsPaused(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	b.file("O-1")
	hold := b.acquire()
	require.NoError(t, b.store.PauseBase(t.Context(), "orders", time.Minute, "asked to wait"))
	due, late, err := b.store.MirrorState(t.Context(), "orders")
	require.NoError(t, err)
	require.False(t, due || late)
	sent, err := b.mirror.MirrorEntries(t.Context(), hold)
	require.NoError(t, err)
	require.False(t, sent, "a pass whose chunk has just met a 429 (W3)")
	require.Empty(t, b.box.Requests())
	b.release(hold)
	b.advance(2 * time.Minute)
	b.calm()
	require.Len(t, b.rows(), 1)
}

func TestOwnWritesStartNoWork(t *testing.T) {
	t.Parallel()
	presses, url := listenForPresses(t)
	b := setup(t, setting{button: url})
	e := b.file("O-1")
	b.calm()
	b.edit(b.row(e.ID).ID, map[string]any{"Replay Requested": true})
	require.Equal(t, "/"+b.row(e.ID).ID, <-presses)
	b.press("ann", e.ID)
	b.settle(e.ID, deadletter.Verdict{Outcome: deadletter.Replayed, Fields: map[string]any{"Status": "Shipped"}}, nil)
	b.calm()
	require.NotContains(t, b.row(e.ID).Fields, "Replay Requested", "cleared when the press is over")
	b.box.ClearRequests()
	for range 6 {
		b.advance(10 * time.Second)
		require.False(t, b.pass(), "after a replay the system is quiet (B120)")
	}
	require.Empty(t, b.box.Requests())
	require.Empty(t, presses)
}

func TestAChangeWhileSendingIsSentToo(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1")
	b.pass()
	require.NoError(t, b.store.RefusePress(t.Context(), e.ID, "ann", "first"))
	b.before = once(func() { require.NoError(t, b.store.RefusePress(t.Context(), e.ID, "ann", "second")) })
	hold := b.acquire()
	sent, err := b.mirror.MirrorEntries(t.Context(), hold)
	require.NoError(t, err)
	require.True(t, sent)
	require.Equal(t, "Replay was refused: first", b.row(e.ID).Fields["Replay Notes"])
	require.Equal(t, 1, b.waiting())
	b.release(hold)
	b.pass()
	require.Equal(t, "Replay was refused: second", b.row(e.ID).Fields["Replay Notes"])
	require.Zero(t, b.waiting())
}

func TestALostLeaseSettlesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1")
	b.before = once(func() { b.db.Advance(t, time.Hour) })
	hold := b.acquire()
	_, err := b.mirror.MirrorEntries(t.Context(), hold)
	require.ErrorIs(t, err, store.ErrStale)
	require.Equal(t, 1, b.waiting())
	require.Empty(t, b.show(e.ID).DLQRecordID)
	b.calm()
	require.Equal(t, b.row(e.ID).ID, b.show(e.ID).DLQRecordID, "found again by its key, not made twice")
}

func TestAnotherBaseIsLeftAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	b.file("O-1")
	hold := b.acquire()
	hold.Base = "accounts"
	sent, err := b.mirror.MirrorEntries(t.Context(), hold)
	require.NoError(t, err)
	require.False(t, sent)
	require.Empty(t, b.box.Requests())
}

func TestLongAndBinaryPayloads(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	payload := func(raw []byte) func(*store.Filing) { return func(f *store.Filing) { f.RawPayload = raw } }
	digits := b.file("digits", payload([]byte(`{"id":1970670598291982290}`)))
	binary := b.file("binary", payload([]byte("{\x00\xff")))
	nul := b.file("nul", payload([]byte("a\x00b")))
	long := b.file("long", payload([]byte(strings.Repeat("x", 250_000))))
	emoji := b.file("emoji", payload([]byte(strings.Repeat("🚲", 60_000))))
	whole := b.file("whole", payload([]byte(strings.Repeat("é", 99_900))))
	b.calm()
	cell := func(e deadletter.Entry) string { return b.row(e.ID).Fields["Raw Payload"].(string) }
	require.Equal(t, `{"id":1970670598291982290}`, cell(digits))
	require.Equal(t, "[base64, as the payload is not plain text]\newD/", cell(binary))
	require.Equal(t, "[base64, as the payload is not plain text]\nYQBi", cell(nul))
	require.Equal(t, strings.Repeat("é", 99_900), cell(whole))
	for e, all := range map[string]string{cell(long): "250000", cell(emoji): "120000"} {
		require.Less(t, utf16Len(e), 100_000)
		require.Greater(t, utf16Len(e), 99_800)
		require.True(t, strings.HasPrefix(e, "xxx") || strings.HasPrefix(e, "🚲🚲"))
		require.Contains(t, e[len(e)-200:], "[cut here: "+all+" characters in all; the whole is in the console: https://replay.example/entries/")
		require.NotContains(t, e, "\uFFFD")
	}
}

func TestVersionsThatAreNumbers(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	version := func(text string) func(*store.Filing) { return func(f *store.Filing) { f.SourceVersion = text } }
	small, big, odd := b.file("small", version("42")), b.file("big", version("9007199254740993")), b.file("odd", version("v7"))
	b.calm()
	require.Equal(t, float64(42), b.row(small.ID).Fields["Source Updated At"])
	require.NotContains(t, b.row(big.ID).Fields, "Source Updated At", "never a rounded number")
	require.NotContains(t, b.row(odd.ID).Fields, "Source Updated At")
	require.Contains(t, b.log.String(), "would round numbers of more than 15 digits: make it a text field")
}

func TestColumnsFitTheirCheck(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	tables, err := b.config.Client.Schema(t.Context(), baseID)
	require.NoError(t, err)
	require.Empty(t, mirror.Check(tables[0]))
	require.Empty(t, mirror.Missing(tables[0]))
	require.Len(t, mirror.Columns(), 22, "mission T1")
}
