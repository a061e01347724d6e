package httpapi

import (
	"bytes"
	"net/http"
	"strings"
)

// harden sets the headers of an API whose answers are data, never a page, and writes JSON without the
// escapes meant for JSON inside HTML.
func harden(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(plainJSON{w}, r)
	})
}

// plainJSON undoes the escapes \u003c, \u003e and \u0026 of encoding/json, so that an answer reads as
// it was stored. The generated code writes each answer in one piece.
type plainJSON struct{ http.ResponseWriter }

// Write implements http.ResponseWriter.
func (w plainJSON) Write(b []byte) (int, error) {
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		return w.ResponseWriter.Write(b)
	}
	if _, err := w.ResponseWriter.Write(unescapeHTML(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Unwrap lets http.ResponseController reach the connection.
func (w plainJSON) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// unescapeHTML replaces the three escapes in valid JSON. A backslash that is itself escaped is no
// escape: `\\u003c` is the text \u003c.
func unescapeHTML(b []byte) []byte {
	if !bytes.Contains(b, []byte(`\u00`)) {
		return b
	}
	out := make([]byte, 0, len(b))
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 || i+1 == len(b) {
			return append(out, b...)
		}
		out, b = append(out, b[:i]...), b[i:]
		if c, ok := htmlEscape(b); ok {
			out, b = append(out, c), b[len(`\u003c`):]
		} else {
			out, b = append(out, b[:2]...), b[2:]
		}
	}
}

func htmlEscape(b []byte) (byte, bool) {
	for _, c := range []struct {
		escape string
		char   byte
	}{{`\u003c`, '<'}, {`\u003e`, '>'}, {`\u0026`, '&'}} {
		if bytes.HasPrefix(b, []byte(c.escape)) {
			return c.char, true
		}
	}
	return 0, false
}
