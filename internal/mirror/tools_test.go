package mirror_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode/utf16"

	"airtable-replay/internal/store"
)

// once calls do at the next request that writes.
func once(do func()) func(*http.Request) {
	var o sync.Once
	return func(r *http.Request) {
		if r.Method == http.MethodPatch {
			o.Do(do)
		}
	}
}

// listenForPresses is a service that only tells of each press.
func listenForPresses(t *testing.T) (<-chan string, string) {
	t.Helper()
	presses := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		presses <- r.URL.Path
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(server.Close)
	return presses, server.URL + "/{record}"
}

func utf16Len(text string) int { return len(utf16.Encode([]rune(text))) }

func (b *syncBuffer) count(text string) int { return strings.Count(b.String(), text) }

func payloadOf(size int) func(*store.Filing) {
	return func(f *store.Filing) { f.RawPayload = bytes.Repeat([]byte("x"), size) }
}

type filing = store.Filing

// blockList calls do at every request that reads.
func blockList(do func()) func(*http.Request) {
	return func(r *http.Request) {
		if r.Method == http.MethodGet {
			do()
		}
	}
}
