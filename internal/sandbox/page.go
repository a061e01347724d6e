package sandbox

import (
	"fmt"
	"net/http"
)

// servePage says in plain text what is here.
func (s *Sandbox) servePage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintf(w, "Airtable sandbox, %s\nWeb API under /v0, control API under /_sandbox\n\n", formatTime(s.clock.now()))
	for _, b := range s.bases {
		_, _ = fmt.Fprintf(w, "%s  %s\n", b.id, b.name)
		for _, t := range b.tables {
			_, _ = fmt.Fprintf(w, "  %s  %s: %d records\n", t.id, t.name, len(t.records))
		}
	}
}
