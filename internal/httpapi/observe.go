package httpapi

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"airtable-replay/internal/telemetry"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"
)

// unmatched is the operation of requests that no route takes.
const unmatched = "Unmatched"

// observe gives a request its ID, answers for panics, and tells of it once it is answered: in one log
// line and in the metrics.
func (s *server) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if !telemetry.ValidRequestID(id) {
			id = telemetry.NewRequestID()
		}
		x := &exchange{op: operation{name: unmatched}}
		r = r.WithContext(withExchange(telemetry.WithRequestID(r.Context(), id), x))
		w.Header().Set("X-Request-Id", id)
		answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		began := time.Now()
		answerPanics(next).ServeHTTP(answer, r)
		s.tell(r, answer, time.Since(began))
	})
}

// answerPanics turns a panic into an answer of 500. http.ErrAbortHandler passes: it is how a handler
// cuts the connection on purpose.
func answerPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if cause, ok := p.(error); ok && errors.Is(cause, http.ErrAbortHandler) {
				panic(p)
			}
			x, err := exchangeOf(r.Context()), fmt.Errorf("panic: %v", p)
			x.panicked = debug.Stack()
			if began, ok := w.(interface{ Status() int }); ok && began.Status() != 0 {
				x.err = err // too late for another answer
				return
			}
			refuse(w, r, err)
		}()
		next.ServeHTTP(w, r)
	})
}

// tell writes the request's one line. It holds names, IDs and sizes, never a payload or a secret.
func (s *server) tell(r *http.Request, answer middleware.WrapResponseWriter, took time.Duration) {
	x := exchangeOf(r.Context())
	status := answer.Status()
	if x.problem == "client-closed-request" {
		status = statusClientGone
	}
	s.metrics.requests.WithLabelValues(x.op.name, strconv.Itoa(status)).Inc()
	s.metrics.seconds.WithLabelValues(x.op.name).Observe(took.Seconds())

	path := chi.RouteContext(r.Context()).RoutePattern()
	if x.op.name == unmatched {
		path = r.URL.Path
	}
	attrs := []slog.Attr{
		slog.String(telemetry.KeyOperation, x.op.name),
		slog.String(telemetry.KeyMethod, r.Method),
		slog.String(telemetry.KeyPath, path),
		slog.Int(telemetry.KeyStatus, status),
		slog.Float64(telemetry.KeyDurationMS, float64(took.Microseconds())/1000),
		slog.Int(telemetry.KeyBytes, answer.BytesWritten()),
	}
	s.Logger.LogAttrs(r.Context(), levelOf(x.op, status), x.op.name, append(attrs, x.attrs()...)...)
}

// attrs are the members of the log line that not every request has.
func (x *exchange) attrs() []slog.Attr {
	var attrs []slog.Attr
	for key, value := range map[string]string{
		telemetry.KeyToken: x.token.Name, telemetry.KeyEntryID: x.entryID, telemetry.KeyRunID: x.runID,
		telemetry.KeyWriteID: x.writeID, telemetry.KeyProblem: x.problem, telemetry.KeyStack: string(x.panicked),
	} {
		if value != "" {
			attrs = append(attrs, slog.String(key, value))
		}
	}
	if x.replayed {
		attrs = append(attrs, slog.Bool(telemetry.KeyReplayed, true))
	}
	if x.err != nil {
		attrs = append(attrs, slog.String(telemetry.KeyError, x.err.Error()))
	}
	return attrs
}

// levelOf keeps probes, which come every few seconds, out of the usual log.
func levelOf(op operation, status int) slog.Level {
	switch {
	case status >= http.StatusInternalServerError:
		return slog.LevelError
	case op.scope == "" && op.name != unmatched:
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// metrics are the API's own.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(r *prometheus.Registry) metrics {
	m := metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: telemetry.Namespace, Subsystem: "http", Name: "requests_total",
			Help: "Requests answered, by operation and HTTP status.",
		}, []string{"operation", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: telemetry.Namespace, Subsystem: "http", Name: "request_seconds",
			Help:    "Time from the request's head to the end of its answer, by operation.",
			Buckets: []float64{.001, .0025, .005, .01, .02, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"operation"}),
	}
	r.MustRegister(m.requests, m.seconds)
	return m
}
