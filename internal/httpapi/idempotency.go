package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"

	"airtable-replay/internal/store"
)

const maxIdempotencyKey = 255 // bytes

// keptHeaders are the headers of a stored answer.
var keptHeaders = []string{"Content-Type", "Location"}

// errNotKept undoes the transaction of a request whose answer may be another one next time.
var errNotKept = errors.New("answer is not kept")

// answerOnce honours Idempotency-Key on operations that create: the operation runs within the
// transaction that stores its answer, and a repetition gets that answer.
func (s *server) answerOnce(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := exchangeOf(r.Context())
		keys := r.Header.Values("Idempotency-Key")
		if !x.op.creates || len(keys) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		if err := checkKey(keys); err != nil {
			refuse(w, r, err)
			return
		}
		var fresh recorder
		do := func(ctx context.Context) (store.Answer, error) {
			// The store may run this again after a lost race, so nothing of a first try may be left.
			fresh, x.problem, x.err = recorder{header: http.Header{}}, "", nil
			try := r.Clone(ctx)
			try.Body = io.NopCloser(bytes.NewReader(x.body))
			answerPanics(next).ServeHTTP(&fresh, try)
			if !kept(fresh.status) {
				return store.Answer{}, errors.Join(errNotKept, x.err) // the cause tells the store a lost race
			}
			return fresh.answer(), nil
		}
		a, replayed, err := s.Answers.Idempotent(r.Context(), x.token.ID, sha256.Sum256([]byte(keys[0])), requestHash(r, x.body), do)
		switch {
		case errors.Is(err, errNotKept):
			fresh.copyTo(w)
		case err != nil:
			refuse(w, r, err)
		case replayed:
			x.replayed = true
			w.Header().Set("Idempotent-Replayed", "true")
			writeAnswer(w, a)
		default:
			fresh.copyTo(w)
		}
	})
}

// kept tells whether an answer is the same for good: not when the service was at fault, busy, or told
// that the caller had gone.
func kept(status int) bool {
	return status < http.StatusInternalServerError && status != http.StatusTooManyRequests && status != statusClientGone
}

func checkKey(keys []string) error {
	var f faults
	key := keys[0]
	visible := len(keys) == 1 && len(key) > 0 && len(key) <= maxIdempotencyKey
	for _, c := range []byte(key) {
		visible = visible && c > ' ' && c < 0x7f
	}
	if !visible {
		f.add("Idempotency-Key", "format", "must be given once, with 1 to 255 visible ASCII characters")
	}
	return f.inQuery()
}

// requestHash tells requests under one key apart: method, path with query, and body.
func requestHash(r *http.Request, body []byte) [32]byte {
	h := sha256.New()
	for _, part := range []string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery} {
		h.Write([]byte(part))
		h.Write([]byte{0}) // no part holds a NUL
	}
	h.Write(body)
	return [32]byte(h.Sum(nil))
}

// recorder keeps an answer instead of sending it.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter; the first call counts.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}

// Status is 0 until the answer has begun.
func (r *recorder) Status() int { return r.status }

func (r *recorder) answer() store.Answer {
	a := store.Answer{Status: r.status, Header: map[string]string{}, Body: r.body.Bytes()}
	for _, name := range keptHeaders {
		if value := r.header.Get(name); value != "" {
			a.Header[name] = value
		}
	}
	return a
}

func (r *recorder) copyTo(w http.ResponseWriter) {
	for name, values := range r.header {
		w.Header()[name] = values
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body.Bytes()) // the caller may be gone
}

func writeAnswer(w http.ResponseWriter, a store.Answer) {
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // the caller may be gone
}
