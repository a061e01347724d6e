package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"airtable-replay/api"
	"airtable-replay/internal/httpapi/internal/oapi"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
)

// defaultBodyLimit is the largest request body that is read, in bytes.
const defaultBodyLimit = 4 << 20

// Config is what the API is built from. Every service is needed.
type Config struct {
	Filing   filingService
	Entries  entryService
	Presses  pressService
	Reviews  reviewService
	Payloads payloadService
	Restores restoreService
	Runs     runService
	Stuck    stuckService
	Bases    baseService
	Writes   writeService
	Tokens   tokenStore
	Answers  answerStore

	Pings pingService // nil: no webhook of Airtable's is configured

	// Ready tells whether the service can do its work; its error is the detail of a 503.
	Ready    func(ctx context.Context) error
	Logger   *slog.Logger
	Registry *prometheus.Registry // the API's own metrics go on it
	// Metrics answers /metrics; nil: not here, they are bound to another address.
	Metrics http.Handler
	// Draining is closed when the service begins to stop, which ends streams; nil: it never does.
	Draining  <-chan struct{}
	BodyLimit int64  // bytes; 0: 4 MiB
	Version   string // of the build
}

// server implements the generated interface, one method per operation.
type server struct {
	Config
	metrics metrics
}

// New builds the API. Its error names what the configuration lacks.
func New(c Config) (http.Handler, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if c.BodyLimit == 0 {
		c.BodyLimit = defaultBodyLimit
	}
	s := &server{Config: c, metrics: newMetrics(c.Registry)}
	root := chi.NewRouter()
	root.Use(s.observe, harden, middleware.GetHead)
	root.NotFound(s.noRoute)
	root.MethodNotAllowed(wrongMethod(root))
	root.Group(func(r chi.Router) {
		r.Use(s.identify, s.readBody, s.takeIn, s.answerOnce)
		oapi.HandlerWithOptions(s.strict(), oapi.ChiServerOptions{BaseRouter: r, ErrorHandlerFunc: refuseParameter})
		r.Get("/openapi.yaml", showSpec)
		if c.Metrics != nil {
			r.Method(http.MethodGet, "/metrics", c.Metrics)
		}
	})
	return root, nil
}

// strict binds requests to the operations and sends all their errors through refuse.
func (s *server) strict() oapi.ServerInterface {
	return oapi.NewStrictHandlerWithOptions(s, []oapi.StrictMiddlewareFunc{refuseUnknown}, oapi.StrictHTTPServerOptions{
		RequestErrorHandlerFunc:  refuseBody,
		ResponseErrorHandlerFunc: refuse,
	})
}

func (c Config) validate() error {
	for name, service := range map[string]any{
		"Filing": c.Filing, "Entries": c.Entries, "Presses": c.Presses, "Reviews": c.Reviews, "Payloads": c.Payloads, "Restores": c.Restores, "Runs": c.Runs,
		"Stuck": c.Stuck, "Bases": c.Bases, "Writes": c.Writes, "Tokens": c.Tokens, "Answers": c.Answers,
	} {
		if service == nil {
			return fmt.Errorf("httpapi: Config.%s is missing", name)
		}
	}
	if c.Ready == nil || c.Logger == nil || c.Registry == nil {
		return fmt.Errorf("httpapi: Config.Ready, Logger and Registry are needed")
	}
	return nil
}

func showSpec(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(api.Spec) // the caller may be gone
}

func (s *server) noRoute(w http.ResponseWriter, r *http.Request) {
	refuse(w, r, &refusal{
		status: http.StatusNotFound, problem: "not-found",
		detail: "there is nothing at this path; /openapi.yaml describes the API",
	})
}

// wrongMethod answers a path that exists, but not with the method asked for.
func wrongMethod(routes chi.Routes) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.RawPath
		if path == "" {
			path = r.URL.Path
		}
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut} {
			asked := method
			if method == http.MethodHead {
				asked = http.MethodGet
			}
			if routes.Match(chi.NewRouteContext(), asked, path) {
				w.Header().Add("Allow", method)
			}
		}
		refuse(w, r, &refusal{
			status: http.StatusMethodNotAllowed, problem: "method-not-allowed",
			detail: fmt.Sprintf("%s is not possible here; the header Allow names what is", r.Method),
		})
	}
}
