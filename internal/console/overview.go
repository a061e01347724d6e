package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/replay"
	"airtable-replay/internal/store"
)

// overviewView is what waits, and for whom.
type overviewView struct {
	Waiting   int // entries at Pending Review, of all times
	Replaying int
	Resolved  int
	Ignored   int
	Groups    []groupView
	Shown     int // entries of the groups
	Bases     []replay.BaseState
	Stuck     []deadletter.Entry // nobody works on them any more
	Timeline  timeline
	Window    window
	Alert     *alert
}

// groupView is one reason with what it holds.
type groupView struct {
	Reason      deadletter.Reason
	Entries     int
	First, Last time.Time
	Parts       []partView
	List, Run   string // links
}

// partView is the share of one source and target in a group.
type partView struct {
	Source, Target string
	Entries        int
	List           string
}

// window is the time window that a person selected; zero: all times.
type window struct {
	From, To time.Time
	Zoomed   bool
}

func (w window) isSet() bool { return !w.From.IsZero() || !w.To.IsZero() }

// Set tells templates whether a window is selected.
func (w window) Set() bool { return w.isSet() }

// FromText and ToText are the window's ends as an input of the page takes them, in UTC.
func (w window) FromText() string { return inputTime(w.From) }

// ToText is the window's end.
func (w window) ToText() string { return inputTime(w.To) }

// query is the window as parameters of a link.
func (w window) query() url.Values {
	q := url.Values{}
	if !w.From.IsZero() {
		q.Set("first_attempt_from", w.From.UTC().Format(time.RFC3339))
	}
	if !w.To.IsZero() {
		q.Set("first_attempt_to", w.To.UTC().Format(time.RFC3339))
	}
	return q
}

func inputTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04")
}

func (k *console) showOverview(v *visit) error { return k.overview(v, http.StatusOK, nil) }

// overview shows the page, with an alert where something before it went wrong.
func (k *console) overview(v *visit, status int, wrong *alert) error {
	ctx := v.r.Context()
	q := v.r.URL.Query()
	var f faults
	w := window{
		From: f.instant("first_attempt_from", q.Get("first_attempt_from")), To: f.instant("first_attempt_to", q.Get("first_attempt_to")),
		Zoomed: q.Get("zoom") != "",
	}
	if err := f.err(); err != nil {
		return err
	}
	statuses, err := k.Tally.CountStatuses(ctx)
	if err != nil {
		return err
	}
	hours, err := k.Tally.CountHours(ctx, store.TallyFilter{Status: deadletter.PendingReview})
	if err != nil {
		return err
	}
	groups, err := k.Tally.CountGroups(ctx, store.TallyFilter{Status: deadletter.PendingReview, From: w.From, To: w.To})
	if err != nil {
		return err
	}
	bases, err := k.Bases.ListBases(ctx)
	if err != nil {
		return err
	}
	stuck, err := k.Stuck.ListStuck(ctx)
	if err != nil {
		return err
	}
	data := overviewView{
		Stuck: stuck, Waiting: statuses[deadletter.PendingReview], Replaying: statuses[deadletter.Replaying], Resolved: statuses[deadletter.Resolved],
		Ignored: statuses[deadletter.Ignored], Groups: groupViews(groups, w), Bases: bases, Timeline: newTimeline(hours, w), Window: w, Alert: wrong,
	}
	var reasons []deadletter.Reason
	for _, g := range data.Groups {
		data.Shown += g.Entries
		reasons = append(reasons, g.Reason)
	}
	spans, err := k.Tally.SpansOf(ctx, store.TallyFilter{Status: deadletter.PendingReview, From: w.From, To: w.To}, reasons)
	if err != nil {
		return err
	}
	for i, g := range data.Groups {
		data.Groups[i].First, data.Groups[i].Last = spans[g.Reason].First, spans[g.Reason].Last
	}
	return k.render(v, status, "overview", data)
}

// groupViews gathers groups by reason, the largest first.
func groupViews(groups []store.Group, w window) []groupView {
	at := map[deadletter.Reason]int{}
	var out []groupView
	for _, g := range groups {
		i, ok := at[g.Reason]
		if !ok {
			i = len(out)
			at[g.Reason] = i
			out = append(out, groupView{Reason: g.Reason, List: groupLink("/entries", g.Reason, w), Run: groupLink("/runs/new", g.Reason, w)})
		}
		group := &out[i]
		group.Entries += g.Entries
		group.Parts = append(group.Parts, partView{Source: g.Source, Target: g.Target, Entries: g.Entries, List: groupLink("/entries", g.Reason, w, "source", g.Source, "target", g.Target)})
	}
	slices.SortStableFunc(out, func(a, b groupView) int { return cmp.Compare(b.Entries, a.Entries) })
	return out
}

// groupLink leads to the entries of a reason that wait, or to a run over them.
func groupLink(path string, reason deadletter.Reason, w window, more ...string) string {
	q := w.query()
	q.Set("reason", string(reason))
	if path == "/entries" {
		q.Set("status", string(deadletter.PendingReview))
	}
	for i := 0; i+1 < len(more); i += 2 {
		if more[i+1] != "" {
			q.Set(more[i], more[i+1])
		}
	}
	return path + "?" + q.Encode()
}

// haltBase stops a base on an admin's word.
func (k *console) haltBase(v *visit) error {
	var f faults
	reason := f.required("reason", v.field("reason"), maxReason)
	if err := f.err(); err != nil {
		return k.overviewAfter(v, err)
	}
	if _, err := k.Bases.HaltBase(v.r.Context(), v.param("name"), reason, v.who()); err != nil {
		return k.overviewAfter(v, err)
	}
	return v.follow("/#bases")
}

// resumeBase lets a halted base go on.
func (k *console) resumeBase(v *visit) error {
	if _, err := k.Bases.ResumeBase(v.r.Context(), v.param("name"), v.who()); err != nil {
		return k.overviewAfter(v, err)
	}
	return v.follow("/#bases")
}

// overviewAfter shows the page with what went wrong, so that nobody loses their place.
func (k *console) overviewAfter(v *visit, err error) error {
	wrong := alertOf(v.r.Context(), err)
	if statusOf(err) >= http.StatusInternalServerError {
		return err
	}
	return k.overview(v, statusOf(err), &wrong)
}

// resetStuck frees every entry on which nobody works any more (mission S2).
func (k *console) resetStuck(v *visit) error {
	if _, err := k.Stuck.ResetStuck(v.r.Context(), nil, v.who()); err != nil {
		return k.overviewAfter(v, err)
	}
	return v.follow("/")
}
