package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/replay"
	"airtable-replay/internal/store"
)

// runsView is one page of the list of runs.
type runsView struct {
	Runs     []deadletter.Run
	Subjects map[string]*store.Subject // of runs over one entry, by the run's ID
	Next     string
	First    string
}

func (k *console) listRuns(v *visit) error {
	var f faults
	page := readPage(&f, v.r.URL.Query())
	if err := f.err(); err != nil {
		return err
	}
	runs, next, err := k.Runs.ListRuns(v.r.Context(), page)
	if err != nil {
		return err
	}
	subjects, err := k.RunTally.SubjectsOf(v.r.Context(), runs)
	if err != nil {
		return err
	}
	data := runsView{Runs: runs, Subjects: subjects}
	if next != "" {
		data.Next = "/runs?" + url.Values{"cursor": {next}}.Encode()
	}
	if page.Cursor != "" {
		data.First = "/runs"
	}
	return k.render(v, http.StatusOK, "runs", data)
}

// planView is the form that a run begins with.
type planView struct {
	Selector deadletter.Selector
	Chips    []chipView
	Hidden   url.Values // the selector, as the form sends it on
	Count    int        // entries at Pending Review that it selects
	More     bool
	Mode     deadletter.Mode
	Limit    string
	Note     string
	Siblings bool
	Alert    *alert
}

// Modes lists the modes of a run.
func (planView) Modes() []deadletter.Mode { return runModes }

// Matching is the list of what a selector without IDs matches, whatever its status.
func (p planView) Matching() string { return "/entries?" + p.Hidden.Encode() }

func (k *console) planRun(v *visit) error {
	return k.plan(v, http.StatusOK, v.r.URL.Query(), nil)
}

// plan shows the form for the selector of an address or a form.
func (k *console) plan(v *visit, status int, q url.Values, wrong *alert) error {
	var f faults
	s := readSelector(&f, q)
	if err := f.err(); err != nil {
		return err
	}
	data := planView{Selector: s, Hidden: selectorQuery(s), Mode: deadletter.Mode(q.Get("mode")), Limit: q.Get("limit"), Note: q.Get("note"), Siblings: q.Get("with_siblings") != "", Alert: wrong}
	if !slices.Contains(runModes, data.Mode) {
		data.Mode = deadletter.Checked
	}
	if len(data.Hidden) == 0 {
		return deadletter.Errorf(deadletter.CodeInvalid, "", "Nothing is selected for the run. Choose a group on the overview, or narrow the list of entries, and start from there.")
	}
	filter := replay.Filter{
		Status: deadletter.PendingReview, Outcome: s.Outcome, Reason: s.Reason, Source: s.Source, Target: s.Target, Run: s.Run, Owner: s.Owner,
		FirstAttemptFrom: s.FirstAttemptFrom, FirstAttemptTo: s.FirstAttemptTo,
	}
	data.Chips = chips(filter)[1:]
	var err error
	if len(s.IDs) == 0 {
		data.Count, data.More, err = k.countOf(v.r.Context(), filter)
	} else {
		counted := stored(filter)
		counted.IDs = s.IDs
		data.Count, err = k.Tally.CountEntries(v.r.Context(), counted, len(s.IDs))
	}
	if err != nil {
		return err
	}
	return k.render(v, status, "plan", data)
}

func readSelector(f *faults, q url.Values) deadletter.Selector {
	narrow := readFilter(f, q)
	s, _ := selector(narrow)
	for _, id := range q["id"] {
		if known := f.id("id", id); known != "" {
			s.IDs = append(s.IDs, known)
		}
	}
	return s
}

func selectorQuery(s deadletter.Selector) url.Values {
	q := filterQuery(replay.Filter{
		Outcome: s.Outcome, Reason: s.Reason, Source: s.Source, Target: s.Target, Run: s.Run, Owner: s.Owner,
		FirstAttemptFrom: s.FirstAttemptFrom, FirstAttemptTo: s.FirstAttemptTo,
	})
	if len(s.IDs) > 0 {
		q["id"] = s.IDs
	}
	return q
}

// startRun starts a run, or its forecast, and goes to its page.
func (k *console) startRun(v *visit) error {
	var f faults
	r := replay.RunRequest{
		Selector: readSelector(&f, v.sent()), Mode: oneOf(&f, "mode", v.field("mode"), runModes), WithSiblings: v.field("with_siblings") != "",
		DryRun: v.field("do") == "forecast", RequestedBy: v.who(), Note: f.text("note", v.field("note"), maxReason), Admin: v.allows(scopeAdmin),
	}
	if r.Mode == "" {
		r.Mode = deadletter.Checked
	}
	if text := v.field("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			f.add("limit", "minimum", "must be a whole number of 1 or more; leave it empty to take all")
		}
		r.Limit = n
	}
	err := f.err()
	if err == nil {
		var run deadletter.Run
		if run, err = k.Runs.StartRun(v.r.Context(), r); err == nil {
			return v.follow("/runs/" + run.ID)
		}
	}
	if status := statusOf(err); status < http.StatusInternalServerError {
		wrong := alertOf(v.r.Context(), err)
		return k.plan(v, status, v.sent(), &wrong)
	}
	return err
}

// runView is a run with its progress.
type runView struct {
	Run      deadletter.Run
	Chips    []chipView
	Total    int // entries claimed, or selected by a dry run
	Done     int
	Outcomes []tallyView
	Why      []whyView     // entries that were not written
	Skipped  []reasonTally // fields left out, by reason
	Hidden   url.Values    // the selector, for the run after a forecast
	Alert    *alert
}

// tallyView counts one way in which entries of a run came out.
type tallyView struct {
	Words, Tone string
	Entries     int
	List        string // empty: there is no list of them
}

// whyView counts the entries of a run that came out one way for one reason.
type whyView struct {
	Words   string
	Reason  deadletter.Reason
	Entries int
	List    string
}

func whyViews(run string, found []deadletter.Why) []whyView {
	out := make([]whyView, 0, len(found))
	for _, w := range found {
		v := whyView{Words: "Given back", Reason: w.Reason, Entries: w.Entries, List: "/entries?" + url.Values{"run": {run}}.Encode()}
		if w.Outcome != "" {
			v.Words = outcomeWord(w.Outcome)
			v.List += "&" + url.Values{"outcome": {string(w.Outcome)}}.Encode()
		}
		out = append(out, v)
	}
	return out
}

// reasonTally counts by reason.
type reasonTally struct {
	Reason  deadletter.Reason
	Entries int
}

// Live tells whether the run's page still changes.
func (r runView) Live() bool { return !r.Run.Finished() }

// Cancellable tells whether the run can still be cancelled.
func (r runView) Cancellable() bool {
	return r.Live() && (r.Run.Status == deadletter.RunQueued || r.Run.Status == deadletter.RunRunning)
}

// Restore tells whether the run is one that writes values back.
func (r runView) Restore() bool { return r.Run.Kind == deadletter.RunRestore }

// Written is how many entries were written, whole or in part.
func (r runView) Written() int { return r.Run.Counts.Replayed + r.Run.Counts.PartiallyReplayed }

func runViewOf(r deadletter.Run) runView {
	d := runView{Run: r, Why: whyViews(r.ID, r.Why), Total: r.Counts.Claimed, Done: r.Counts.Settled(), Chips: chips(replay.Filter{
		Outcome: r.Selector.Outcome, Reason: r.Selector.Reason, Source: r.Selector.Source, Target: r.Selector.Target, Run: r.Selector.Run,
		Owner: r.Selector.Owner, FirstAttemptFrom: r.Selector.FirstAttemptFrom, FirstAttemptTo: r.Selector.FirstAttemptTo,
	}), Hidden: selectorQuery(r.Selector)}
	skipped := r.Reconciliation.SkippedByReason
	if r.Forecast != nil {
		d.Total, d.Done, skipped = r.Forecast.Selected, r.Forecast.Checked, r.Forecast.Reasons
	}
	d.Outcomes = outcomesOf(r)
	for reason, n := range skipped {
		d.Skipped = append(d.Skipped, reasonTally{reason, n})
	}
	slices.SortFunc(d.Skipped, func(a, b reasonTally) int {
		return cmp.Or(cmp.Compare(b.Entries, a.Entries), cmp.Compare(a.Reason, b.Reason))
	})
	return d
}

// outcomesOf lists how the entries of a run came out, or would.
func outcomesOf(r deadletter.Run) []tallyView {
	var out []tallyView
	add := func(words, tone, list string, n int) {
		if n > 0 {
			out = append(out, tallyView{words, tone, n, list})
		}
	}
	c := r.Counts
	counts := map[deadletter.Outcome]int{
		deadletter.Replayed: c.Replayed, deadletter.PartiallyReplayed: c.PartiallyReplayed, deadletter.Superseded: c.Superseded,
		deadletter.NeedsReview: c.NeedsReview, deadletter.ReplayFailed: c.ReplayFailed,
	}
	all := "/entries?" + url.Values{"run": {r.ID}}.Encode()
	if r.Forecast != nil {
		counts, all = r.Forecast.Outcomes, ""
	}
	for _, o := range deadletter.Outcomes() {
		list := all
		if list != "" {
			list += "&" + url.Values{"outcome": {string(o)}}.Encode()
		}
		add(outcomeWord(o), tone(o), list, counts[o])
	}
	add("Restored", "good", "", c.Restored)
	add("Refused", "warn", "", c.Refused)
	add("Given back", "calm", all, c.Released)
	return out
}

func (k *console) showRun(v *visit) error { return k.run(v, http.StatusOK, nil) }

func (k *console) run(v *visit, status int, wrong *alert) error {
	r, err := k.Runs.ShowRun(v.r.Context(), v.param("id"))
	if err != nil {
		return err
	}
	data := runViewOf(r)
	data.Alert = wrong
	return k.render(v, status, "run", data)
}

// cancelRun gives back what the run has not written yet.
func (k *console) cancelRun(v *visit) error {
	var f faults
	reason := f.text("reason", v.field("reason"), maxReason)
	err := f.err()
	if err == nil {
		_, err = k.Runs.CancelRun(v.r.Context(), v.param("id"), v.who(), reason)
	}
	if err == nil {
		return v.follow("/runs/" + url.PathEscape(v.param("id")))
	}
	if status := statusOf(err); status != http.StatusNotFound && status < http.StatusInternalServerError {
		wrong := alertOf(v.r.Context(), err)
		return k.run(v, status, &wrong)
	}
	return err
}
