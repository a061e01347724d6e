package web

import "embed"

// ReplayScript is the script of the Replay button, as people may paste it (mission T3).
//
//go:embed button/replay.js
var ReplayScript string

// Console holds the templates (console/page) and assets (console/asset) of the web console, as they
// are served.
//
//go:embed console
var Console embed.FS
