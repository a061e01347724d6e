package apptest

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Way is how a payload comes to be written.
type Way string

// The three ways; mission P3 wants one set of rules on all of them.
const (
	Live    Way = "live write"
	Pressed Way = "press"
	Batched Way = "run"
)

// Ways lists the ways.
func Ways() []Way { return []Way{Live, Pressed, Batched} }

// Result is what became of a payload, whichever way it went.
type Result struct {
	Outcome string // of an entry; of a live write written, stale or dead_lettered
	Written bool
	Reason  string // of a live write that became an entry: the entry's reason code
	Note    string
	Entry   Doc // nil for a live write that left none
}

// Send sends a payload one way and waits for what becomes of it.
func (w *World) Send(t testing.TB, way Way, source, payload string) Result {
	t.Helper()
	switch way {
	case Live:
		return w.sendLive(t, source, payload)
	case Pressed:
		return resultOf(w.Replay(t, w.File(t, payload, Doc{"source_system": source, "operation": "upsert"}), nil))
	default:
		id := w.File(t, payload, Doc{"source_system": source, "operation": "upsert"})
		w.Finished(t, w.RunIDs(t, nil, id))
		return resultOf(w.Entry(t, id))
	}
}

func resultOf(e Doc) Result {
	r := Outcome(e)
	out := Result{Entry: e}
	out.Outcome, _ = r["outcome"].(string)
	out.Reason, _ = r["reason"].(string)
	out.Note, _ = r["notes"].(string)
	out.Written = out.Outcome == "replayed"
	return out
}

func (w *World) sendLive(t testing.TB, source, payload string) Result {
	t.Helper()
	write := w.Decided(t, w.Accept(t, source, payload))
	out := Result{Outcome: write["status"].(string), Note: write["note"].(string)}
	out.Reason, _ = write["reason"].(string)
	out.Written = out.Outcome == "written"
	if id, ok := write["entry_id"].(string); ok {
		out.Entry = w.Entry(t, id)
		require.Equal(t, out.Reason, out.Entry["reason_code"])
	}
	return out
}

// Accept posts a live write and returns its ID.
func (w *World) Accept(t testing.TB, source, payload string) string {
	t.Helper()
	status, answer := w.Call(t, 0, "POST", "/v1/writes", Doc{"source_system": source, "payload": payload})
	require.Equal(t, http.StatusAccepted, status, "%v", answer)
	return answer["writes"].([]any)[0].(Doc)["id"].(string)
}

// Decided waits until a live write is no longer queued and returns it.
func (w *World) Decided(t testing.TB, id string) Doc {
	t.Helper()
	var write Doc
	Eventually(t, func() bool {
		write = w.Read(t, "/v1/writes/"+id)
		return write["status"] != "queued"
	}, "write "+id+" is decided")
	return write
}

// DecidedInTime is Decided on a simulated clock, which every look moves on by a step while nobody works.
func (w *World) DecidedInTime(t testing.TB, id string, step time.Duration) Doc {
	t.Helper()
	var write Doc
	Eventually(t, func() bool {
		write = w.Read(t, "/v1/writes/"+id)
		if write["status"] == "queued" {
			w.advanceIdle(t, step)
		}
		return write["status"] != "queued"
	}, "write "+id+" is decided")
	return write
}

// RunIDs starts a run over entries and returns its ID. more overrides members of the request.
func (w *World) RunIDs(t testing.TB, more Doc, ids ...string) string {
	t.Helper()
	body := Doc{"selector": Doc{"ids": ids}, "requested_by": "ann"}
	for k, v := range more {
		body[k] = v
	}
	status, run := w.Call(t, 0, "POST", "/v1/runs", body)
	require.Equal(t, http.StatusAccepted, status, "%v", run)
	return run["id"].(string)
}

// Finished waits until a run is over, holds its totals to their sum (mission B5) and returns it.
func (w *World) Finished(t testing.TB, id string) Doc {
	t.Helper()
	var run Doc
	Eventually(t, func() bool {
		run = w.Read(t, "/v1/runs/"+id)
		return run["finished_at"] != nil
	}, "run "+id+" is over")
	require.Equal(t, true, run["reconciliation"].(Doc)["balanced"], "%v", run)
	return run
}

// Read asks for a path that must be there.
func (w *World) Read(t testing.TB, path string) Doc {
	t.Helper()
	status, answer := w.Call(t, 0, "GET", path, nil)
	require.Equal(t, http.StatusOK, status, "%s: %v", path, answer)
	return answer
}
