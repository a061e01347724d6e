package console

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/replay"
	"airtable-replay/internal/telemetry"
)

// keepAlive is how often a silent stream says that it is there, so that nothing between cuts it.
const keepAlive = 20 * time.Second

// followRun sends a run's progress as server-sent events, each the part of the page as it is now: events
// `progress`, and `done` for the last. A browser opens a stream that was cut again by itself.
func (k *console) followRun(v *visit) error {
	ctx, stop := context.WithCancel(v.r.Context())
	defer stop()
	if _, err := k.Runs.ShowRun(ctx, v.param("id")); err != nil {
		return err
	}
	h := v.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // a proxy must not hold events back
	v.w.WriteHeader(http.StatusOK)
	quiet := time.NewTicker(keepAlive)
	defer quiet.Stop()
	watched := k.Runs.WatchRun(ctx, v.param("id"))
	for {
		var err error
		select {
		case run, open := <-watched:
			if !open {
				return nil
			}
			err = k.sendRun(v, run)
		case <-quiet.C:
			_, err = io.WriteString(v.w, ": still here\n\n")
		case <-k.Draining: // never, where it is nil
			return nil
		}
		if err == nil {
			err = http.NewResponseController(v.w).Flush()
		}
		if err != nil {
			return gone(err)
		}
	}
}

// gone forgives an error of writing: a person may go away at any time, and there is nobody to tell.
func gone(error) error { return nil }

func (k *console) sendRun(v *visit, run deadletter.Run) error {
	event := "progress"
	if run.Finished() {
		event = "done"
	}
	var part bytes.Buffer
	if err := k.execute(&part, v, "run", "run-part", runViewOf(run)); err != nil {
		return err
	}
	var message strings.Builder
	fmt.Fprintf(&message, "event: %s\n", event)
	for line := range strings.SplitSeq(part.String(), "\n") {
		fmt.Fprintf(&message, "data: %s\n", line)
	}
	message.WriteString("\n")
	_, err := io.WriteString(v.w, message.String())
	return err
}

// evidenceKinds are the formats of the evidence with their media types.
var evidenceKinds = map[string]string{replay.EvidenceJSON: "application/json", replay.EvidenceCSV: "text/csv; charset=utf-8"}

// downloadEvidence sends everything that a run did, as a file.
func (k *console) downloadEvidence(v *visit) error {
	format := v.r.URL.Query().Get("format")
	if evidenceKinds[format] == "" {
		return deadletter.Errorf(deadletter.CodeInvalid, "", "Evidence comes as json or csv.")
	}
	run, err := k.Runs.ShowRun(v.r.Context(), v.param("id"))
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", evidenceKinds[format])
	v.w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", "run-"+run.ID+"."+format))
	if err := k.Runs.WriteEvidence(v.r.Context(), v.w, run.ID, format); err != nil {
		k.Logger.ErrorContext(v.r.Context(), "write evidence", telemetry.KeyRunID, run.ID, telemetry.KeyError, err)
		panic(http.ErrAbortHandler) // its head is out; a cut answer is not taken for a whole one
	}
	return nil
}
