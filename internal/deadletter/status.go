package deadletter

// Status is where an entry stands (mission E2). Exactly one of the four values below.
type Status string

// The four statuses of an entry.
const (
	PendingReview Status = "pending_review"
	Replaying     Status = "replaying"
	Resolved      Status = "resolved"
	Ignored       Status = "ignored"
)

// Transition names an event that moves an entry from one status to another. Each is one conditional
// update in Postgres and one line of the entry's history.
type Transition string

// The transitions of mission E2; the first one of an entry is TransitionFiled.
const (
	TransitionFiled    Transition = "filed"
	TransitionClaimed  Transition = "claimed"
	TransitionSettled  Transition = "settled"
	TransitionReleased Transition = "released" // halt, cancel or stop of a run before anything was written
	TransitionSwept    Transition = "swept"
	TransitionReset    Transition = "reset"
	TransitionIgnored  Transition = "ignored"
	TransitionReopened Transition = "reopened"
)

// Edge is one permitted change of status.
type Edge struct {
	Transition Transition
	From, To   Status
}

// Edges lists every permitted change of status; there are no others. The diagram in README.md shows
// the same edges, and a test holds the two together.
func Edges() []Edge {
	return []Edge{
		{TransitionFiled, "", PendingReview},
		{TransitionClaimed, PendingReview, Replaying},
		{TransitionSettled, Replaying, Resolved},
		{TransitionSettled, Replaying, PendingReview},
		{TransitionReleased, Replaying, PendingReview},
		{TransitionSwept, Replaying, PendingReview},
		{TransitionReset, Replaying, PendingReview},
		{TransitionIgnored, PendingReview, Ignored},
		{TransitionReopened, Resolved, PendingReview},
		{TransitionReopened, Ignored, PendingReview},
	}
}

// Outcome is what a replay came to (mission O).
type Outcome string

// The five outcomes of a replay.
const (
	Replayed          Outcome = "replayed"
	PartiallyReplayed Outcome = "partially_replayed"
	Superseded        Outcome = "superseded"
	NeedsReview       Outcome = "needs_review"
	ReplayFailed      Outcome = "replay_failed"
)

// Outcomes lists the outcomes in the order in which people read them.
func Outcomes() []Outcome {
	return []Outcome{Replayed, PartiallyReplayed, Superseded, NeedsReview, ReplayFailed}
}

// StatusAfter is the status of an entry once it is settled with the outcome (mission O).
func (o Outcome) StatusAfter() Status {
	switch o {
	case Replayed, PartiallyReplayed, Superseded:
		return Resolved
	case NeedsReview, ReplayFailed:
		return PendingReview
	}
	return PendingReview
}

// Operation says what an item may do to its target (mission C6).
type Operation string

// An update needs its record to exist; an upsert creates it when nothing matches.
const (
	Update Operation = "update"
	Upsert Operation = "upsert"
)

// Mode says which checks a press asks for (contract: press).
type Mode string

// The modes of a press. Validation, matching and siblings hold in every mode.
const (
	Checked         Mode = "checked"          // both checks
	UnchangedFields Mode = "unchanged_fields" // sender check; leaves out the fields that changed
	ChosenFields    Mode = "chosen_fields"    // only the named fields, without the shared-field check
	Overwrite       Mode = "overwrite"        // neither check; an admin, with a reason
)

// Flag marks something about an entry that a person should know beside its outcome.
type Flag string

// The flags of an entry (contract: entry).
const (
	MayHaveBeenWritten Flag = "may_have_been_written"
	Landed             Flag = "landed"
	LateLanding        Flag = "late_landing"
	ChangedInWindow    Flag = "changed_in_window"
	CreatedElsewhere   Flag = "created_elsewhere"
)
