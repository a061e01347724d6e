package web

import _ "embed"

// ReplayScript is the script of the Replay button, as people may paste it (mission T3).
//
//go:embed button/replay.js
var ReplayScript string
