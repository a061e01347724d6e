package sandbox

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"path"

	"github.com/go-chi/chi/v5"
)

// The page has no build step: what is served stands in web/ as it is.
//
//go:embed web
var webFiles embed.FS

var pageTemplate = template.Must(template.ParseFS(webFiles, "web/page.html"))

// pagePolicy lets the page load its own files, talk to this server, and nothing else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// asset is a file of the page as it is sent.
type asset struct {
	body        []byte
	kind, state string
}

// assets are the files of web/ by name, but for the template.
var assets = func() map[string]asset {
	entries, err := webFiles.ReadDir("web")
	if err != nil {
		panic(err)
	}
	out := map[string]asset{}
	for _, entry := range entries {
		name := entry.Name()
		kind := map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}[path.Ext(name)]
		if kind == "" {
			continue
		}
		body, err := webFiles.ReadFile(path.Join("web", name))
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(body)
		out[name] = asset{body, kind, `"` + hex.EncodeToString(sum[:8]) + `"`}
	}
	return out
}()

func serveAsset(w http.ResponseWriter, r *http.Request) {
	file, ok := assets[chi.URLParam(r, "file")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	header := secured(w)
	header.Set("Content-Type", file.kind)
	header.Set("Cache-Control", "no-cache") // ask whether it is still the same
	header.Set("ETag", file.state)
	if r.Header.Get("If-None-Match") == file.state {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(file.body) // a browser that went away does not want it
}

func secured(w http.ResponseWriter) http.Header {
	header := w.Header()
	header.Set("Content-Security-Policy", pagePolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	return header
}
