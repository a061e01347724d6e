package app_test

import (
	"encoding/base64"
	"net/http"
	"testing"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// A reviewer mends an entry's payload; the original and every edit are kept (O1).

func edit(t *testing.T, w *apptest.World, id string, body apptest.Doc, headers ...string) (int, apptest.Doc) {
	t.Helper()
	if body["reason"] == nil {
		body["reason"] = "mended"
	}
	return w.Call(t, 0, http.MethodPut, "/v1/entries/"+id+"/payload", body, headers...)
}

// edited is edit that is taken.
func edited(t *testing.T, w *apptest.World, id, payload string) apptest.Doc {
	t.Helper()
	status, e := edit(t, w, id, apptest.Doc{"raw_payload": payload})
	require.Equal(t, http.StatusOK, status, "%v", e)
	require.Equal(t, payload, e["raw_payload"])
	return e
}

// payloads are an entry's revisions as text.
func payloads(t *testing.T, w *apptest.World, id string) []string {
	t.Helper()
	var out []string
	for i, p := range w.Read(t, "/v1/entries/"+id+"/payloads")["payloads"].([]any) {
		doc := p.(apptest.Doc)
		require.Equal(t, number(i), number(doc["revision"]))
		text, ok := doc["raw_payload"].(string)
		if !ok {
			raw, err := base64.StdEncoding.DecodeString(doc["raw_payload_base64"].(string))
			require.NoError(t, err)
			text = string(raw)
		}
		out = append(out, text)
	}
	return out
}

func events(t *testing.T, w *apptest.World, id string) []string {
	t.Helper()
	var out []string
	for _, line := range w.History(t, id) {
		out = append(out, line["event"].(string))
	}
	return out
}

func TestB85EditedTwice(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	filed := apptest.Order("O-3", second, apptest.Doc{"status": "Sent"})
	id := w.File(t, filed, nil)
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replay_failed", "invalid_option")

	first := apptest.Order("O-3", second, apptest.Doc{"status": "Shipped", "note": "once"})
	edited(t, w, id, first)
	w.Fault(t, apptest.Answer(422, `{"error": {"type": "INVALID_VALUE_FOR_COLUMN", "message": "Field \"Note\" cannot accept the provided value"}}`))
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replay_failed", "invalid_value")

	again := apptest.Order("O-3", second, apptest.Doc{"status": "Shipped", "note": "twice"})
	e := edited(t, w, id, again)
	require.Equal(t, "2", number(e["payload_revision"]))
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
	require.Equal(t, "twice", w.OrderCells(t, "O-3")["Note"])
	require.Equal(t, []string{filed, first, again}, payloads(t, w, id))
	require.Equal(t, []string{"filed", "claimed", "settled", "edited", "claimed", "settled", "edited", "claimed", "settled"}, events(t, w, id))
	line := w.History(t, id)[6]
	require.Equal(t, "mended", line["note"])
	require.Equal(t, "2", number(line["detail"].(apptest.Doc)["revision"]))
	require.Equal(t, "tester", line["actor"])
	require.Equal(t, "invalid_option", mustReason(t, w.History(t, id)[2]), "history keeps what the first payload came to")
}

func mustReason(t *testing.T, line apptest.Doc) string {
	t.Helper()
	reason, ok := line["reason"].(string)
	require.True(t, ok, "%v", line)
	return reason
}

// Bytes come back exactly as they are stored, and saving them unchanged changes nothing (cases B20, B37).
func TestStoryPayloadSavedUnchanged(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	for _, payload := range []string{`{"id":1970670598291982290}`, `{"Due":"2026-05-10"}`, "not JSON \x00 at all", "\xff\xfe"} {
		id := w.FileBytes(t, []byte(payload), nil)
		for range 3 {
			e := w.Entry(t, id)
			body := apptest.Doc{"raw_payload": e["raw_payload"]}
			if e["raw_payload"] == nil {
				body = apptest.Doc{"raw_payload_base64": e["raw_payload_base64"]}
			}
			status, e := edit(t, w, id, body)
			require.Equal(t, http.StatusOK, status, "%v", e)
			require.Equal(t, "0", number(e["payload_revision"]))
		}
		require.Equal(t, []string{payload}, payloads(t, w, id))
		require.Equal(t, []string{"filed"}, events(t, w, id))
	}
}

// Of two editors who saw the same revision the second is told, and nobody edits what is not pending.
func TestStoryEditRefused(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	id := w.File(t, apptest.Order("O-3", second, shipped), nil)
	one, two := apptest.Order("O-3", second, apptest.Doc{"status": "Shipped"}), apptest.Order("O-3", second, apptest.Doc{"status": "Delivered"})
	status, _ := edit(t, w, id, apptest.Doc{"raw_payload": one, "expect_revision": 0})
	require.Equal(t, http.StatusOK, status)
	status, problem := edit(t, w, id, apptest.Doc{"raw_payload": two, "expect_revision": 0})
	require.Equal(t, http.StatusConflict, status)
	require.Equal(t, "/problems/payload-changed", problem["type"])
	require.Contains(t, problem["detail"], "revision 1")
	require.Equal(t, one, w.Entry(t, id)["raw_payload"])

	require.Equal(t, "resolved", w.Replay(t, id, nil)["status"])
	status, problem = edit(t, w, id, apptest.Doc{"raw_payload": two})
	require.Equal(t, http.StatusConflict, status)
	require.Equal(t, "/problems/entry-not-pending", problem["type"])
	require.Equal(t, "resolved", problem["entry_status"])
	require.Len(t, payloads(t, w, id), 2)
}

// An edit decides anew which record and which version an entry is about; what the payload does not
// tell stays as it was filed.
func TestStoryEditReidentifies(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	id := w.File(t, apptest.Order("O-1", second, shipped), nil)
	e := edited(t, w, id, apptest.Order("O-3", "2026-10-03T08:00:00Z", apptest.Doc{"status": "Delivered"}))
	require.Equal(t, "O-3", e["target_id"])
	require.Equal(t, "2026-10-03T08:00:00Z", e["source_version"])
	require.Equal(t, "2026-10-03T08:00:00Z", e["source_updated_at"])
	require.Contains(t, lastLine(t, w, id)["note"], `The entry is about record "O-3" now; before, it was about "O-1".`)
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
	require.Equal(t, "Delivered", w.OrderCells(t, "O-3")["Status"])
	require.Equal(t, "Pending", w.OrderCells(t, "O-1")["Status"])

	dated := w.File(t, apptest.Order("O-1", "", apptest.Doc{"status": "Sent"}), apptest.Doc{"source_version": second})
	apptest.RequireOutcome(t, w.Replay(t, dated, nil), "replay_failed", "invalid_option")
	e = edited(t, w, dated, apptest.Order("O-1", "", apptest.Doc{"status": "Shipped"}))
	require.Equal(t, second, e["source_version"])
	apptest.RequireOutcome(t, w.Replay(t, dated, nil), "replayed", "")
	require.Equal(t, "2026-10-02T08:00:00.750Z", w.OrderCells(t, "O-1")["Source Updated At"])
}

// A payload that is edited while the write of the former one has no answer: that write is recognised as
// a fact, what was edited is written, and each has its own values before (R2).
func TestStoryEditUnderAnOpenWrite(t *testing.T) {
	t.Parallel()
	again := newSecondAttempt()
	defer again.goOn()
	again.armed.Store(true)
	w := apptest.New(t, apptest.Options{Probe: again.probe})
	id := w.File(t, apptest.Order("O-3", second, apptest.Doc{"status": "Shipped"}), nil)
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Table: "Orders", Times: 1, Drop: true, AfterApply: true})
	w.Press(t, id, nil)
	<-again.due
	status, e := w.Call(t, 0, http.MethodPost, "/v1/entries/"+id+"/reset", apptest.Doc{"reason": "to be mended"})
	require.Equal(t, http.StatusOK, status, "%v", e)
	edited(t, w, id, apptest.Order("O-3", second, apptest.Doc{"status": "Delivered"}))
	w.Press(t, id, nil)
	again.goOn()
	e = w.Settled(t, id)
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Equal(t, apptest.Doc{"Status": "Shipped"}, apptest.Outcome(e)["values_before"])
	require.Equal(t, "Delivered", w.OrderCells(t, "O-3")["Status"])
	require.Equal(t, "2", number(len(w.CellChanges("recOrd00000000003", "Status"))))
	require.Contains(t, events(t, w, id), "landed")
}

// An entry that an edit has made about another record goes alone: those that one decision sent to review
// with it are about the former one (R11).
func TestStoryEditLeavesTheReviewGroup(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	one := w.File(t, apptest.Order("O-2", second, shipped), nil)
	two := w.File(t, apptest.Order("O-2", third, apptest.Doc{"status": "Delivered", "delivery_date": "2026-10-06"}), nil)
	editDate(t, w, "2026-10-20")
	w.Finished(t, w.RunIDs(t, nil, one, two))
	for _, id := range []string{one, two} {
		apptest.RequireOutcome(t, w.Entry(t, id), "needs_review", "shared_field_changed")
	}
	edited(t, w, one, apptest.Order("O-3", second, shipped))
	apptest.RequireOutcome(t, w.Replay(t, one, nil), "replayed", "")
	require.Equal(t, "Shipped", w.OrderCells(t, "O-3")["Status"])
	require.Equal(t, []string{"filed", "claimed", "settled"}, events(t, w, two), "nobody pressed it")
	require.Equal(t, "Pending", w.OrderCells(t, "O-2")["Status"])
}

// A mended entry is not hopeless: its failures count anew (O3).
func TestStoryEditEndsTheCap(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{Config: apptest.ConfigWith(t, apptest.Rules{Replay: "{attempt_cap: 1, recovery_tick: 100ms}"})})
	operator := w.NewToken(t, "replay", "read")
	id := w.File(t, apptest.Order("O-3", second, apptest.Doc{"status": "Sent"}), nil)
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replay_failed", "invalid_option")
	press := func() int {
		status, _ := w.Call(t, 0, http.MethodPost, "/v1/entries/"+id+"/replay", nil, "Authorization", operator)
		return status
	}
	require.Equal(t, http.StatusConflict, press())
	status, e := edit(t, w, id, apptest.Doc{"raw_payload": apptest.Order("O-3", second, shipped)}, "Authorization", operator)
	require.Equal(t, http.StatusOK, status, "%v", e)
	require.Equal(t, http.StatusAccepted, press())
	apptest.RequireOutcome(t, w.Settled(t, id), "replayed", "")
}

// People see in Airtable what was edited and who has the entry.
func TestStoryEditsReachTheMirror(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{Seed: apptest.SeedWith(deadLetterTable), Config: "dead_letters: {base: orders, table: Dead Letter Queue}\n" + apptest.DefaultConfig})
	id := w.File(t, apptest.Order("O-3", second, shipped), nil)
	shows := func(field, value string) {
		apptest.Eventually(t, func() bool { return w.Cells(t, "Dead Letter Queue", "DLQ Record ID", id)[field] == value }, field+" shows "+value)
	}
	shows("Target ID", "O-3")
	mended := apptest.Order("O-2", third, shipped)
	edited(t, w, id, mended)
	shows("Raw Payload", mended)
	shows("Target ID", "O-2")
	status, _ := w.Call(t, 0, http.MethodPost, "/v1/entries/"+id+"/owner", apptest.Doc{"assigned_owner": "ada"})
	require.Equal(t, http.StatusOK, status)
	shows("Assigned Owner", "ada")
	status, _ = w.Call(t, 0, http.MethodPost, "/v1/entries/ignore", apptest.Doc{"ids": []string{id}, "reason": "a test"})
	require.Equal(t, http.StatusOK, status)
	shows("Status", "Ignored")
}
