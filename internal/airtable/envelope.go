package airtable

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	maxBody    = 4 << 10 // bytes of an answer kept on an Error
	maxMessage = 4 << 10
	maxType    = 200
)

// parseEnvelope finds type and message in an error body. Four shapes are known
// from the wire; anything else, an HTML page included, has neither:
//
//	{"error":"T"}   {"error":{"type":"T"}}   {"error":{"type":"T","message":"M"}}
//	{"errors":[{"error":"T","message":"M"}]}
func parseEnvelope(body []byte) (typ, message string) {
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		return "", ""
	}
	var list []json.RawMessage
	if json.Unmarshal(top["errors"], &list) == nil {
		for _, item := range list {
			if typ, message = parseFault(item); typ != "" || message != "" {
				return typ, message
			}
		}
	}
	return faultIn(top)
}

// parseFault reads one fault: a bare string or an object.
func parseFault(raw json.RawMessage) (typ, message string) {
	if json.Unmarshal(raw, &typ) == nil {
		return typ, ""
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return "", ""
	}
	return faultIn(object)
}

// faultIn reads type and message of an object, or of the object under "error".
func faultIn(object map[string]json.RawMessage) (typ, message string) {
	if raw, ok := object["error"]; ok {
		typ, message = parseFault(raw)
	}
	if typ == "" {
		typ = text(object["type"])
	}
	if message == "" {
		message = text(object["message"])
	}
	return typ, message
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// parseRetryAfter reads seconds or a date. A date counts from the answer's own
// Date header where it has one, since the two hosts' clocks differ.
func parseRetryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if secs, err := strconv.ParseFloat(value, 64); err == nil && secs >= 0 {
		return time.Duration(min(secs, 1e9) * float64(time.Second))
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(0, until.Sub(now))
}

// clean makes text storable: valid UTF-8 without NUL, of which at most limit
// bytes are kept and a cut is said.
func clean(s string, limit int) string {
	cut := ""
	if len(s) > limit {
		cut = fmt.Sprintf("… (cut after %d bytes)", limit)
		s = s[:limit]
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD") + cut
}
