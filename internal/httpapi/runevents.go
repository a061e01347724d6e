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
			if !open || stream.tell(run) {
				return nil
			}
		case <-quiet.C:
			stream.comment("still here")
		case <-e.server.Draining:
			stream.comment("the service stops; open the stream again")
			return nil
		}
	}
}

// eventStream writes server-sent events and hands each over at once. A caller that has gone ends the request's
// context, and so the watch; there is nobody to tell of it.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// tell sends a run; last says that it was the end.
func (s eventStream) tell(run deadletter.Run) (last bool) {
	name := "progress"
	if run.Finished() {
		name = "done"
	}
	data, err := json.Marshal(runJSON(run))
	if err != nil {
		panic(err) // a run is plain data
	}
	s.write("event: %s\ndata: %s\n\n", name, data)
	return run.Finished()
}

func (s eventStream) comment(text string) { s.write(": %s\n\n", text) }

func (s eventStream) write(format string, args ...any) {
	fmt.Fprintf(s.w, format, args...)
	_ = s.control.Flush() // see eventStream
}
