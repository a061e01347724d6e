package apptest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Doc is a JSON object as a story reads it; numbers keep their digits.
type Doc = map[string]any

// Failed is the First Attempt At of entries that File makes.
var Failed = time.Date(2026, 10, 2, 9, 0, 0, 0, time.UTC)

// client keeps enough connections for calls that come together.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}

// Call sends a JSON request to a replica and returns the status and the answer.
func (w *World) Call(t testing.TB, replica int, method, path string, body any, headers ...string) (int, Doc) {
	t.Helper()
	var text []byte
	if raw, ok := body.([]byte); ok {
		text = raw
	} else if body != nil {
		var err error
		text, err = json.Marshal(body)
		require.NoError(t, err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, w.URLs[replica]+path, bytes.NewReader(text))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+w.Token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	doc := Doc{}
	dec := json.NewDecoder(bytes.NewReader(answer))
	dec.UseNumber()
	if len(answer) > 0 {
		require.NoError(t, dec.Decode(&doc), "answer to %s %s: %s", method, path, answer)
	}
	return resp.StatusCode, doc
}

// File files an entry of the order system and returns its ID. more overrides members of the request.
func (w *World) File(t testing.TB, payload string, more Doc) string {
	t.Helper()
	return w.file(t, Doc{"raw_payload": payload}, more)
}

// FileBytes is File for a payload of any bytes.
func (w *World) FileBytes(t testing.TB, payload []byte, more Doc) string {
	t.Helper()
	return w.file(t, Doc{"raw_payload_base64": payload}, more)
}

func (w *World) file(t testing.TB, payload, more Doc) string {
	t.Helper()
	body := Doc{
		"source_system": "order-system", "reason_code": "transient_exhausted",
		"first_attempt_at": Failed.Format(time.RFC3339), "status_code": 503, "attempts": 5,
	}
	for _, members := range []Doc{payload, more} {
		for k, v := range members {
			body[k] = v
		}
	}
	status, e := w.Call(t, 0, "POST", "/v1/entries", body)
	require.Equal(t, http.StatusCreated, status, "%v", e)
	return e["id"].(string)
}

// Press presses Replay on an entry and returns the run.
func (w *World) Press(t testing.TB, id string, more Doc) string {
	t.Helper()
	body := Doc{"requested_by": "ann"}
	for k, v := range more {
		body[k] = v
	}
	status, answer := w.Call(t, 0, "POST", "/v1/entries/"+id+"/replay", body)
	require.Equal(t, http.StatusAccepted, status, "%v", answer)
	return answer["run_id"].(string)
}

// Entry reads an entry.
func (w *World) Entry(t testing.TB, id string) Doc {
	t.Helper()
	status, e := w.Call(t, 0, "GET", "/v1/entries/"+id, nil)
	require.Equal(t, http.StatusOK, status, "%v", e)
	return e
}

// History lists an entry's history, the oldest line first.
func (w *World) History(t testing.TB, id string) []Doc {
	t.Helper()
	var out []Doc
	for _, line := range w.Read(t, "/v1/entries/"+id+"/history")["history"].([]any) {
		out = append(out, line.(Doc))
	}
	return out
}

// patience bounds every wait of a story; it is no judgement of speed.
const patience = 60 * time.Second

// Eventually waits until done says so.
func Eventually(t testing.TB, done func() bool, what string) {
	t.Helper()
	require.Eventually(t, done, patience, 60*time.Millisecond, what)
}

// Settled waits until an entry is no longer replaying and returns it.
func (w *World) Settled(t testing.TB, id string) Doc {
	t.Helper()
	var e Doc
	Eventually(t, func() bool {
		e = w.Entry(t, id)
		return e["status"] != "replaying"
	}, "entry "+id+" is settled")
	return e
}

// SettledInTime is Settled on a simulated clock, which every look moves on by a step while nobody works:
// for entries that wait, for another attempt or for their record's rest.
func (w *World) SettledInTime(t testing.TB, id string, step time.Duration) Doc {
	t.Helper()
	var e Doc
	Eventually(t, func() bool {
		e = w.Entry(t, id)
		if e["status"] == "replaying" {
			w.advanceIdle(t, step)
		}
		return e["status"] != "replaying"
	}, "entry "+id+" is settled")
	return e
}

// Replay presses and waits for the outcome.
func (w *World) Replay(t testing.TB, id string, more Doc) Doc {
	t.Helper()
	w.Press(t, id, more)
	return w.Settled(t, id)
}

// Outcome is the replay member of an entry.
func Outcome(e Doc) Doc {
	r, ok := e["replay"].(Doc)
	if !ok {
		return Doc{}
	}
	return r
}

// RequireOutcome holds an entry to an outcome and its reason; empty stands for none.
func RequireOutcome(t testing.TB, e Doc, outcome, reason string) {
	t.Helper()
	r := Outcome(e)
	got, _ := r["outcome"].(string)
	require.Equal(t, outcome, got, "%v", r)
	got, _ = r["reason"].(string)
	require.Equal(t, reason, got, "%v", r)
}

// Cells reads one record of the sandbox by the value of its primary field; nil when there is none.
func (w *World) Cells(t testing.TB, table, primary, key string) Doc {
	t.Helper()
	var found Doc
	recs, err := w.Sandbox.Records(BaseID, table)
	require.NoError(t, err)
	for _, r := range recs {
		if r.Fields[primary] == key {
			require.Nil(t, found, "more than one %s %s", primary, key)
			found = r.Fields
		}
	}
	return found
}

// OrderCells reads an order of the sandbox.
func (w *World) OrderCells(t testing.TB, id string) Doc {
	t.Helper()
	return w.Cells(t, "Orders", "Order ID", id)
}

// Writes counts the requests of the sandbox's log that were to write records.
func (w *World) Writes() int { return len(w.WriteRequests()) }
