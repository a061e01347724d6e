package doctor

import (
	"context"
	"fmt"
	"time"
)

// now is the shared clock; false where there is no database to ask.
func (c *check) now(ctx context.Context) (time.Time, bool) {
	if c.Store == nil {
		return time.Time{}, false
	}
	at, err := c.Store.Now(ctx)
	return at, err == nil
}

// checkClock compares Airtable's clock with the shared one: the shared-field check crosses the two, and
// the margin of a target has to cover what they differ by (mission C2). before is the shared clock from
// before the request whose Date is judged.
func (c *check) checkClock(ctx context.Context, l *line, before time.Time) {
	date := l.dates.seen()
	after, ok := c.now(ctx)
	if date.IsZero() || !ok {
		return
	}
	margin, target := c.smallestMargin(l.base.Name)
	if target == "" {
		return
	}
	off := skew(before, after, date)
	what := difference(off)
	fix := fmt.Sprintf("set the clock of the database's machine by NTP, or raise targets.%s.margin", target)
	switch {
	case off.Abs() >= margin:
		c.add(AreaClock, l.base.Name, Fault, fmt.Sprintf("%s; the margin of %s is %s, so a hand edit can be taken for an older one", what, target, margin), fix)
	case off.Abs() >= margin/2:
		c.add(AreaClock, l.base.Name, Warning, fmt.Sprintf("%s, more than half the margin of %s, %s", what, target, margin), fix)
	default:
		c.add(AreaClock, l.base.Name, OK, fmt.Sprintf("%s; the smallest margin is %s", what, margin), "")
	}
}

func (c *check) smallestMargin(base string) (margin time.Duration, target string) {
	for _, t := range c.book.TargetsOf(base) {
		if target == "" || t.Margin < margin {
			margin, target = t.Margin, t.Name
		}
	}
	return margin, target
}

// skew is how far Airtable's clock is ahead of ours, at least: its Date has whole seconds and was made
// somewhere between before and after. Behind is negative.
func skew(before, after, date time.Time) time.Duration {
	switch latest := date.Add(time.Second); {
	case date.After(after):
		return date.Sub(after)
	case latest.Before(before):
		return latest.Sub(before)
	}
	return 0
}

func difference(off time.Duration) string {
	switch shown := off.Abs().Round(time.Second); {
	case shown < time.Second:
		return "Airtable's clock and the database's agree"
	case off > 0:
		return fmt.Sprintf("Airtable's clock is %s ahead of the database's", shown)
	default:
		return fmt.Sprintf("Airtable's clock is %s behind the database's", shown)
	}
}
