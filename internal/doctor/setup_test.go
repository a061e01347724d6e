package doctor_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/doctor"
	"airtable-replay/internal/sandbox"
	"airtable-replay/internal/store"

	"github.com/stretchr/testify/require"
)

// worn is a base that lacks what setup can make, and what it cannot.
func worn(t *testing.T) setting {
	t.Helper()
	return setting{seed: func(text string) string {
		text = mirrorFaults(t)(text)
		text = change(t, "          - {name: Version, type: singleLineText}\n", "")(text)
		text = change(t, "          - {name: Replay Stamp, type: singleLineText}\n", "")(text)
		text = change(t, "          - {name: Sequence, type: number}\n", "")(text)
		return change(t, "          - {name: Delivery Date Changed At, type: lastModifiedTime, watches: [Delivery Date]}\n", "")(text)
	}}
}

func (b *bundle) work(dryRun bool) doctor.Work {
	b.t.Helper()
	w, err := doctor.Setup(b.t.Context(), b.conf, dryRun)
	require.NoError(b.t, err)
	return w
}

func (b *bundle) tell(w doctor.Work) string {
	var out strings.Builder
	for _, a := range w.Additions {
		fmt.Fprintf(&out, "%s.%s %s added=%t %s\n", a.Table, a.Field, a.Type, a.Added, a.Problem)
	}
	return out.String() + b.text(w.ByHand)
}

func TestSetupAddsWhatTheAPICanMake(t *testing.T) {
	t.Parallel()
	b := setup(t, worn(t))
	dry := b.work(true)
	require.False(t, dry.Remirrored)
	requireGolden(t, "setup-dry", b.tell(dry))
	require.Empty(t, posts(b), "a dry run makes nothing")

	done := b.work(false)
	require.True(t, done.Remirrored)
	require.False(t, done.Failed())
	requireGolden(t, "setup", b.tell(done))
	require.Len(t, posts(b), len(done.Additions))
	requireGolden(t, "setup-left", b.text(bad(b.check())))

	again := b.work(false)
	require.Empty(t, again.Additions, "nothing is made twice")
	require.Equal(t, done.ByHand, again.ByHand)
	require.False(t, again.Remirrored)
}

func TestSetupMarksEveryEntryForTheNewColumns(t *testing.T) {
	t.Parallel()
	b := setup(t, worn(t))
	e, _, err := b.store.FileEntry(t.Context(), store.Filing{
		SourceSystem: "order-system", RawPayload: []byte("{}"), ReasonCode: "other", FirstAttemptAt: time.Now(), Operation: "update", Actor: "test",
	})
	require.NoError(t, err)
	rows, err := b.store.DueMirrorRows(t.Context(), "orders", 10)
	require.NoError(t, err)
	require.Equal(t, e.ID, rows[0].Entry.ID)
	revision := rows[0].Revision
	require.True(t, b.work(false).Remirrored)
	rows, err = b.store.DueMirrorRows(t.Context(), "orders", 10)
	require.NoError(t, err)
	require.Empty(t, rows, "a process that knows the table without the fields looks at it again before")
	require.NotZero(t, revision)
}

func TestSetupMakesTheDeadLetterTable(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{seed: withoutMirror})
	require.Equal(t, "Dead Letter Queue. table added=false \n", b.tell(b.work(true)))
	done := b.work(false)
	require.Equal(t, "Dead Letter Queue. table added=true \n", b.tell(done))
	require.True(t, done.Remirrored)
	require.Empty(t, bad(b.check()))
	require.Empty(t, b.work(false).Additions)
}

// A renamed table has people's button and automations: it gets no empty twin.
func TestSetupMakesNoTwinOfARenamedTable(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	b.control("tables", map[string]any{"base": baseID, "table": "Dead Letter Queue", "rename_to": "Failed Writes"})
	w := b.work(false)
	require.Empty(t, w.Additions)
	require.Len(t, w.ByHand, 1)
}

func TestSetupWithoutTheScopeSaysSo(t *testing.T) {
	t.Parallel()
	s := worn(t)
	wear := s.seed
	s.seed = func(text string) string {
		return change(t, "tokens: [patSandbox.full]", `tokens: [{token: patSandbox.full, scopes: ["schema.bases:read", "data.records:read", "data.records:write"]}]`)(wear(text))
	}
	b := setup(t, s)
	w := b.work(false)
	require.True(t, w.Failed())
	require.False(t, w.Remirrored)
	for _, a := range w.Additions {
		require.False(t, a.Added)
		require.Contains(t, a.Problem, "schema.bases:write")
	}
}

// A table with records gets no new version field: beside a renamed one it would say of every record that
// the sender never wrote it, and older payloads would win (mission C4).
func TestSetupNeverReplacesARenamedVersionField(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	require.NoError(t, b.box.RenameField(baseID, "Orders", "Source Updated At", "Updated"))
	w := b.work(false)
	require.Empty(t, w.Additions)
	require.Len(t, w.ByHand, 1)
	require.Contains(t, w.ByHand[0].Fix, "if it was renamed")
}

// posts lists the requests of the log that were to make fields.
func posts(b *bundle) []sandbox.Request {
	return slices.DeleteFunc(b.box.Requests(), func(r sandbox.Request) bool { return !strings.HasSuffix(r.Path, "/fields") })
}
