package console

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"

	"airtable-replay/web"

	"github.com/go-chi/chi/v5"
)

// asset is a file as it is sent.
type asset struct {
	body        []byte
	kind, state string
}

// assetKinds are the media types of assets by the ends of their names.
var assetKinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
}

func readAssets() (map[string]asset, error) {
	files, err := fs.ReadDir(web.Console, "console/asset")
	if err != nil {
		return nil, fmt.Errorf("list assets: %w", err)
	}
	out := map[string]asset{}
	for _, file := range files {
		body, err := fs.ReadFile(web.Console, path.Join("console/asset", file.Name()))
		if err != nil {
			return nil, fmt.Errorf("read asset: %w", err)
		}
		sum := sha256.Sum256(body)
		out[file.Name()] = asset{body, assetKinds[path.Ext(file.Name())], `"` + hex.EncodeToString(sum[:8]) + `"`}
	}
	return out, nil
}

// showAsset sends a file, or says that the browser's copy is still the same.
func (k *console) showAsset(w http.ResponseWriter, r *http.Request) {
	file, ok := k.assets[chi.URLParam(r, "name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", file.kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", file.state)
	if r.Header.Get("If-None-Match") == file.state {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(file.body) // the browser may be gone
}
