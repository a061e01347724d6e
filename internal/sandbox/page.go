package sandbox

import (
	"bytes"
	"net/http"
)

// pageModel is what the page knows before its script asks for more.
type pageModel struct {
	Bases  []baseView
	Knobs  []knobGroup
	Faults []preset
}

// preset is a fault that one click arms.
type preset struct{ Name, Title string }

// presets are told apart by name in web/faults.js.
var presets = []preset{
	{"limit", "Refuse the next request for its rate (429)"},
	{"outage", "Answer the next three requests with a 503"},
	{"landed", "Let the next write land, then answer with a 503"},
	{"cut", "Let the next write land, then cut the connection"},
	{"late", "Cut the next write now and let it land 30 seconds later"},
	{"slow", "Hold the next request for 10 seconds"},
}

// servePage shows the tables, what happens to them, and what can be broken.
func (s *Sandbox) servePage(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	model := pageModel{Bases: s.baseViews(), Knobs: knobs, Faults: presets}
	s.mu.Unlock()
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, model); err != nil {
		s.config.Logger.Error("render sandbox page", "error", err)
		http.Error(w, "The page could not be rendered.", http.StatusInternalServerError)
		return
	}
	header := secured(w)
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	_, _ = w.Write(page.Bytes()) // a browser that went away does not want it
}
