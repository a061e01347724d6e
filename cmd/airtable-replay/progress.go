package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"airtable-replay/api/client"
)

const (
	// barCells is how long a bar is.
	barCells = 24
	// eraseLine takes back the line that was drawn last.
	eraseLine = "\r\x1b[K"
)

// progress shows how far a run has come: a bar on a terminal, else a line for each tenth.
type progress struct {
	p     *process
	mute  bool
	bar   bool
	drawn bool
	began time.Time
	first int // done when it was first looked at
	told  string
}

// newProgress shows progress on standard error, so that standard output holds the result alone.
func newProgress(p *process, mute bool) *progress {
	return &progress{p: p, mute: mute, bar: terminal(p.stderr)}
}

// draw shows a state of the run.
func (g *progress) draw(r client.Run) {
	n, of := extent(r)
	if g.began.IsZero() {
		g.began, g.first = time.Now(), n
	}
	switch {
	case g.mute:
	case g.bar:
		line := barText(n, of) + rateText(n-g.first, of-n, time.Since(g.began)) + soFar(r)
		if width := columnsOf(g.p.stderr); width > 0 {
			line = cut(line, width-1)
		}
		fmt.Fprint(g.p.stderr, eraseLine+line)
		g.drawn = true
	default:
		if state := fmt.Sprintf("%s %d", r.Status, tenths(n, of)); state != g.told {
			g.told = state
			g.p.note("%s: %d of %d%s", plain(string(r.Status)), n, of, soFar(r))
		}
	}
}

// end leaves the terminal as it was.
func (g *progress) end() {
	if g.drawn {
		fmt.Fprint(g.p.stderr, eraseLine)
		g.drawn = false
	}
}

func tenths(n, of int) int {
	if of == 0 {
		return 0
	}
	return 10 * n / of
}

func barText(n, of int) string {
	full := 0
	if of > 0 {
		full = min(barCells, barCells*n/of)
	}
	return fmt.Sprintf("%s%s %d/%d", strings.Repeat("█", full), strings.Repeat("░", barCells-full), n, of)
}

// rateText is how fast it goes, and how long it will take at that.
func rateText(n, left int, since time.Duration) string {
	if n <= 0 || since <= 0 {
		return ""
	}
	rate := float64(n) / since.Seconds()
	text := fmt.Sprintf("  %.1f/s", rate)
	if left > 0 {
		text += "  " + spanText(int(math.Ceil(float64(left)/rate))) + " left"
	}
	return text
}

// soFar are the outcomes so far.
func soFar(r client.Run) string {
	var parts []string
	for _, o := range outcomesOf(r.Counts) {
		if o.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", o.name, o.n))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "  " + strings.Join(parts, " · ")
}
