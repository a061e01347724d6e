package mirror_test

import (
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

const (
	boxField    = "Replay Requested"
	pressedBy   = "Replay Requested By"
	statusField = "Status"
	notesField  = "Replay Notes"
)

func (b *bundle) ticked(id string) bool {
	b.t.Helper()
	return b.row(id).Fields[boxField] == true
}

func TestATickIsOnlyTakenBackWhenItsPressIsOver(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1")
	b.calm()
	b.edit(b.row(e.ID).ID, map[string]any{boxField: true, pressedBy: "ann"})
	require.NoError(t, b.store.RemirrorEntries(t.Context(), 0))
	b.calm()
	require.True(t, b.ticked(e.ID), "an update that has nothing to do with a press leaves the box alone")
	require.Equal(t, "ann", b.row(e.ID).Fields[pressedBy], "and who pressed")
	b.press("ann", e.ID)
	b.advance(11 * time.Second)
	b.pass()
	require.Equal(t, "Replaying", b.row(e.ID).Fields[statusField])
	require.True(t, b.ticked(e.ID))
	b.settle(e.ID, deadletter.Verdict{Outcome: deadletter.NeedsReview, Reason: deadletter.ReasonNoVersion}, nil)
	b.pass()
	require.False(t, b.ticked(e.ID), "the button works again (T3)")
	b.edit(b.row(e.ID).ID, map[string]any{boxField: true})
	require.NoError(t, b.store.RemirrorEntries(t.Context(), 0))
	b.calm()
	require.True(t, b.ticked(e.ID), "the untick is not repeated over a second tick (R10)")
}

func TestAnUntickThatWaitedDoesNotWipeTheNextPress(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1")
	b.calm()
	b.press("ann", e.ID)
	b.settle(e.ID, deadletter.Verdict{Outcome: deadletter.NeedsReview, Reason: deadletter.ReasonNoVersion}, nil)
	b.edit(b.row(e.ID).ID, map[string]any{boxField: true})
	b.press("bob", e.ID)
	b.advance(11 * time.Second)
	b.pass()
	require.Equal(t, "bob", b.row(e.ID).Fields[pressedBy])
	require.True(t, b.ticked(e.ID), "bob's tick, not ann's")
	b.settle(e.ID, deadletter.Verdict{Outcome: deadletter.Replayed}, nil)
	b.calm()
	require.False(t, b.ticked(e.ID))
}

func TestATickWhileTheUntickIsUnderWay(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1")
	b.calm()
	b.press("ann", e.ID)
	b.settle(e.ID, deadletter.Verdict{Outcome: deadletter.NeedsReview, Reason: deadletter.ReasonNoVersion}, nil)
	row := b.row(e.ID).ID
	b.fault(sandbox.Fault{Method: "PATCH", Status: 500, AfterApply: true})
	b.pass()
	require.False(t, b.ticked(e.ID))
	b.edit(row, map[string]any{boxField: true})
	b.press("bob", e.ID)
	b.calm()
	require.True(t, b.ticked(e.ID), "the untick went unanswered, but the press that came since owns the box")
	b.settle(e.ID, deadletter.Verdict{Outcome: deadletter.Replayed}, nil)
	b.calm()
	require.False(t, b.ticked(e.ID))
}

func TestARefusedPressIsTakenBackWithItsReason(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1")
	b.calm()
	b.edit(b.row(e.ID).ID, map[string]any{boxField: true})
	require.NoError(t, b.store.RefusePress(t.Context(), e.ID, "ann", "Base orders is halted."))
	b.pass()
	require.False(t, b.ticked(e.ID))
	require.Equal(t, "Replay was refused: Base orders is halted.", b.row(e.ID).Fields[notesField])
	b.press("ann", e.ID)
	b.settle(e.ID, deadletter.Verdict{Outcome: deadletter.Replayed, Note: "All fields written."}, nil)
	b.calm()
	require.Equal(t, "All fields written.", b.row(e.ID).Fields[notesField])
	require.NoError(t, b.store.RefusePress(t.Context(), e.ID, "ann", "Already settled."))
	b.calm()
	require.Equal(t, "Replay was refused: Already settled.\n\nAll fields written.", b.row(e.ID).Fields[notesField])
}

func TestATwentiethFailureIsAsShortAsTheFirst(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1")
	page := make([]byte, 2<<20)
	for i := range page {
		page[i] = '<'
	}
	for range 20 {
		b.press("ann", e.ID)
		b.settle(e.ID, deadletter.Verdict{Outcome: deadletter.ReplayFailed, Reason: deadletter.ReasonWriteFailed, Note: string(page)}, nil)
		b.pass()
	}
	note := b.row(e.ID).Fields[notesField].(string)
	require.Less(t, len(note), 5_000, "it does not grow with every replay (B95)")
	require.Contains(t, note, "cut")
	b.press("ann", e.ID)
}

func TestFlagsAreToldInWords(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1")
	_, err := b.db.Pool.Exec(t.Context(), "UPDATE entry SET flags = '{may_have_been_written,landed,late_landing,changed_in_window,created_elsewhere}'")
	require.NoError(t, err)
	b.calm()
	note := b.row(e.ID).Fields[notesField].(string)
	require.NotContains(t, note, "_")
	require.Contains(t, note, "May have been written: look at the record.")
}
