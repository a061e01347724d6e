package console

import (
	"net/url"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/replay"
	"airtable-replay/internal/store"
)

var (
	allStatuses = []deadletter.Status{deadletter.PendingReview, deadletter.Replaying, deadletter.Resolved, deadletter.Ignored}
	allModes    = []deadletter.Mode{deadletter.Checked, deadletter.UnchangedFields, deadletter.ChosenFields, deadletter.Overwrite}
	runModes    = []deadletter.Mode{deadletter.Checked, deadletter.UnchangedFields}
)

// readFilter reads the filter of a list from its address; the names are the API's.
func readFilter(f *faults, q url.Values) replay.Filter {
	return replay.Filter{
		Status:           oneOf(f, "status", q.Get("status"), allStatuses),
		Outcome:          oneOf(f, "outcome", q.Get("outcome"), deadletter.Outcomes()),
		Reason:           oneOf(f, "reason", q.Get("reason"), deadletter.Reasons()),
		Source:           f.text("source", q.Get("source"), maxName),
		Target:           f.text("target", q.Get("target"), maxName),
		TargetID:         f.text("target_id", q.Get("target_id"), maxKey),
		Run:              f.id("run", q.Get("run")),
		Owner:            f.text("owner", q.Get("owner"), maxName),
		FirstAttemptFrom: f.instant("first_attempt_from", q.Get("first_attempt_from")),
		FirstAttemptTo:   f.instant("first_attempt_to", q.Get("first_attempt_to")),
		Q:                f.text("q", q.Get("q"), maxName),
	}
}

// filterQuery writes a filter into an address; readFilter reads it back.
func filterQuery(f replay.Filter) url.Values {
	q := url.Values{}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	set("status", string(f.Status))
	set("outcome", string(f.Outcome))
	set("reason", string(f.Reason))
	set("source", f.Source)
	set("target", f.Target)
	set("target_id", f.TargetID)
	set("run", f.Run)
	set("owner", f.Owner)
	if !f.FirstAttemptFrom.IsZero() {
		set("first_attempt_from", f.FirstAttemptFrom.UTC().Format(time.RFC3339Nano))
	}
	if !f.FirstAttemptTo.IsZero() {
		set("first_attempt_to", f.FirstAttemptTo.UTC().Format(time.RFC3339Nano))
	}
	set("q", f.Q)
	return q
}

// selector is what a run can select of a filter: all of it, or not. A run takes only what is at Pending
// Review, whatever the filter says.
func selector(f replay.Filter) (s deadletter.Selector, whole bool) {
	s = deadletter.Selector{
		Reason: f.Reason, Outcome: f.Outcome, Source: f.Source, Target: f.Target, Run: f.Run, Owner: f.Owner,
		FirstAttemptFrom: f.FirstAttemptFrom, FirstAttemptTo: f.FirstAttemptTo,
	}
	return s, f.TargetID == "" && f.Q == "" && (f.Status == "" || f.Status == deadletter.PendingReview)
}

// stored is the filter as the store takes it.
func stored(f replay.Filter) store.Filter {
	return store.Filter{
		Status: f.Status, Outcome: f.Outcome, Reason: f.Reason, Source: f.Source, Target: f.Target, TargetID: f.TargetID, Run: f.Run,
		Owner: f.Owner, FirstAttemptFrom: f.FirstAttemptFrom, FirstAttemptTo: f.FirstAttemptTo, Q: f.Q,
	}
}
