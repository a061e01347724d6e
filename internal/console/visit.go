package console

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
	"airtable-replay/internal/telemetry"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// The scopes of a token, as the API has them. Admin implies all others.
const (
	scopeNone   = ""
	scopeRead   = "read"
	scopeReplay = "replay"
	scopeAdmin  = "admin"
)

// policy lets a page load our own files and talk to us, and nothing else: no script or style in it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// visit is one request of a person.
type visit struct {
	w       http.ResponseWriter
	r       *http.Request
	session store.Session // zero: nobody is logged in
}

// page answers a visit; its error becomes a page that says what went wrong.
type page func(v *visit) error

// allows tells whether the person may do what needs a scope.
func (v *visit) allows(scope string) bool {
	return scope == scopeNone || slices.Contains(v.session.Token.Scopes, scope) || slices.Contains(v.session.Token.Scopes, scopeAdmin)
}

// who is the person, with the name of the token where that says more.
func (v *visit) who() string {
	s := v.session
	if s.Person == "" || s.Person == s.Token.Name {
		return s.Token.Name
	}
	return fmt.Sprintf("%s (%s)", s.Person, s.Token.Name)
}

// param is a part of the path.
func (v *visit) param(name string) string {
	value := chi.URLParam(v.r, name)
	if plain, err := url.PathUnescape(value); err == nil {
		return plain
	}
	return value
}

// field is one value of the form that was sent.
func (v *visit) field(name string) string { return v.r.PostFormValue(name) }

// sent is the form that was sent.
func (v *visit) sent() url.Values {
	return v.r.PostForm //nolint:forbidigo // the form of a request, not the call of a client
}

// follow sends the person on to another page of ours.
func (v *visit) follow(path string) error {
	http.Redirect(v.w, v.r, path, http.StatusSeeOther)
	return nil
}

// page makes a handler of a page that needs a scope.
func (k *console) page(scope string, serve page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := &visit{w: w, r: r}
		if err := k.admit(v, scope); err != nil {
			k.refuse(v, err)
			return
		}
		if r.Method == http.MethodPost && !strings.HasPrefix(r.URL.Path, "/river") {
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
			if err := r.ParseForm(); err != nil {
				k.refuse(v, deadletter.Errorf(deadletter.CodeInvalid, "", "the form could not be read: it is larger than %d MiB or damaged", maxForm>>20))
				return
			}
		}
		if err := serve(v); err != nil {
			k.refuse(v, err)
		}
	}
}

// maxForm bounds a form, in bytes: a payload of a MiB, percent-encoded.
const maxForm = 4 << 20

// errLogin sends a person to the login.
var errLogin = errors.New("nobody is logged in")

// admit finds the person's session and holds it to the scope of the page.
func (k *console) admit(v *visit, scope string) error {
	session, err := k.sessionOf(v.r)
	if err != nil && deadletter.CodeOf(err) != deadletter.CodeNotFound {
		return err
	}
	v.session = session
	switch {
	case scope == scopeNone:
		return nil
	case err != nil:
		return errLogin
	case !v.allows(scope):
		return deadletter.Errorf(deadletter.CodeForbidden, "", "This needs a token with the scope %q; yours has %s. Log in with another token to go on.",
			scope, strings.Join(session.Token.Scopes, ", "))
	}
	return nil
}

// observe gives a request its ID, answers for panics, and writes one log line once it is answered.
func (k *console) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if !telemetry.ValidRequestID(id) {
			id = telemetry.NewRequestID()
		}
		r = r.WithContext(telemetry.WithRequestID(r.Context(), id))
		w.Header().Set("X-Request-Id", id)
		answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		began := time.Now()
		defer func() {
			if p := recover(); p != nil {
				k.answerPanic(answer, r, p)
			}
			k.tell(r, answer, time.Since(began))
		}()
		next.ServeHTTP(answer, r)
	})
}

func (k *console) answerPanic(w middleware.WrapResponseWriter, r *http.Request, p any) {
	if cause, ok := p.(error); ok && errors.Is(cause, http.ErrAbortHandler) {
		panic(p)
	}
	k.Logger.ErrorContext(r.Context(), "console panicked", telemetry.KeyError, fmt.Sprint(p), telemetry.KeyStack, string(debug.Stack()))
	if w.Status() == 0 {
		k.refuse(&visit{w: w, r: r}, fmt.Errorf("panic: %v", p))
	}
}

// tell writes the request's line: names, IDs and sizes, never what a person typed.
func (k *console) tell(r *http.Request, answer middleware.WrapResponseWriter, took time.Duration) {
	level := slog.LevelInfo
	pattern := chi.RouteContext(r.Context())
	path := r.URL.Path
	if pattern != nil && pattern.RoutePattern() != "" {
		path = pattern.RoutePattern()
	}
	switch {
	case answer.Status() >= http.StatusInternalServerError:
		level = slog.LevelError
	case strings.HasPrefix(path, "/assets/"), strings.HasPrefix(path, "/river"):
		level = slog.LevelDebug
	}
	k.Logger.LogAttrs(r.Context(), level, "console", slog.String(telemetry.KeyMethod, r.Method), slog.String(telemetry.KeyPath, path),
		slog.Int(telemetry.KeyStatus, answer.Status()), slog.Float64(telemetry.KeyDurationMS, float64(took.Microseconds())/1000),
		slog.Int(telemetry.KeyBytes, answer.BytesWritten()))
}

// harden sets the headers of every answer.
func harden(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
