package app_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// B20: the digits of big IDs survive filing, reading, matching and writing.
func TestB20BigIDsKeepTheirDigits(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	const key = "1970670598291982290"
	w.Make(t, "Orders", apptest.Doc{"Order ID": key, "Status": "Pending", "Source Updated At": "2026-09-30T08:00:00Z"})
	w.Make(t, "Orders", apptest.Doc{"Order ID": "1970670598291982300", "Status": "Pending", "Source Updated At": "2026-09-30T08:00:00Z"})
	payload := `{"updated_at": "2026-10-02T08:00:00Z", "order": {"id": ` + key + `, "status": "Shipped", "note": "1970670598291982291"}}`
	id := w.File(t, payload, nil)
	require.Equal(t, key, w.Entry(t, id)["target_id"])
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
	e := w.Entry(t, id)
	require.Equal(t, payload, e["raw_payload"], "byte for byte, blanks included")
	require.Equal(t, "1970670598291982291", apptest.Outcome(e)["fields_replayed"].(apptest.Doc)["Note"])
	require.Equal(t, "Shipped", w.OrderCells(t, key)["Status"])
	require.Equal(t, "Pending", w.OrderCells(t, "1970670598291982300")["Status"])
}

// B87: 202 means that it will happen; what cannot start says so.
func TestB87NeverASilentSuccess(t *testing.T) {
	t.Parallel()
	t.Run("halted", func(t *testing.T) {
		t.Parallel()
		w := apptest.New(t, apptest.Options{})
		id := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", shipped), nil)
		status, base := w.Call(t, 0, "POST", "/v1/bases/orders/halt", apptest.Doc{"reason": "maintenance"})
		require.Equal(t, http.StatusOK, status, "%v", base)
		for path, body := range map[string]apptest.Doc{
			"/v1/entries/" + id + "/replay": {"requested_by": "ann"},
			"/v1/runs":                      {"selector": apptest.Doc{"ids": []string{id}}},
		} {
			status, answer := w.Call(t, 0, "POST", path, body)
			require.Equal(t, http.StatusConflict, status, "%s: %v", path, answer)
			require.Equal(t, "/problems/base-halted", answer["type"])
			require.Contains(t, answer["detail"], "maintenance")
			require.Contains(t, answer["detail"], "nothing was started")
		}
		require.Equal(t, "pending_review", w.Entry(t, id)["status"])
		require.Empty(t, w.Read(t, "/v1/runs")["runs"])
		status, _ = w.Call(t, 0, "POST", "/v1/bases/orders/resume", nil)
		require.Equal(t, http.StatusOK, status)
		apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
	})
	t.Run("no worker", func(t *testing.T) {
		t.Parallel()
		w := apptest.New(t, apptest.Options{NoStart: true})
		id := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", shipped), nil)
		run := w.Press(t, id, nil)
		require.Equal(t, "queued", w.Read(t, "/v1/runs/"+run)["status"])
		require.Equal(t, "replaying", w.Entry(t, id)["status"])
		require.Equal(t, "1", number(state(t, w)["waiting"]))
		w.Start(t, 0)
		apptest.RequireOutcome(t, w.Settled(t, id), "replayed", "")
		require.Equal(t, "completed", w.Finished(t, run)["status"])
	})
}

// B88: a run that nobody works on yet is at 0 of 3, never complete.
func TestB88QueuedRunIsNotComplete(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	ids := fileAll(t, w, []string{"O-1", "O-2", "O-3"}, "2026-10-02T08:00:00Z")
	run := w.Read(t, "/v1/runs/"+w.RunIDs(t, nil, ids...))
	require.Equal(t, "queued", run["status"])
	requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"claimed": 3, "replayed": 0, "released": 0})
	require.Nil(t, run["finished_at"])
	w.Start(t, 0)
	requireCounts(t, w.Finished(t, run["id"].(string))["counts"].(apptest.Doc), map[string]int{"claimed": 3, "replayed": 3})
}

// B90: an entry claimed by a process that is gone says who asked and since when, and the sweeper frees
// it with a note.
func TestB90ClaimOfAProcessThatIsGone(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true, SimulatedClock: true})
	id := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", shipped), nil)
	run := w.Press(t, id, nil)
	e := w.Entry(t, id)
	require.Equal(t, "replaying", e["status"])
	require.Equal(t, "ann", apptest.Outcome(e)["requested_by"])
	require.NotEmpty(t, apptest.Outcome(e)["requested_at"])
	sweep := func() { require.NoError(t, w.Apps[0].Replay.SweepStuck(t.Context())) }

	w.Advance(t, 4*time.Minute)
	sweep()
	require.Empty(t, w.Read(t, "/v1/stuck")["entries"], "not before the threshold")
	require.Equal(t, "replaying", w.Entry(t, id)["status"])

	w.Advance(t, time.Minute+time.Second)
	stuck := w.Read(t, "/v1/stuck")["entries"].([]any)
	require.Len(t, stuck, 1)
	require.Equal(t, id, stuck[0].(apptest.Doc)["id"])
	sweep()
	e = w.Entry(t, id)
	require.Equal(t, "pending_review", e["status"])
	apptest.RequireOutcome(t, e, "", "swept")
	require.Contains(t, apptest.Outcome(e)["notes"], "Check the record")
	require.Empty(t, w.Read(t, "/v1/stuck")["entries"])
	requireCounts(t, w.Finished(t, run)["counts"].(apptest.Doc), map[string]int{"claimed": 1, "released": 1})
	w.Start(t, 0)
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
}

// B91: the history tells, line by line, what was tried, by whom and how it ended.
func TestB91TrailOfWhatWasRetried(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	id := w.File(t, apptest.Order("N-1", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil)
	w.Replay(t, id, apptest.Doc{"requested_by": "ann"})
	w.Make(t, "Orders", apptest.Doc{"Order ID": "N-1", "Status": "Pending", "Source Updated At": "2026-09-30T08:00:00Z"})
	w.Fault(t, apptest.Answer(422, `{"error":{"type":"INVALID_VALUE_FOR_COLUMN","message":"Field \"Status\" cannot accept the provided value"}}`))
	w.Replay(t, id, apptest.Doc{"requested_by": "bob"})
	apptest.RequireOutcome(t, w.Replay(t, id, apptest.Doc{"requested_by": "cleo"}), "replayed", "")

	var trail []string
	last := time.Time{}
	for _, line := range w.History(t, id) {
		trail = append(trail, fmt.Sprintf("%v %v: %v→%v %v %v", line["actor"], line["event"], line["from_status"], line["to_status"], line["outcome"], line["reason"]))
		at := instant(t, line["at"])
		require.False(t, at.Before(last), "in order")
		last = at
	}
	require.Equal(t, []string{
		"tester filed: <nil>→pending_review <nil> transient_exhausted",
		"ann claimed: pending_review→replaying <nil> <nil>",
		"ann settled: replaying→pending_review replay_failed no_match",
		"bob claimed: pending_review→replaying <nil> <nil>",
		"bob settled: replaying→pending_review replay_failed invalid_value",
		"cleo claimed: pending_review→replaying <nil> <nil>",
		"cleo settled: replaying→resolved replayed <nil>",
	}, trail)
}

func TestB96LimitOutOfRange(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", shipped), nil)
	for _, path := range []string{"/v1/entries", "/v1/runs"} {
		for _, limit := range []string{"-1", "0", "abc"} {
			status, answer := w.Call(t, 0, "GET", path+"?limit="+limit, nil)
			require.Equal(t, http.StatusBadRequest, status, "%s %s", path, limit)
			require.Contains(t, fmt.Sprint(answer["errors"]), "limit")
		}
		require.Equal(t, "200", number(w.Read(t, path+"?limit=1000000")["limit"]), "the answer says what it was capped at")
	}
}

// B102: ten entries, four of which had been written before they failed. None gets a second row.
func TestB102HalfDoneBeforeItFailed(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	var keys []string
	for i := range 10 {
		keys = append(keys, fmt.Sprintf("N-%d", i))
	}
	for _, key := range keys[:4] {
		w.Make(t, "Orders", apptest.Doc{"Order ID": key, "Status": "Shipped", "Source Updated At": "2026-10-02T08:00:00Z"})
	}
	// And the first answer to the replay itself is lost.
	w.Fault(t, sandbox.Fault{Method: http.MethodPatch, Status: 503, AfterApply: true})
	ids := fileAll(t, w, keys, "2026-10-02T08:00:00Z")
	run := w.Finished(t, w.RunIDs(t, nil, ids...))
	requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"replayed": 6, "superseded": 4})
	requireCounts(t, run["reconciliation"].(apptest.Doc), map[string]int{"created": 6, "updated": 0})
	require.Len(t, records(t, w, "Orders"), 13, "one row each, beside the three of the seed")
	for i, id := range ids {
		require.Equal(t, 1, settled(t, w, id), keys[i])
	}
}

// B109: a job that fails runs again, twins and all; no job of ours is unique, so none stands in the way.
func TestB109FailedJobRunsAgain(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	_, err := w.DB.Pool.Exec(t.Context(), `
		CREATE SEQUENCE intents;
		CREATE FUNCTION fail_first() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF nextval('intents') = 1 THEN RAISE EXCEPTION 'the disk is full'; END IF;
			RETURN NEW;
		END $$;
		CREATE TRIGGER fail_first BEFORE INSERT ON intent FOR EACH ROW EXECUTE FUNCTION fail_first()`)
	require.NoError(t, err)
	first := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", shipped), nil)
	second := w.File(t, apptest.Order("O-1", "2026-10-02T08:00:00Z", shipped), nil)
	w.Press(t, first, nil)
	w.Press(t, second, nil)
	w.Start(t, 0)
	apptest.RequireOutcome(t, w.Settled(t, first), "replayed", "")
	apptest.RequireOutcome(t, w.Settled(t, second), "replayed", "")
	require.Equal(t, 1, w.Writes())
	var failed, open int
	apptest.Eventually(t, func() bool {
		const jobs = `SELECT count(*) FILTER (WHERE cardinality(errors) > 0), count(*) FILTER (WHERE state <> 'completed') FROM river_job`
		require.NoError(t, w.DB.Pool.QueryRow(t.Context(), jobs).Scan(&failed, &open))
		return open == 0
	}, "the failed job has run again")
	require.Equal(t, 1, failed)
}

// B113: the process that had taken the job is killed; another one does the work, long before the queue
// itself would give the job to somebody else.
func TestB113ProcessKilledOverItsJob(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	id := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", shipped), nil)
	w.Press(t, id, nil)
	tag, err := w.DB.Pool.Exec(t.Context(), `UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now(), attempted_by = ARRAY['killed']`)
	require.NoError(t, err)
	require.EqualValues(t, 1, tag.RowsAffected())
	w.AddReplica(t, apptest.Options{})
	apptest.RequireOutcome(t, w.Settled(t, id), "replayed", "")
}

// E1: the payload as it arrived comes back byte for byte, and one that nobody can read stays replayable.
func TestStoryPayloadsSurvive(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	for name, payload := range map[string]string{
		"no JSON":           `{"order": {"id": "O-1", `,
		"NUL":               "{\"order\": {\"id\": \"O-1\"}}\x00",
		"NUL escaped":       `{"updated_at":"2026-10-02T08:00:00Z","order":{"id":"O-1","status":"Shipped","note":"a\u0000b"}}`,
		"invalid UTF-8":     "{\"order\": {\"id\": \"O-1\", \"note\": \"\xff\xfe\"}}",
		"beyond 2^53":       `{"updated_at":"2026-10-02T08:00:00Z","order":{"id":"O-1","status":"Shipped","quantity":9007199254740993}}`,
		"blanks and order":  "{ \"order\" : {\"status\":\"\\u0053hipped?\",\r\n \"id\":\"O-1\"},\t\"updated_at\":\"2026-10-02T08:00:00Z\" }\n",
		"a key that is two": `{"order":{"id":"O-1","id":"O-2","status":"Shipped"},"updated_at":"2026-10-02T08:00:00Z"}`,
		"markup":            `<script>alert("O-1")</script>`,
	} {
		id := w.FileBytes(t, []byte(payload), nil)
		require.Equal(t, payload, raw(t, w.Entry(t, id)), name)
		e := w.Replay(t, id, nil)
		require.Equal(t, "replay_failed", apptest.Outcome(e)["outcome"], name)
		require.Contains(t, []string{"unparseable_payload", "invalid_value", "invalid_option"}, apptest.Outcome(e)["reason"], name)
		require.NotEmpty(t, apptest.Outcome(e)["notes"], name)
		require.Equal(t, "pending_review", e["status"])
		require.Equal(t, payload, raw(t, e), name)
		require.Equal(t, payload, raw(t, w.Entry(t, id)), name)
		status, _ := w.Call(t, 0, "POST", "/v1/entries/"+id+"/ignore", apptest.Doc{"reason": "unreadable"})
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, payload, raw(t, w.Entry(t, id)), name)
	}
	require.Zero(t, w.Writes())
}

// raw is an entry's payload, whichever of the two members holds it.
func raw(t *testing.T, e apptest.Doc) string {
	t.Helper()
	if encoded, ok := e["raw_payload_base64"].(string); ok {
		b, err := base64.StdEncoding.DecodeString(encoded)
		require.NoError(t, err)
		return string(b)
	}
	return e["raw_payload"].(string)
}
