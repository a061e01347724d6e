package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"

	"airtable-replay/internal/deadletter"
)

// readBody reads the whole body, refuses one that is too large or no JSON, and keeps its bytes, which
// the Idempotency-Key is about. What Content-Type says does not matter: the body is JSON or refused.
func (s *server) readBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		body, err := s.bodyOf(w, r)
		if err == nil {
			err = checkJSON(body)
		}
		if err != nil {
			refuse(w, r, err)
			return
		}
		exchangeOf(r.Context()).body = body
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func (s *server) bodyOf(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return nil, &refusal{
			status: http.StatusUnsupportedMediaType, problem: "unsupported-encoding",
			detail: "Content-Encoding is not supported; send the body as plain JSON",
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.BodyLimit))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &refusal{
			status: http.StatusRequestEntityTooLarge, problem: "body-too-large",
			detail: fmt.Sprintf("the body has more than %d bytes; send less at once", s.BodyLimit),
		}
	}
	if err != nil {
		return nil, malformed("the body ended before it was complete")
	}
	return body, nil
}

// checkJSON refuses what the decoder would mend silently or report without a place: invalid UTF-8,
// broken syntax, a second value. An empty body is left to the operation.
func checkJSON(body []byte) error {
	if !utf8.Valid(body) {
		at := 0
		for rest := body; ; {
			c, size := utf8.DecodeRune(rest)
			if c == utf8.RuneError && size == 1 {
				break
			}
			at, rest = at+size, rest[size:]
		}
		return malformed(fmt.Sprintf("the body is not UTF-8 at byte %d; a payload that is not text goes into raw_payload_base64", at))
	}
	switch string(bytes.TrimSpace(body)) {
	case "":
		return nil
	case "null": // the decoder takes it for an empty object
		return malformed("the body must be a JSON object, not null")
	}
	var any json.RawMessage
	err := json.Unmarshal(body, &any)
	if fault, ok := errors.AsType[*json.SyntaxError](err); ok {
		return malformed(fmt.Sprintf("the body is not JSON at byte %d: %s", fault.Offset, fault))
	}
	return err
}

// refuseBody answers a body that does not fit the operation: the generated binding's first hook.
func refuseBody(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, io.EOF) {
		refuse(w, r, malformed("the body is empty; send a JSON object"))
		return
	}
	if fault, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if fault.Field == "" {
			refuse(w, r, malformed("the body must be a JSON object, not "+jsonKind(fault.Value)))
			return
		}
		var f faults
		f.add(fault.Field, "type", fmt.Sprintf("must be %s, not %s", goKind(fault.Type), jsonKind(fault.Value)))
		refuse(w, r, f.inBody())
		return
	}
	refuse(w, r, err)
}

// refuseParameter answers a parameter that cannot be read at all: the generated binding's second hook.
func refuseParameter(w http.ResponseWriter, r *http.Request, err error) {
	name := parameterOf(err)
	detail := "cannot be read; give it once, in the form that /openapi.yaml describes"
	if name == "limit" {
		detail = limitRule
	}
	refuse(w, r, malformed(name+" "+detail, deadletter.FieldError{Field: name, Rule: "format", Detail: detail}))
}
