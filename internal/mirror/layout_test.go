package mirror_test

import (
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/mirror"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

func TestATableMayLackColumns(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{table: without("Attempts", "Replay Notes", "Replay Requested", "Values Before")})
	e := b.fileMany(31)[0]
	require.NoError(t, b.store.RefusePress(t.Context(), e.ID, "ann", "no"))
	b.calm()
	require.Equal(t, "O-1", b.row(e.ID).Fields["Target ID"])
	require.Len(t, b.mirror.Problems(), 4)
	require.Contains(t, b.mirror.Problems()[0], `table "Dead Letter Queue" has no field "Attempts" (number): add it, or run setup`)
	require.Equal(t, 1, b.log.count(`no field "Attempts"`), "told once; %s", b.log)
	require.Len(t, b.requests("GET"), 1)
	require.Len(t, b.requests("PATCH"), 4)
}

func TestAColumnAddedLaterIsFoundAndFilled(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{table: column("Attempts", func(f *sandbox.SeedField) { f.Name = "Tries" })})
	e := b.file("O-1")
	b.calm()
	require.NoError(t, b.box.RenameField(baseID, tableName, "Tries", "Attempts"))
	b.advance(11 * time.Minute)
	require.NoError(t, b.store.RemirrorEntries(t.Context(), 0))
	b.calm()
	require.Equal(t, float64(5), b.row(e.ID).Fields["Attempts"])
	require.Empty(t, b.mirror.Problems())
}

func TestAColumnThatGoesMissing(t *testing.T) {
	t.Parallel()
	for name, vanish := range map[string]func(b *bundle) error{
		"renamed": func(b *bundle) error { return b.box.RenameField(baseID, tableName, "Replay Notes", "Notes") },
		"deleted": func(b *bundle) error { return b.box.DeleteField(baseID, tableName, "Replay Notes") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, setting{})
			entries := b.fileMany(10)
			b.calm()
			require.NoError(t, vanish(b))
			b.box.ClearRequests()
			for _, e := range entries {
				b.press("ann", e.ID)
				b.settle(e.ID, deadletter.Verdict{Outcome: deadletter.NeedsReview, Reason: deadletter.ReasonNoVersion, Note: "no version"}, nil)
			}
			b.pass()
			for _, e := range entries {
				require.Equal(t, "Needs Review", b.row(e.ID).Fields["Replay Outcome"])
			}
			require.Len(t, b.requests("PATCH"), 2, "refused, looked at the schema, sent without it")
			require.Len(t, b.requests("GET"), 1)
			require.Contains(t, b.mirror.Problems()[0], `has no field "Replay Notes"`)
		})
	}
}

func TestATableWithoutItsKey(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*sandbox.SeedTable)
		told   string
	}{
		"no key":     {without(mirror.KeyField), `has no field "DLQ Record ID"`},
		"odd key":    {column(mirror.KeyField, func(f *sandbox.SeedField) { f.Type = "number" }), `by which no row can be found`},
		"no table":   {func(table *sandbox.SeedTable) { table.Name = "Letters" }, `has no table "Dead Letter Queue"`},
		"formula as": {column(mirror.KeyField, func(f *sandbox.SeedField) { f.Type, f.Formula = "formula", "RECORD_ID()" }), `by which no row can be found`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, setting{table: func(table *sandbox.SeedTable) {
				table.Fields = append(table.Fields, sandbox.SeedField{Name: "Other", Type: "singleLineText"})
				table.Primary = "Other"
				c.change(table)
			}})
			b.fileMany(30)
			for range 3 {
				b.pass()
				b.advance(61 * time.Second)
			}
			require.Contains(t, b.log.String(), c.told)
			require.Equal(t, 30, b.waiting(), "nothing is forgotten")
			require.Len(t, b.box.Requests(), 3, "one look a minute")
			require.Empty(t, b.requests("PATCH"))
		})
	}
}

func TestATableMendedLater(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{table: column(mirror.KeyField, func(f *sandbox.SeedField) { f.Name = "Key" })})
	b.fileMany(12)
	b.pass()
	require.Empty(t, b.rows())
	require.NoError(t, b.box.RenameField(baseID, tableName, "Key", mirror.KeyField))
	b.calm()
	require.Len(t, b.rows(), 12)
}

func TestTheKeyIsRenamedUnderWay(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	b.fileMany(2)
	b.calm()
	require.NoError(t, b.box.RenameField(baseID, tableName, mirror.KeyField, "Key"))
	b.file("O-3")
	b.pass()
	require.Equal(t, 1, b.waiting())
	require.Contains(t, b.log.String(), "has no field")
	require.NoError(t, b.box.RenameField(baseID, tableName, "Key", mirror.KeyField))
	b.calm()
	require.Len(t, b.rows(), 3)
}

func TestTextsMayBeSelectsAndTheOtherWayRound(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{table: func(table *sandbox.SeedTable) {
		column("Status", func(f *sandbox.SeedField) { f.Type, f.Choices = "singleLineText", nil })(table)
		column("Replay Outcome", func(f *sandbox.SeedField) { f.Choices = []string{"Replayed"} })(table)
		column("Reason Code", func(f *sandbox.SeedField) { f.Type, f.Choices = "singleSelect", []string{"other"} })(table)
		column("First Attempt At", func(f *sandbox.SeedField) { f.Type = "singleLineText" })(table)
		column("Source Updated At", func(f *sandbox.SeedField) { f.Type = "singleLineText" })(table)
		column("Status Code", func(f *sandbox.SeedField) { f.Type = "singleLineText" })(table)
		column("Replayed At", func(f *sandbox.SeedField) { f.Type = "date" })(table)
		column("Attempts", func(f *sandbox.SeedField) { f.Type = "autoNumber" })(table)
		column("Assigned Owner", func(f *sandbox.SeedField) { f.Type = "singleCollaborator" })(table)
		column("Error Detail", func(f *sandbox.SeedField) { f.Type = "number" })(table)
	}})
	e := b.file("O-1", func(f *filing) { f.SourceVersion, f.AssignedOwner = "9007199254740993", "ann@example.test" })
	b.press("ann", e.ID)
	b.settle(e.ID, deadletter.Verdict{Outcome: deadletter.NeedsReview, Reason: deadletter.ReasonNoVersion}, nil)
	b.calm()
	row := b.row(e.ID).Fields
	require.Equal(t, "Pending Review", row["Status"])
	require.Equal(t, "2026-10-01T09:00:00.123Z", row["First Attempt At"])
	require.Equal(t, "9007199254740993", row["Source Updated At"], "a text field keeps every digit")
	require.Equal(t, "503", row["Status Code"])
	require.Equal(t, b.show(e.ID).Replay.ReplayedAt.Format(time.DateOnly), row["Replayed At"])
	for _, name := range []string{"Replay Outcome", "Reason Code", "Assigned Owner", "Error Detail"} {
		require.NotContains(t, row, name)
	}
	log := b.log.String()
	require.Contains(t, log, `field "Replay Outcome" has no option "Needs Review": add that option to the field, or make it a text field`)
	require.Contains(t, log, `field "Reason Code" has no option "transient_exhausted": add that option`)
	require.Contains(t, log, `field "Attempts" has type autoNumber, which cannot hold it`)
	require.Contains(t, log, `field "Error Detail" is a number field: make it a text field`)
	for _, r := range b.requests("PATCH") {
		require.NotContains(t, r.Body, "typecast")
	}
}

func TestAnOptionThatWasRemoved(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{table: column("Status", func(f *sandbox.SeedField) { f.Choices = []string{"Pending Review"} })})
	e := b.file("O-1")
	other := b.file("O-2")
	b.press("ann", e.ID)
	b.settle(e.ID, deadletter.Verdict{Outcome: deadletter.Replayed}, nil)
	b.calm()
	require.NotContains(t, b.row(e.ID).Fields, "Status", "left out, never minted")
	require.Equal(t, "Replayed", b.row(e.ID).Fields["Replay Outcome"])
	require.Equal(t, "Pending Review", b.row(other.ID).Fields["Status"], "the other row of the request has its own")
}

func TestATableByItsID(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{table: func(table *sandbox.SeedTable) { table.ID = "tblDeadLetters0001" }})
	b.config.Table = "tblDeadLetters0001"
	b.restart()
	e := b.file("O-1")
	b.calm()
	require.Equal(t, "O-1", b.row(e.ID).Fields["Target ID"])
}
