package mirror_test

import (
	"encoding/json"
	"testing"
	"time"

	"airtable-replay/internal/config"
	"airtable-replay/internal/mirror"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// requireShown checks that every entry has exactly one row, with its present state.
func (b *bundle) requireShown(notes map[string]string) {
	b.t.Helper()
	require.Len(b.t, b.rows(), len(notes))
	for id, note := range notes {
		row := b.row(id)
		require.Equal(b.t, row.ID, b.show(id).DLQRecordID)
		require.Equal(b.t, "Replay was refused: "+note, row.Fields["Replay Notes"])
	}
}

// shortTimeout is for faults that are waited out.
func shortTimeout(r *config.Retry) { r.RequestTimeout = 300 * time.Millisecond }

func TestRightInTheEndAfterAnyFailure(t *testing.T) {
	t.Parallel()
	body := func(kind, message string) json.RawMessage {
		raw, err := json.Marshal(map[string]any{"error": map[string]string{"type": kind, "message": message}})
		require.NoError(t, err)
		return raw
	}
	for name, f := range map[string]sandbox.Fault{
		"500":                   {Status: 500},
		"500 after it landed":   {Status: 500, AfterApply: true},
		"502 page":              {Status: 502},
		"503":                   {Status: 503, Headers: map[string]string{"Retry-After": "7"}},
		"503, landing later":    {Status: 503, ApplyLater: sandbox.Duration(50 * time.Second)},
		"cut":                   {Drop: true},
		"cut after it landed":   {Drop: true, AfterApply: true},
		"cut, landing later":    {Drop: true, ApplyLater: sandbox.Duration(50 * time.Second)},
		"no answer":             {Delay: sandbox.Duration(time.Hour)},
		"no answer, but landed": {AnswerDelay: sandbox.Duration(time.Hour)},
		"429":                   {Status: 429},
		"quota":                 {Status: 429, Body: body("PUBLIC_API_BILLING_LIMIT_EXCEEDED", "API billing plan limit exceeded")},
		"401":                   {Status: 401},
		"403":                   {Status: 403},
		"404 of the table":      {Status: 404},
		"413":                   {Status: 413},
		"422":                   {Status: 422},
		"422 about a value":     {Status: 422, Body: body("INVALID_VALUE_FOR_COLUMN", "Field \"Status\" cannot accept the provided value")},
		"unreadable":            {Status: 200, Body: json.RawMessage(`"<html>"`)},
		"an answer to another":  {Status: 200, Body: json.RawMessage(`{"records":[]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, setting{retry: shortTimeout})
			known := b.fileMany(6)
			b.pass()
			f.Method, f.Times = "PATCH", 3
			b.fault(f)
			notes := map[string]string{}
			for _, e := range known {
				require.NoError(t, b.store.RefusePress(t.Context(), e.ID, "ann", "older"))
			}
			b.pass()
			for i := range 7 {
				known = append(known, b.file(string(rune('a'+i))))
			}
			for _, e := range known {
				require.NoError(t, b.store.RefusePress(t.Context(), e.ID, "ann", "newest"))
				notes[e.ID] = "newest"
			}
			b.calm()
			b.advance(5 * time.Minute)
			b.requireShown(notes)
			require.False(t, b.halted(), "a failing mirror never halts data (R9)")
			require.NotContains(t, b.log.String(), token)
			require.NotContains(t, b.log.String(), `{"order"`, "no payload in the log")
			require.Less(t, len(b.requests("PATCH")), 60)
		})
	}
}

// The worst case of an unanswered write: an older state that lands after the newer one.
func TestAnOldStateThatLandsLateDoesNotStay(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1")
	b.calm()
	require.NoError(t, b.store.RefusePress(t.Context(), e.ID, "ann", "old"))
	b.fault(sandbox.Fault{Method: "PATCH", Drop: true, ApplyLater: sandbox.Duration(70 * time.Second)})
	b.pass()
	b.db.Advance(t, 25*time.Second)
	require.NoError(t, b.store.RefusePress(t.Context(), e.ID, "ann", "new"))
	b.pass()
	require.Equal(t, "Replay was refused: new", b.row(e.ID).Fields["Replay Notes"])
	b.box.Advance(71 * time.Second)
	require.Equal(t, "Replay was refused: old", b.row(e.ID).Fields["Replay Notes"], "it has landed over the new one")
	require.Equal(t, 1, b.waiting(), "so the row is sent once more when nothing can land any longer")
	b.restart()
	b.db.Advance(t, 81*time.Second)
	b.pass()
	require.Equal(t, "Replay was refused: new", b.row(e.ID).Fields["Replay Notes"])
	require.Zero(t, b.waiting())
}

func TestAfterNoAnswerTheTimeoutPassesFirst(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1")
	b.fault(sandbox.Fault{Method: "PATCH", Drop: true})
	b.pass()
	require.Len(t, b.requests("PATCH"), 1)
	require.NoError(t, b.store.RefusePress(t.Context(), e.ID, "ann", "changed meanwhile"))
	b.advance(15 * time.Second)
	require.False(t, b.pass(), "the first request may still land (R9)")
	b.advance(time.Minute)
	b.pass()
	require.Len(t, b.requests("PATCH"), 2)
	require.Equal(t, "Replay was refused: changed meanwhile", b.row(e.ID).Fields["Replay Notes"])
}

func TestACrashBetweenSendingAndSettling(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1")
	hold := b.acquire()
	require.NoError(t, b.store.BeginMirror(t.Context(), hold.Lease, []string{e.ID}), "what the process did before it died")
	b.advance(time.Hour)
	b.restart()
	b.pass()
	require.Equal(t, "O-1", b.row(e.ID).Fields["Target ID"])
	require.Equal(t, 1, b.waiting(), "the dead process's request may land: the row is confirmed later")
	b.calm()
	require.Len(t, b.requests("PATCH"), 2)
}

func TestARefusedTokenIsToldOnceForEachHold(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	b.fileMany(30)
	require.NoError(t, b.box.SetToken(token, "revoked"))
	b.pass()
	require.Equal(t, 1, b.log.count("mirror refused"))
	require.Len(t, b.box.Requests(), 1, "one request learns of it, and all rows wait")
	b.advance(50 * time.Second)
	b.file("O-31")
	b.pass()
	require.Len(t, b.box.Requests(), 1, "a new row does not ask again")
	b.advance(20 * time.Second)
	b.pass()
	require.Len(t, b.box.Requests(), 2)
	require.Equal(t, 2, b.log.count("mirror refused"))
	require.NoError(t, b.box.SetToken(token, "valid"))
	b.calm()
	require.Len(t, b.rows(), 31)
	require.False(t, b.halted())
}

func TestAfter429TheWholeBaseWaits(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	b.fileMany(12)
	b.fault(sandbox.Fault{Method: "PATCH", Status: 429})
	b.pass()
	require.Len(t, b.requests("PATCH"), 1)
	s, err := b.store.FindBase(t.Context(), "orders")
	require.NoError(t, err)
	now, err := b.store.Now(t.Context())
	require.NoError(t, err)
	require.WithinRange(t, s.PausedUntil, now.Add(20*time.Second), now.Add(36*time.Second))
	b.advance(19 * time.Second)
	require.False(t, b.pass())
	b.advance(20 * time.Second)
	b.pass()
	require.Len(t, b.requests("PATCH"), 3)
	require.Zero(t, b.waiting(), "a 429 was surely not applied: nothing is sent twice")
}

func TestARowThatCannotBeWrittenKeepsNobodyBack(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]sandbox.Fault{
		"refused":   {Status: 422},
		"too large": {Status: 413},
		"crashes":   {Status: 500},
		"silent":    {Drop: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, setting{})
			entries := b.fileMany(15)
			f.Method, f.Contains, f.Times = "PATCH", entries[4].ID, -1
			b.fault(f)
			for range 12 {
				b.pass()
				b.advance(time.Minute)
			}
			require.Len(t, b.rows(), 14)
			var tries int
			var problem string
			const state = "SELECT tries, last_error FROM mirror_row WHERE entry_id = $1"
			require.NoError(t, b.db.Pool.QueryRow(t.Context(), state, entries[4].ID).Scan(&tries, &problem))
			require.Greater(t, tries, 2)
			require.NotEmpty(t, problem)
			before := len(b.requests("PATCH"))
			for range 120 {
				b.pass()
				b.advance(time.Minute)
			}
			require.Equal(t, 1, b.waiting(), "it stays due")
			require.Less(t, len(b.requests("PATCH"))-before, 25, "ever more seldom")
			require.Greater(t, len(b.requests("PATCH"))-before, 4, "but at least every ten minutes or so")
			b.box.ClearFaults()
			b.calm()
			require.Len(t, b.rows(), 15)
		})
	}
}

func TestARowTooLargeIsShortened(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	require.NoError(t, b.box.SetOptions(func(o *sandbox.Options) { o.BodyLimit = 50_000 }))
	long := b.file("long", payloadOf(80_000))
	short := b.file("short")
	b.calm()
	require.Equal(t, "short", b.row(short.ID).Fields["Target ID"])
	require.Contains(t, b.row(long.ID).Fields["Raw Payload"], "[cut here: 80000 characters in all")
}

func TestPayloadsShareARequestWithinBounds(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	for i := range 10 {
		b.file(string(rune('a'+i)), payloadOf(900_000))
	}
	b.calm()
	require.Len(t, b.rows(), 10)
	require.Len(t, b.requests("PATCH"), 2)
}

func TestADeletedRowIsMadeAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	entries := b.fileMany(10)
	b.pass()
	gone := b.row(entries[3].ID).ID
	require.NoError(t, b.box.Delete(baseID, tableName, gone))
	b.box.ClearRequests()
	notes := map[string]string{}
	for _, e := range entries {
		require.NoError(t, b.store.RefusePress(t.Context(), e.ID, "ann", "again"))
		notes[e.ID] = "again"
	}
	b.pass()
	b.requireShown(notes)
	require.NotEqual(t, gone, b.show(entries[3].ID).DLQRecordID)
	require.Len(t, b.requests("PATCH"), 2)
	require.Zero(t, b.waiting())
}

func TestAnEntryWithTwoRowsKeepsTheOlder(t *testing.T) {
	t.Parallel()
	b := setup(t, setting{})
	e := b.file("O-1")
	older := b.edit("", map[string]any{mirror.KeyField: e.ID})
	b.box.Advance(time.Minute)
	b.edit("", map[string]any{mirror.KeyField: e.ID})
	b.calm()
	require.Equal(t, older, b.show(e.ID).DLQRecordID)
	for _, row := range b.rows() {
		require.Equal(t, row.ID == older, row.Fields["Target ID"] == "O-1")
	}
}
