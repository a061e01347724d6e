package console

import (
	"fmt"
	"time"

	"airtable-replay/internal/store"
)

// timeline is the plot of what waits, by First Attempt At. Its units are those of the picture: bars
// stand barWidth apart on a ground of plotHeight.
type timeline struct {
	From, To time.Time
	Step     time.Duration // of one bar; whole hours
	Bars     []bar
	Most     int // entries of the tallest bar
	Total    int
	Selected *selection
}

// bar is one step of the timeline that has entries.
type bar struct {
	At, Until    time.Time
	Entries      int
	X, Y, Height int
	Inside       bool // of the selected window
}

// selection is the selected window in the picture.
type selection struct{ X, Width int }

const (
	barWidth   = 10
	plotHeight = 120
	maxBars    = 240
)

// Width is that of the picture.
func (t timeline) Width() int { return t.steps() * barWidth }

// Height is that of the picture.
func (timeline) Height() int { return plotHeight }

// BarWidth leaves a gap between bars where there is room for one.
func (timeline) BarWidth() int { return barWidth - 1 }

// StepHours is a bar's step in hours.
func (t timeline) StepHours() int { return int(t.Step / time.Hour) }

// StepText words a bar's step.
func (t timeline) StepText() string {
	switch {
	case t.Step == time.Hour:
		return "hour"
	case t.Step%(24*time.Hour) == 0:
		return plural(int(t.Step/(24*time.Hour)), "day", "days")
	}
	return fmt.Sprintf("%d hours", int(t.Step/time.Hour))
}

// Middle is the instant in the middle of the plot, for its axis.
func (t timeline) Middle() time.Time { return t.From.Add(t.To.Sub(t.From) / 2).Truncate(time.Hour) }

func (t timeline) steps() int { return int(t.To.Sub(t.From) / t.Step) }

// newTimeline lays out the hours of a span: all that waits, or the window that a person zoomed into.
// A step is an hour where that gives a plot that can be read, and a multiple of it otherwise.
func newTimeline(hours []store.Hour, w window) timeline {
	t := timeline{Step: time.Hour}
	if len(hours) == 0 {
		return t
	}
	t.From, t.To = hours[0].At, hours[len(hours)-1].At.Add(time.Hour)
	if w.Zoomed && w.isSet() {
		if !w.From.IsZero() {
			t.From = w.From.Truncate(time.Hour)
		}
		if !w.To.IsZero() {
			t.To = w.To.Add(time.Hour - 1).Truncate(time.Hour)
		}
	}
	if t.To.Sub(t.From) < 12*time.Hour { // room to see, and to drag
		t.From, t.To = t.From.Add(-6*time.Hour), t.To.Add(6*time.Hour)
	}
	for _, step := range []int{1, 2, 3, 6, 12, 24, 48, 7 * 24, 28 * 24, 364 * 24} {
		t.Step = time.Duration(step) * time.Hour
		if t.To.Sub(t.From) <= maxBars*t.Step {
			break
		}
	}
	t.From = t.From.Truncate(t.Step)
	if rest := t.To.Sub(t.From) % t.Step; rest > 0 {
		t.To = t.To.Add(t.Step - rest)
	}
	t.fill(hours, w)
	return t
}

// fill adds up the hours of each step.
func (t *timeline) fill(hours []store.Hour, w window) {
	sums := map[int]int{}
	for _, h := range hours {
		if h.At.Before(t.From) || !h.At.Before(t.To) {
			continue
		}
		step := int(h.At.Sub(t.From) / t.Step)
		sums[step] += h.Entries
		t.Total += h.Entries
		t.Most = max(t.Most, sums[step])
	}
	for step := range t.steps() {
		n := sums[step]
		if n == 0 {
			continue
		}
		height := max(2, n*(plotHeight-4)/t.Most)
		at := t.From.Add(time.Duration(step) * t.Step)
		b := bar{At: at, Until: at.Add(t.Step), Entries: n, X: step * barWidth, Y: plotHeight - height, Height: height}
		b.Inside = w.isSet() && (w.From.IsZero() || b.Until.After(w.From)) && (w.To.IsZero() || b.At.Before(w.To))
		t.Bars = append(t.Bars, b)
	}
	if w.isSet() && !w.Zoomed {
		from, to := t.x(w.From, 0), t.x(w.To, t.Width())
		t.Selected = &selection{X: from, Width: max(2, to-from)}
	}
}

// x is where an instant stands in the picture; a zero one stands where it is told.
func (t *timeline) x(at time.Time, zero int) int {
	if at.IsZero() {
		return zero
	}
	return min(max(0, int(at.Sub(t.From)*barWidth/t.Step)), t.Width())
}
