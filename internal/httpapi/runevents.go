package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi/internal/oapi"
)

// keepAlive is how often a quiet stream says that it is still there, so that no proxy cuts it.
const keepAlive = 15 * time.Second

// WatchRun implements GET /v1/runs/{id}/events.
func (s *server) WatchRun(ctx context.Context, r oapi.WatchRunRequestObject) (oapi.WatchRunResponseObject, error) {
	id, ok := ourID(r.ID)
	if !ok {
		return nil, noSuch("run", r.ID)
	}
	exchangeOf(ctx).runID = id
	run, err := s.Runs.ShowRun(ctx, id)
	if err != nil {
		return nil, err
	}
	return runEvents{ctx: ctx, server: s, run: run}, nil
}

// runEvents writes a run as server-sent events until it ends, the caller goes away, or the service stops.
type runEvents struct {
	ctx    context.Context
	server *server
	run    deadletter.Run
}

// VisitWatchRunResponse implements oapi.WatchRunResponseObject.
func (e runEvents) VisitWatchRunResponse(w http.ResponseWriter) error {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	stream := eventStream{w: w, control: http.NewResponseController(w)}
	quiet := time.NewTicker(keepAlive)
	defer quiet.Stop()
	watched := e.server.Runs.WatchRun(ctx, e.run.ID)
	for {
		select {
		case run, open := <-watched:
			if !open {
				return nil
			}
			if done, err := stream.tell(run); done || err != nil {
				return gone(err)
			}
		case <-quiet.C:
			if err := stream.comment("still here"); err != nil {
				return gone(err)
			}
		case <-e.server.Draining:
			return gone(stream.comment("the service stops; open the stream again"))
		}
	}
}

// gone forgives an error of writing: a caller may hang up at any time, and there is nobody to tell.
func gone(error) error { return nil }

// eventStream writes server-sent events and hands each over at once.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// tell sends a run; done says that it was the last.
func (s eventStream) tell(run deadletter.Run) (done bool, err error) {
	name := "progress"
	if run.Finished() {
		name = "done"
	}
	data, err := json.Marshal(runJSON(run))
	if err != nil {
		return true, err
	}
	if _, err := fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, data); err != nil {
		return true, err
	}
	return run.Finished(), s.control.Flush()
}

func (s eventStream) comment(text string) error {
	if _, err := fmt.Fprintf(s.w, ": %s\n\n", text); err != nil {
		return err
	}
	return s.control.Flush()
}
