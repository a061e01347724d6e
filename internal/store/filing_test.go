package store_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// What an entry is filed with comes back as it was, byte for byte (E1).
func TestFilingComesBackAsItWas(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	at := time.Date(2026, 9, 30, 23, 59, 59, 123456000, time.FixedZone("", 2*3600))
	f := store.Filing{
		FilingKey: [32]byte{1}, DLQRecordID: "recDeadLetter0001", SourceSystem: sourceOf(orders), Base: orders, TargetTable: targetOf(orders), TargetID: "O-1\t\u2028ß",
		Operation: deadletter.Upsert, ReasonCode: deadletter.ReasonInvalidValue, ErrorDetail: "line\nline", StatusCode: 422, Attempts: 5,
		SourceVersion: "90071992547409931234", Version: version(9007199254740993), FirstAttemptAt: at, AssignedOwner: "ada", Actor: "tester",
	}
	for name, payload := range map[string][]byte{
		"JSON": []byte(`{"n": 90071992547409931234567890.10, "b": 1, "a": 1}`), "NUL and invalid UTF-8": []byte("{\x00\xff\xfe\\"), "empty": {}, "nil": nil,
		"a megabyte": bytes.Repeat([]byte{0, 1, 0xff}, 350_000), "not JSON": []byte("<xml/>\r\n"),
	} {
		f.RawPayload, f.FilingKey, f.DLQRecordID = payload, [32]byte([]byte(name + string(make([]byte, 32)))[:32]), ""
		if name == "JSON" {
			f.DLQRecordID = "recDeadLetter0001"
		}
		e := b.fileAs(t, f)
		require.True(t, bytes.Equal(payload, e.RawPayload), name)
		want := deadletter.Entry{
			ID: e.ID, DLQRecordID: f.DLQRecordID, SourceSystem: f.SourceSystem, Base: orders, TargetTable: f.TargetTable, TargetID: f.TargetID,
			Operation: deadletter.Upsert, RawPayload: e.RawPayload, ReasonCode: deadletter.ReasonInvalidValue, ErrorDetail: "line\nline", StatusCode: 422,
			Attempts: 5, SourceVersion: f.SourceVersion, FirstAttemptAt: at.UTC(), Status: deadletter.PendingReview, AssignedOwner: "ada",
			CreatedAt: morning, UpdatedAt: morning,
		}
		require.Empty(t, cmp.Diff(want, b.show(t, e.ID)), name)
		require.Equal(t, e.ID, b.value(t, `SELECT entry_id::text FROM entry_payload WHERE entry_id = $1 AND revision = 0 AND raw_payload = $2 AND edited_by = 'tester'`,
			e.ID, append([]byte{}, payload...)))
	}
	require.Equal(t, "JSON", map[string]string{b.show(t, "recDeadLetter0001").ID: "JSON"}[b.value(t, `SELECT id::text FROM entry WHERE dlq_record_id IS NOT NULL`)])
	require.Equal(t, "9007199254740993", b.value(t, `SELECT version_sort::text FROM entry LIMIT 1`))
}

func TestFilingIsTheFirstLineOfTheHistory(t *testing.T) {
	t.Parallel()
	b := frozen(t)
	f := filing(orders, "a", "a")
	f.ErrorDetail = "the field is gone"
	e := b.fileAs(t, f)
	require.Empty(t, cmp.Diff([]deadletter.HistoryLine{{
		At: morning, Event: string(deadletter.TransitionFiled), ToStatus: deadletter.PendingReview, Actor: "tester", Reason: deadletter.ReasonOther,
		Note: "the field is gone", Detail: map[string]any{},
	}}, b.history(t, e.ID)))
	require.Equal(t, orders, b.value(t, `SELECT base FROM mirror_row WHERE entry_id = $1 AND due_at = replay_now()`, e.ID))
}

// A text that Postgres cannot hold is mended or cut; payloads are kept beside it as they are.
func TestErrorTextIsMadeFit(t *testing.T) {
	t.Parallel()
	b := setup(t)
	f := filing(orders, "a", "a")
	f.ErrorDetail = "a\x00b\xffc" + string(bytes.Repeat([]byte("ü"), 5000))
	got := b.fileAs(t, f).ErrorDetail
	require.Contains(t, got, "a\u2400b\ufffdc")
	require.Contains(t, got, "… (cut, 10009 bytes in all)")
	require.Less(t, len(got), 4200)
}

// The same filing, many times at once, is one entry (E4).
func TestFilingTwiceIsOneEntry(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := b.wide(t, 20)
	f := filing(orders, "a", "a")
	const filings = 50
	ids, created, errs := make([]string, filings), make([]bool, filings), make([]error, filings)
	var wg sync.WaitGroup
	for i := range filings {
		wg.Go(func() {
			var e deadletter.Entry
			e, created[i], errs[i] = s.FileEntry(t.Context(), f)
			ids[i] = e.ID
		})
	}
	wg.Wait()
	news := 0
	for i := range filings {
		require.NoError(t, errs[i])
		require.Equal(t, ids[0], ids[i])
		if created[i] {
			news++
		}
	}
	require.Equal(t, 1, news)
	require.Equal(t, "1 1 1", b.value(t, `SELECT concat_ws(' ', (SELECT count(*) FROM entry), (SELECT count(*) FROM entry_payload), (SELECT count(*) FROM entry_history))`))
}

// A row of the dead letter table stands for one entry: another payload is refused, never dropped.
func TestRowOfAnotherEntryIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := filing(orders, "a", "a")
	first.DLQRecordID = "recDeadLetter0001"
	e := b.fileAs(t, first)

	again := first
	again.FilingKey, again.FirstAttemptAt = [32]byte{9}, failed.Add(time.Hour)
	got, created, err := b.store.FileEntry(t.Context(), again)
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, e.ID, got.ID, "the row was read twice")

	before := b.state(t)
	other := filing(orders, "b", "b")
	other.DLQRecordID = "recDeadLetter0001"
	_, _, err = b.store.FileEntry(t.Context(), other)
	d := problem(t, err)
	require.Equal(t, deadletter.CodeConflict, d.Code)
	require.Equal(t, "dlq_record_id", d.Fields[0].Field)
	require.Contains(t, d.Message, e.ID)
	require.Empty(t, cmp.Diff(before, b.state(t)))
}

func TestShowEntryOfNone(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, id := range []string{"", "x", "rec", "recNone", "0197c0de-0000-7000-8000-000000000000", "urn:uuid:0197c0de-0000-7000-8000-000000000000", "rec\x00"} {
		_, err := b.store.ShowEntry(t.Context(), id)
		if id == "rec\x00" {
			require.Equal(t, deadletter.CodeInvalid, deadletter.CodeOf(err))
			continue
		}
		require.Equal(t, "entry-not-found", problem(t, err).Problem, id)
	}
}
