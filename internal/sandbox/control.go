package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"
)

// Handler serves the Web API under /v0, the control API under /_sandbox and a
// page for people at /.
func (s *Sandbox) Handler() http.Handler {
	r := chi.NewRouter()
	r.Use(rawPath)
	r.HandleFunc("/v0", s.serveAPI)
	r.HandleFunc("/v0/*", s.serveAPI)
	r.Get("/", s.servePage)
	r.Route("/_sandbox", s.controlRoutes)
	return r
}

// rawPath makes the router match the path as sent, so that a table's name may
// hold a slash; control.param decodes it.
func rawPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.RawPath = r.URL.EscapedPath()
		next.ServeHTTP(w, r)
	})
}

func (s *Sandbox) controlRoutes(r chi.Router) {
	on := func(serve func(*control) (any, error)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { s.answerControl(w, r, serve) }
	}
	// Other sites' pages, open in the same browser, may not reach in here.
	r.Use(http.NewCrossOriginProtection().Handler, s.stirring)
	r.Get("/view", on((*control).pageView))
	r.Get("/events", s.serveEvents)
	r.Get("/web/{file}", serveAsset)
	r.Get("/requests", on((*control).requests))
	r.Delete("/requests", on((*control).clearRequests))
	r.Get("/faults", on((*control).faults))
	r.Post("/faults", on((*control).addFault))
	r.Delete("/faults", on((*control).clearFaults))
	r.Get("/clock", on((*control).clock))
	r.Post("/clock", on((*control).moveClock))
	r.Get("/changes", on((*control).changes))
	r.Get("/options", on((*control).options))
	r.Patch("/options", on((*control).changeOptions))
	r.Post("/fields", on((*control).breakField))
	r.Post("/tables", on((*control).breakTable))
	r.Post("/tokens", on((*control).breakToken))
	r.Get("/bases", on((*control).bases))
	r.Get("/{base}/{table}", on((*control).records))
	r.Post("/{base}/{table}", on((*control).createRecord))
	r.Patch("/{base}/{table}/{record}", on((*control).editRecord))
	r.Delete("/{base}/{table}/{record}", on((*control).deleteRecord))
}

// control is one request to the control API.
type control struct {
	s *Sandbox
	r *http.Request
}

// refusal is a control request that cannot be carried out, and why.
type refusal struct {
	status int
	detail string
}

func (e *refusal) Error() string { return e.detail }

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

func (s *Sandbox) answerControl(w http.ResponseWriter, r *http.Request, serve func(*control) (any, error)) {
	body, err := serve(&control{s, r})
	status := http.StatusOK
	if err != nil {
		status = http.StatusUnprocessableEntity
		var known *refusal
		if errors.As(err, &known) {
			status = known.status
		}
		body = map[string]any{"error": map[string]any{"message": complaint(err)}}
	}
	encoded, err := encode(body)
	if err != nil {
		s.config.Logger.Error("encode control answer", "error", err)
		status, encoded = http.StatusInternalServerError, nil
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(encoded) // a client that went away does not want it
}

// decode reads the body strictly; an empty one is an empty object.
func (c *control) decode(into any) error {
	dec := json.NewDecoder(io.LimitReader(c.r.Body, hardBodyLimit))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return refuse(http.StatusBadRequest, "body: %s", err)
	}
	return nil
}

func (c *control) param(name string) string {
	raw := chi.URLParam(c.r, name)
	if decoded, err := url.PathUnescape(raw); err == nil {
		return decoded
	}
	return raw
}
