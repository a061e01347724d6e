package deadletter_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"airtable-replay/internal/deadletter"
)

const (
	guardLeft  = "2026-10-05T08:30:00.000Z" // what our write left in Delivery Date's guard
	guardMoved = "2026-10-05T08:30:01.000Z"
)

// restoreCase is a write of ours that nobody has touched since: Status Pending -> Shipped, Delivery Date
// 10-07 -> 10-08, version 1 -> 3.
func restoreCase(t *testing.T, change func(c *deadletter.RestoreCase)) deadletter.RestoreCase {
	t.Helper()
	c := deadletter.RestoreCase{
		ID: "R1", Rules: orders(), RecordID: "recA",
		Wrote: map[string]any{"Status": "Shipped", "Delivery Date": "2026-10-08"}, Before: map[string]any{"Status": "Pending", "Delivery Date": "2026-10-07"},
		Version: parse(t, numbers, "3", ""), VersionBefore: parse(t, numbers, "1", ""),
		Matches: []deadletter.Record{{ID: "recA", Version: parse(t, numbers, "3", ""), Fields: map[string]any{
			"Status": "Shipped", "Delivery Date": "2026-10-08", orders().Fields["Delivery Date"].Guard: guardLeft,
		}}},
		Mark: deadletter.Mark{
			RecordID: "recA", Highest: parse(t, numbers, "3", ""), Stored: parse(t, numbers, "3", ""),
			Guards: map[string]deadletter.GuardMark{"Delivery Date": {Stamp: guardLeft, Value: "2026-10-08"}},
		},
	}
	if change != nil {
		change(&c)
	}
	return c
}

func TestDecideRestore(t *testing.T) {
	t.Parallel()
	guard := orders().Fields["Delivery Date"].Guard
	version := func(raw string) deadletter.Version { return parse(t, numbers, raw, "") }
	all := map[string]any{"Status": "Pending", "Delivery Date": "2026-10-07"}
	status := map[string]any{"Status": "Pending"}
	date := map[string]any{"Delivery Date": "2026-10-07"}
	for name, c := range map[string]struct {
		change  func(c *deadletter.RestoreCase)
		write   map[string]any
		outcome deadletter.Outcome
		reason  deadletter.Reason
		note    string
	}{
		"untouched": {nil, all, deadletter.Replayed, "", "Restored: Delivery Date, Status."},
		"edited by hand": {func(c *deadletter.RestoreCase) {
			c.Matches[0].Fields["Delivery Date"], c.Matches[0].Fields[guard] = "2026-10-09", guardMoved
		}, status, deadletter.PartiallyReplayed, deadletter.ReasonSharedFieldChanged, "Delivery Date was left as it is: it no longer holds what the replay wrote."},
		"edited by hand, and back": {func(c *deadletter.RestoreCase) { c.Matches[0].Fields[guard] = guardMoved }, status,
			deadletter.PartiallyReplayed, deadletter.ReasonSharedFieldChanged, "its Last modified time is not the one that our write left"},
		"edited in the second of our write": {func(c *deadletter.RestoreCase) { c.Matches[0].Fields["Delivery Date"] = "2026-10-09" }, status,
			deadletter.PartiallyReplayed, deadletter.ReasonSharedFieldChanged, ""},
		"stamp of our write not known":  {func(c *deadletter.RestoreCase) { c.Mark.Guards = nil }, status, deadletter.PartiallyReplayed, deadletter.ReasonSharedFieldChanged, ""},
		"cleared by hand":               {func(c *deadletter.RestoreCase) { delete(c.Matches[0].Fields, "Status") }, date, deadletter.PartiallyReplayed, deadletter.ReasonSharedFieldChanged, ""},
		"former value is there already": {func(c *deadletter.RestoreCase) { c.Matches[0].Fields["Status"] = "Pending" }, date, deadletter.Replayed, "", ""},
		"written again by ourselves": {func(c *deadletter.RestoreCase) { c.Rewritten = []string{"Status"} }, date,
			deadletter.PartiallyReplayed, deadletter.ReasonNewerFromSender, "a later write of this service wrote it again"},
		"newer version on the record": {func(c *deadletter.RestoreCase) { c.Matches[0].Version = version("4") }, nil,
			deadletter.Superseded, deadletter.ReasonNewerFromSender, "version is 4 by now; the replay left 3"},
		"newer version of ours that the record does not show": {func(c *deadletter.RestoreCase) { c.Mark.Highest = version("4") }, nil,
			deadletter.Superseded, deadletter.ReasonNewerFromSender, ""},
		"older version on the record":   {func(c *deadletter.RestoreCase) { c.Matches[0].Version = version("2") }, nil, deadletter.Superseded, deadletter.ReasonNewerFromSender, ""},
		"version cleared on the record": {func(c *deadletter.RestoreCase) { c.Matches[0].Version = deadletter.Version{} }, nil, deadletter.Superseded, deadletter.ReasonNewerFromSender, ""},
		"version as the record keeps it": {func(c *deadletter.RestoreCase) {
			c.Matches[0].Version, c.Mark.Stored = version("2"), version("2") // the cell is coarser than what was sent
		}, all, deadletter.Replayed, "", ""},
		"version unreadable": {func(c *deadletter.RestoreCase) {
			c.Matches[0].Version, c.Matches[0].VersionUnreadable = deadletter.Version{}, true
		}, nil, deadletter.Superseded, deadletter.ReasonVersionKindMismatch, ""},
		"write without a version": {func(c *deadletter.RestoreCase) {
			c.Version, c.Matches[0].Version, c.Mark.Highest, c.Mark.Stored = deadletter.Version{}, version("1"), deadletter.Version{}, deadletter.Version{}
		}, all, deadletter.Replayed, "", ""},
		"write without a version, and one since": {func(c *deadletter.RestoreCase) { c.Version = deadletter.Version{} }, nil, deadletter.Superseded, deadletter.ReasonNewerFromSender, ""},
		"no versions at all": {func(c *deadletter.RestoreCase) {
			c.Version, c.VersionBefore, c.Matches[0].Version = deadletter.Version{}, deadletter.Version{}, deadletter.Version{}
			c.Mark.Highest, c.Mark.Stored = deadletter.Version{}, deadletter.Version{}
		}, all, deadletter.Replayed, "", ""},
		"record gone":           {func(c *deadletter.RestoreCase) { c.Matches = nil }, nil, deadletter.ReplayFailed, deadletter.ReasonNoMatch, "is gone"},
		"key of another record": {func(c *deadletter.RestoreCase) { c.Matches[0].ID = "recB" }, nil, deadletter.ReplayFailed, deadletter.ReasonNoMatch, "recB"},
		"two records":           {func(c *deadletter.RestoreCase) { c.Matches = append(c.Matches, deadletter.Record{ID: "recB"}) }, nil, deadletter.ReplayFailed, deadletter.ReasonMultipleMatches, "2 records"},
		"out of attempts": {func(c *deadletter.RestoreCase) {
			c.Problem = &deadletter.Problem{Reason: deadletter.ReasonTransientExhausted, Detail: "five attempts"}
		}, nil, deadletter.ReplayFailed, deadletter.ReasonTransientExhausted, "five attempts"},
		"field gone from the table": {func(c *deadletter.RestoreCase) {
			c.Rules.Fields = maps.Clone(c.Rules.Fields)
			c.Rules.Fields["Status"] = deadletter.Field{Name: "Status"}
		}, date, deadletter.PartiallyReplayed, deadletter.ReasonUnknownField, ""},
		"field computed by now": {func(c *deadletter.RestoreCase) {
			c.Rules.Fields = maps.Clone(c.Rules.Fields)
			c.Rules.Fields["Status"] = deadletter.Field{Name: "Status", Kind: deadletter.KindComputed}
		}, date, deadletter.PartiallyReplayed, deadletter.ReasonComputedField, ""},
		"empty before":        {func(c *deadletter.RestoreCase) { c.Before["Status"] = nil }, map[string]any{"Status": nil, "Delivery Date": "2026-10-07"}, deadletter.Replayed, "", ""},
		"nothing was changed": {func(c *deadletter.RestoreCase) { c.Before = nil }, nil, deadletter.ReplayFailed, deadletter.ReasonValidationFailed, ""},
		"replaced attachments": {func(c *deadletter.RestoreCase) {
			c.Rules.Fields = maps.Clone(c.Rules.Fields)
			c.Rules.Fields["Files"] = deadletter.Field{Name: "Files", Kind: deadletter.KindAttachments}
			c.Before["Files"] = []any{map[string]any{"id": "att1", "url": "https://example.com/a"}}
		}, all, deadletter.PartiallyReplayed, deadletter.ReasonOther, "Files was left as it is: attachments that were replaced are gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := restoreCase(t, c.change)
			p := deadletter.DecideRestore(in)
			require.Equal(t, len(c.write) > 0, p.Writes())
			require.Empty(t, cmp.Diff(c.write, orNil(p.Fields)))
			require.Len(t, p.Verdicts, 1)
			v := p.Verdicts[0]
			require.Equal(t, []any{c.outcome, c.reason}, []any{v.Outcome, v.Reason}, v.Note)
			require.Contains(t, v.Note, c.note)
			requireSoundRestore(t, in, p)
		})
	}
}

func orNil(m map[string]any) map[string]any {
	if len(m) == 0 {
		return nil
	}
	return m
}

// requireSoundRestore holds a plan to what is promised of every restore.
func requireSoundRestore(t require.TestingT, c deadletter.RestoreCase, p deadletter.Plan) {
	v := p.Verdicts[0]
	require.True(t, p.Version.IsZero(), "a restore leaves the version alone")
	require.NotEqual(t, deadletter.ActionCreate, p.Action)
	require.Equal(t, p.Writes(), len(p.Fields) > 0)
	names := slices.Sorted(maps.Keys(c.Before))
	var checked, accounted []string
	for _, check := range v.Checks {
		checked = append(checked, check.Field)
	}
	require.Equal(t, names, checked)
	for _, s := range v.Skipped {
		accounted = append(accounted, s.Field)
	}
	accounted = append(accounted, slices.Collect(maps.Keys(v.Fields))...)
	slices.Sort(accounted)
	require.Equal(t, names, accounted, "each field is restored or refused")
	require.Equal(t, len(v.Fields) > 0, v.InWrite())
	for name := range p.Fields {
		require.Contains(t, v.Fields, name)
		require.Equal(t, c.Matches[0].Fields[name], p.Before[name])
	}
}

// TestRestoreNeverOverwritesWhatOurReplayDidNotLeave: whatever is written over is a value that our
// write put there, on a record whose version and guard are as our write left them.
func TestRestoreNeverOverwritesWhatOurReplayDidNotLeave(t *testing.T) {
	t.Parallel()
	written := 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawRestore(t)
		p := deadletter.DecideRestore(c)
		requireSoundRestore(t, c, p)
		if !p.Writes() {
			return
		}
		written++
		require.Len(t, c.Matches, 1)
		r := c.Matches[0]
		require.Equal(t, c.RecordID, r.ID)
		require.Equal(t, c.RecordID, p.RecordID)
		left := c.Version
		if left.IsZero() {
			left = c.VersionBefore
		}
		asLeft := left.Equal(r.Version) || c.Mark.RecordID == r.ID && c.Mark.Highest.Equal(left) && c.Mark.Stored.Equal(r.Version)
		require.True(t, asLeft, "the version has moved")
		if n, ok := c.Mark.Highest.Compare(left); ok && c.Mark.RecordID == r.ID {
			require.LessOrEqual(t, n, 0, "a newer version of ours has landed")
		}
		for name, value := range p.Fields {
			field := c.Rules.Fields[name]
			require.True(t, deadletter.Equal(field.Kind, r.Fields[name], c.Wrote[name]), name)
			require.True(t, deadletter.Equal(field.Kind, value, c.Before[name]), name)
			require.NotContains(t, c.Rewritten, name)
			if field.Guard != "" {
				require.Equal(t, c.RecordID, c.Mark.RecordID)
				require.Equal(t, c.Mark.Guards[name].Stamp, r.Fields[field.Guard], name)
			}
		}
	})
	require.Positive(t, written, "the cases drawn never restore anything")
}

// drawRestore draws a write and a record near to what the write left.
func drawRestore(t *rapid.T) deadletter.RestoreCase {
	c := deadletter.RestoreCase{
		ID: "R1", Rules: orders(), RecordID: "rec0", Wrote: map[string]any{}, Before: map[string]any{},
		Version: drawVersion(t, "version"), VersionBefore: drawVersion(t, "version before"),
	}
	for range rapid.SampledFrom([]int{0, 1, 1, 1, 1, 1, 2}).Draw(t, "matches") {
		c.Matches = append(c.Matches, drawRecord(t, "rec0"))
	}
	c.Mark = drawMark(t, c.Matches)
	for _, name := range poolFields {
		if !rapid.Bool().Draw(t, "wrote "+name) {
			continue
		}
		c.Wrote[name], c.Before[name] = drawValue(t, "wrote", name), drawValue(t, "before", name)
		if seldom(t, "rewrote "+name) {
			c.Rewritten = append(c.Rewritten, name)
		}
		for i := range c.Matches {
			if rapid.IntRange(0, 3).Draw(t, "holds "+name) > 0 {
				c.Matches[i].Fields[name] = c.Wrote[name]
			}
		}
	}
	if len(c.Matches) > 0 && rapid.Bool().Draw(t, "version as left") {
		c.Matches[0].Version = c.Version
	}
	return c
}

func TestWritable(t *testing.T) {
	t.Parallel()
	person := map[string]any{"id": "usr1", "email": "a@example.com", "name": "Ada"}
	for _, c := range []struct {
		kind deadletter.FieldKind
		read any
		want any
		ok   bool
	}{
		{deadletter.KindText, "a", "a", true},
		{deadletter.KindCheckbox, nil, nil, true},
		{deadletter.KindAttachments, nil, nil, true},
		{deadletter.KindAttachments, []any{map[string]any{"id": "att1"}}, nil, false},
		{deadletter.KindComputed, "a", nil, false},
		{deadletter.KindSelect, map[string]any{"id": "sel1", "name": "Open", "color": "red"}, "Open", true},
		{deadletter.KindMultiSelect, []any{"a", "b"}, []any{"a", "b"}, true},
		{deadletter.KindLinks, []any{"rec1", map[string]any{"id": "rec2"}}, []any{"rec1", "rec2"}, true},
		{deadletter.KindCollaborator, person, map[string]any{"id": "usr1"}, true},
		{deadletter.KindCollaborator, map[string]any{"email": "a@example.com"}, map[string]any{"email": "a@example.com"}, true},
		{deadletter.KindCollaborator, map[string]any{"name": "Ada"}, nil, false},
		{deadletter.KindCollaborators, []any{person, person}, []any{map[string]any{"id": "usr1"}, map[string]any{"id": "usr1"}}, true},
		{deadletter.KindRichText, "\n", nil, true},
		{deadletter.KindBarcode, map[string]any{"text": "1", "type": "ean13"}, map[string]any{"text": "1", "type": "ean13"}, true},
	} {
		got, ok := deadletter.Writable(c.kind, c.read)
		require.Equal(t, c.ok, ok, "%s %v", c.kind, c.read)
		if ok {
			require.Equal(t, c.want, got, "%s %v", c.kind, c.read)
		}
	}
}

func TestRestorable(t *testing.T) {
	t.Parallel()
	files := []any{map[string]any{"id": "att1", "url": "https://example.com/a"}}
	fields, notes := deadletter.Restorable(map[string]any{"Files": files, "Status": "Pending", "Empty": nil})
	require.Equal(t, []string{"Empty", "Status"}, fields)
	require.Len(t, notes, 1)
	require.Contains(t, notes[0], "Files cannot be restored")
}
