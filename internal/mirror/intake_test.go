package mirror_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/mirror"
	"airtable-replay/internal/sandbox"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// foreign is a row as another tool writes it.
func (b *bundle) foreign(fields map[string]any) string {
	b.t.Helper()
	all := map[string]any{"Source System": "order-system", "Raw Payload": `{"order":{"id":1970670598291982290}}`}
	for name, value := range fields {
		all[name] = value
	}
	return b.edit("", all)
}

func domainError(t *testing.T, err error) *deadletter.Error {
	t.Helper()
	var e *deadletter.Error
	require.ErrorAs(t, err, &e)
	return e
}

func TestTakeIn(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	id := b.foreign(map[string]any{
		"Target ID": "O-1", "Target Table": "Orders", "Reason Code": "Transient Exhausted", "Error Detail": "HTTP 503", "Status Code": 503, "Attempts": 5,
		"First Attempt At": "2026-10-01T09:00:00.123Z", "Assigned Owner": "ann", "Status": "Pending Review", mirror.KeyField: "their-own-7",
	})
	row, err := b.mirror.TakeIn(t.Context(), id)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(mirror.Row{
		DLQRecordID: id, SourceSystem: "order-system", TargetTable: "Orders", TargetID: "O-1", Operation: deadletter.Update,
		RawPayload: []byte(`{"order":{"id":1970670598291982290}}`), ReasonCode: deadletter.ReasonTransientExhausted, ErrorDetail: "HTTP 503",
		StatusCode: 503, Attempts: 5, FirstAttemptAt: failedAt, AssignedOwner: "ann",
	}, row))
	require.Len(t, b.box.Requests(), 1)
}

func TestTakeInOfABareRow(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	id := b.foreign(map[string]any{"Reason Code": "the cat sat on it", "Error Detail": "no more is known"})
	row, err := b.mirror.TakeIn(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, deadletter.ReasonOther, row.ReasonCode)
	require.Equal(t, "Reason as written: the cat sat on it. no more is known", row.ErrorDetail, "nothing that it says is lost")
	require.Equal(t, b.rows()[0].Created.UTC(), row.FirstAttemptAt, "the record's own creation")
	require.Equal(t, deadletter.Update, row.Operation)
	require.Zero(t, row.StatusCode+row.Attempts)
}

func TestTakeInReadsOtherFieldTypes(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{table: func(table *sandbox.SeedTable) {
		column("Source System", func(f *sandbox.SeedField) { f.Type, f.Choices = "singleSelect", []string{"order-system"} })(table)
		column("Assigned Owner", func(f *sandbox.SeedField) { f.Type = "singleCollaborator" })(table)
		column("Status Code", func(f *sandbox.SeedField) { f.Type = "singleLineText" })(table)
		column("Target ID", func(f *sandbox.SeedField) { f.Type = "number" })(table)
		column("First Attempt At", func(f *sandbox.SeedField) { f.Type = "date" })(table)
		column("Reason Code", func(f *sandbox.SeedField) { f.Type, f.Choices = "multipleSelects", []string{"other"} })(table)
		table.Fields = append(table.Fields, sandbox.SeedField{Name: "Operation", Type: "singleSelect", Choices: []string{"Upsert"}})
	}})
	id := b.foreign(map[string]any{
		"Assigned Owner": map[string]any{"email": "ann@example.test"}, "Status Code": "503", "Target ID": 12, "First Attempt At": "2026-10-01",
		"Reason Code": []string{"other"}, "Operation": "Upsert",
	})
	row, err := b.mirror.TakeIn(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "order-system", row.SourceSystem)
	require.Contains(t, row.AssignedOwner, "ann")
	require.Equal(t, 503, row.StatusCode)
	require.Equal(t, "12", row.TargetID)
	require.Equal(t, time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), row.FirstAttemptAt)
	require.Equal(t, deadletter.Upsert, row.Operation)
}

func TestTakeInNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	textual := func(table *sandbox.SeedTable) {
		for _, name := range []string{"First Attempt At", "Status Code", "Attempts"} {
			column(name, func(f *sandbox.SeedField) { f.Type = "singleLineText" })(table)
		}
		table.Fields = append(table.Fields, sandbox.SeedField{Name: "Operation", Type: "singleLineText"})
	}
	b := setup(t, setting{table: textual})
	for name, c := range map[string]struct {
		cells map[string]any
		field string
		says  string
	}{
		"no source":    {map[string]any{"Source System": nil}, "Source System", "is empty; fill in"},
		"blank source": {map[string]any{"Source System": "  "}, "Source System", "is empty"},
		"no payload":   {map[string]any{"Raw Payload": nil}, "Raw Payload", "is empty; put in"},
		"cut payload":  {map[string]any{"Raw Payload": "{\n[cut here: 250000 characters in all; the whole is in the console]"}, "Raw Payload", "cut"},
		"bad base64":   {map[string]any{"Raw Payload": "[base64, as the payload is not plain text]\n***"}, "Raw Payload", "base64"},
		"bad time":     {map[string]any{"First Attempt At": "yesterday"}, "First Attempt At", `is "yesterday"; write a time with its zone`},
		"no zone":      {map[string]any{"First Attempt At": "2026-10-01T09:00:00"}, "First Attempt At", "zone"},
		"bad status":   {map[string]any{"Status Code": "Service Unavailable"}, "Status Code", "whole number from 0 to 599"},
		"below zero":   {map[string]any{"Attempts": "-1"}, "Attempts", "whole number"},
		"operation":    {map[string]any{"Operation": "delete"}, "Operation", "write update, upsert or nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := b.mirror.TakeIn(t.Context(), b.foreign(c.cells))
			e := domainError(t, err)
			require.Equal(t, deadletter.CodeInvalid, e.Code)
			require.Len(t, e.Fields, 1)
			require.Equal(t, c.field, e.Fields[0].Field)
			require.Contains(t, e.Fields[0].Detail, c.says)
		})
	}
}

func TestTakeInRefusesWhatIsClosed(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	for word, status := range map[string]deadletter.Status{"Replaying": deadletter.Replaying, "Resolved": deadletter.Resolved, "Ignored": deadletter.Ignored} {
		_, err := b.mirror.TakeIn(t.Context(), b.foreign(map[string]any{"Status": word}))
		e := domainError(t, err)
		require.Equal(t, deadletter.CodeConflict, e.Code)
		require.Equal(t, "entry-not-pending", e.Problem)
		require.Equal(t, status, e.EntryStatus)
		require.Contains(t, e.Message, "Set its Status to Pending Review first")
	}
}

func TestTakeInOfNoRow(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	b.foreign(nil)
	for id, requests := range map[string]int{"recNobody000000001": 1, "rec'), TRUE(), ('": 0, "": 0, "appOrdersSandbox01": 0} {
		b.box.ClearRequests()
		_, err := b.mirror.TakeIn(t.Context(), id)
		require.Equal(t, deadletter.CodeNotFound, deadletter.CodeOf(err), id)
		require.Len(t, b.box.Requests(), requests)
	}
}

func TestTakeInKnowsTheRowsOfItsOwnEntries(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1")
	own := b.foreign(map[string]any{mirror.KeyField: e.ID})
	row, err := b.mirror.TakeIn(t.Context(), own)
	require.NoError(t, err, "a row whose making was not settled")
	require.Equal(t, mirror.Row{EntryID: e.ID, DLQRecordID: own}, row)
	require.Equal(t, own, b.show(e.ID).DLQRecordID)

	duplicate := b.foreign(map[string]any{mirror.KeyField: e.ID})
	_, err = b.mirror.TakeIn(t.Context(), duplicate)
	problem := domainError(t, err)
	require.Equal(t, deadletter.CodeConflict, problem.Code)
	require.Equal(t, "row-is-a-copy", problem.Problem)
	require.Contains(t, problem.Message, own)
	require.Equal(t, own, b.show(e.ID).DLQRecordID)

	stranger := b.foreign(map[string]any{mirror.KeyField: "01234567-89ab-cdef-0123-456789abcdef"})
	row, err = b.mirror.TakeIn(t.Context(), stranger)
	require.NoError(t, err)
	require.Empty(t, row.EntryID)
}

func TestTakeInKeepsBinaryPayloads(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	row, err := b.mirror.TakeIn(t.Context(), b.foreign(map[string]any{"Raw Payload": mirror.PayloadText([]byte("{\x00\xff"))}))
	require.NoError(t, err)
	require.Equal(t, []byte("{\x00\xff"), row.RawPayload)
}

// A bulk edit does not cost a request for each row (B126).
func TestTakeInOfManyAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	ids := make([]string, 150)
	for i := range ids {
		ids[i] = b.foreign(map[string]any{"Target ID": fmt.Sprint(i)})
	}
	entered, goOn := make(chan bool), make(chan bool)
	var first sync.Once
	b.before = blockList(func() { first.Do(func() { entered <- true; <-goOn }) })
	var all sync.WaitGroup
	rows, errs := make([]mirror.Row, len(ids)), make([]error, len(ids))
	ask := func(i int) { all.Go(func() { rows[i], errs[i] = b.mirror.TakeIn(t.Context(), ids[i]) }) }
	ask(0)
	<-entered
	for i := range ids[1:] {
		ask(i + 1)
	}
	require.Eventually(t, func() bool { return b.mirror.Asking() == len(ids)-1 }, time.Minute, time.Millisecond)
	close(goOn)
	all.Wait()
	for i := range ids {
		require.NoError(t, errs[i])
		require.Equal(t, fmt.Sprint(i), rows[i].TargetID)
	}
	require.Len(t, b.box.Requests(), 3, "the first alone, then a page of 100 and the rest")
}

func TestOneWhoStopsAskingDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	id := b.foreign(nil)
	ctx, cancel := context.WithCancel(t.Context())
	entered, goOn := make(chan bool), make(chan bool)
	b.before = blockList(func() { entered <- true; <-goOn })
	gone, stays := make(chan error, 1), make(chan error, 1)
	ask := func(ctx context.Context, told chan error) {
		_, err := b.mirror.TakeIn(ctx, id)
		told <- err
	}
	go ask(ctx, gone)
	<-entered
	cancel()
	require.ErrorIs(t, <-gone, context.Canceled)
	go ask(t.Context(), stays)
	goOn <- true
	<-entered
	goOn <- true
	require.NoError(t, <-stays)
}

func TestTakeInWhenAirtableSaysNo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault sandbox.Fault
		code  deadletter.Code
		waits bool
	}{
		"429":       {sandbox.Fault{Status: 429}, deadletter.CodeUnavailable, true},
		"500":       {sandbox.Fault{Status: 500}, deadletter.CodeUpstream, true},
		"no answer": {sandbox.Fault{Drop: true}, deadletter.CodeUpstream, true},
		"403":       {sandbox.Fault{Status: 403}, deadletter.CodeUpstream, false},
		"422":       {sandbox.Fault{Status: 422}, deadletter.CodeUpstream, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, setting{})
			id := b.foreign(nil)
			b.fault(c.fault)
			_, err := b.mirror.TakeIn(t.Context(), id)
			e := domainError(t, err)
			require.Equal(t, c.code, e.Code)
			require.Equal(t, c.waits, e.RetryAfter > 0)
			require.NotContains(t, err.Error(), token)
			require.False(t, b.halted())
			b.advance(time.Minute)
			_, err = b.mirror.TakeIn(t.Context(), id)
			require.NoError(t, err)
		})
	}
}

func TestNothingIsReadWhileTheBaseStandsStill(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	id := b.foreign(nil)
	require.NoError(t, b.store.PauseBase(t.Context(), "orders", time.Minute, "rate limit"))
	_, err := b.mirror.TakeIn(t.Context(), id)
	e := domainError(t, err)
	require.Equal(t, deadletter.CodeUnavailable, e.Code)
	require.Greater(t, e.RetryAfter, 30*time.Second)
	require.Contains(t, e.Message, "base orders is paused: rate limit")
	require.Error(t, b.mirror.Refuse(t.Context(), id, "no"))
	b.advance(2 * time.Minute)
	_, err = b.store.HaltBase(t.Context(), "orders", "token revoked", "service")
	require.NoError(t, err)
	_, err = b.mirror.TakeIn(t.Context(), id)
	require.Equal(t, "base-halted", domainError(t, err).Problem)
	require.Empty(t, b.box.Requests())
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	id := b.foreign(map[string]any{boxField: true})
	require.NoError(t, b.mirror.Refuse(t.Context(), id, "Source System is empty."))
	require.Len(t, b.requests("PATCH"), 1)
	require.Len(t, b.box.Requests(), 1)
	row := b.rows()[0].Fields
	require.NotContains(t, row, boxField)
	require.Equal(t, "Source System is empty.", row[notesField])
	require.Equal(t, "order-system", row["Source System"], "nothing else is touched")

	require.NoError(t, b.mirror.Refuse(t.Context(), id, strings.Repeat("long \xff", 100_000)))
	require.Less(t, len(b.rows()[0].Fields[notesField].(string)), 30_000)
	require.Equal(t, deadletter.CodeNotFound, deadletter.CodeOf(b.mirror.Refuse(t.Context(), "recNobody000000001", "no")))
}

func TestRefuseWithoutNotes(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{table: without("Replay Notes")})
	id := b.foreign(map[string]any{boxField: true})
	require.NoError(t, b.mirror.Refuse(t.Context(), id, "no"))
	require.NotContains(t, b.rows()[0].Fields, boxField, "the button works again all the same")
	b.file("O-1")
	b.calm()
	b.box.ClearRequests()
	require.NoError(t, b.mirror.Refuse(t.Context(), id, "no"))
	require.Len(t, b.box.Requests(), 1, "the table is known by now")
}

// A row of another tool becomes the row of its entry: nothing is written twice.
func TestAfterTakingInTheRowIsTheEntrys(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	id := b.foreign(map[string]any{boxField: true, "Target ID": "O-1"})
	row, err := b.mirror.TakeIn(t.Context(), id)
	require.NoError(t, err)
	e := b.file("O-1", func(f *filing) {
		f.DLQRecordID, f.RawPayload, f.ReasonCode = row.DLQRecordID, row.RawPayload, row.ReasonCode
	})
	b.press("ann", e.ID)
	b.settle(e.ID, deadletter.Verdict{Outcome: deadletter.Replayed}, nil)
	b.calm()
	require.Len(t, b.rows(), 1)
	require.Equal(t, id, b.row(e.ID).ID)
	require.Equal(t, "Resolved", b.row(e.ID).Fields[statusField])
	require.False(t, b.ticked(e.ID))
}
