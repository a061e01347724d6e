package console

import (
	"strings"

	"airtable-replay/internal/deadletter"
)

func statusWord(s deadletter.Status) string {
	switch s {
	case deadletter.PendingReview:
		return "Pending Review"
	case deadletter.Replaying:
		return "Replaying"
	case deadletter.Resolved:
		return "Resolved"
	case deadletter.Ignored:
		return "Ignored"
	}
	return string(s)
}

func outcomeWord(o deadletter.Outcome) string {
	switch o {
	case deadletter.Replayed:
		return "Replayed"
	case deadletter.PartiallyReplayed:
		return "Partially Replayed"
	case deadletter.Superseded:
		return "Superseded"
	case deadletter.NeedsReview:
		return "Needs Review"
	case deadletter.ReplayFailed:
		return "Replay Failed"
	}
	return string(o)
}

func modeWords(m deadletter.Mode) string {
	switch m {
	case deadletter.Checked:
		return "both checks"
	case deadletter.UnchangedFields:
		return "only the unchanged fields"
	case deadletter.ChosenFields:
		return "chosen fields"
	case deadletter.Overwrite:
		return "overwrite everything"
	}
	return string(m)
}

func runKindWord(k deadletter.RunKind) string {
	switch k {
	case deadletter.RunPress:
		return "Press"
	case deadletter.RunMany:
		return "Run"
	case deadletter.RunRestore:
		return "Restore"
	}
	return string(k)
}

func runStatusWord(s deadletter.RunStatus) string {
	switch s {
	case deadletter.RunQueued:
		return "Queued"
	case deadletter.RunRunning:
		return "Running"
	case deadletter.RunCompleted:
		return "Completed"
	case deadletter.RunCancelled:
		return "Cancelled"
	case deadletter.RunStopped:
		return "Stopped"
	}
	return string(s)
}

// tone is the colour class of a state; beside it there are always words.
func tone(state any) string {
	switch state {
	case deadletter.Replayed, deadletter.Resolved, deadletter.RunCompleted, deadletter.FieldWrite, "running":
		return "good"
	case deadletter.PartiallyReplayed, deadletter.NeedsReview, deadletter.FieldSkip, deadletter.RunCancelled, "paused":
		return "warn"
	case deadletter.ReplayFailed, deadletter.RunStopped, "halted":
		return "bad"
	case deadletter.Replaying, deadletter.RunRunning, deadletter.RunQueued:
		return "busy"
	}
	return "calm"
}

func flagWords(f deadletter.Flag) string {
	switch f {
	case deadletter.MayHaveBeenWritten:
		return "An attempt may have been written although nobody answered: look at the record."
	case deadletter.Landed:
		return "An earlier attempt of this entry has landed: its next replay is recorded without a write."
	case deadletter.LateLanding:
		return "A write landed late, over a newer value: look at the record."
	case deadletter.ChangedInWindow:
		return "Somebody changed the record in the moment of the write: look at it."
	case deadletter.CreatedElsewhere:
		return "Somebody else made the record in the moment of the write."
	}
	return string(f)
}

func eventWord(event string) string {
	switch deadletter.Transition(event) {
	case deadletter.TransitionFiled:
		return "Filed"
	case deadletter.TransitionClaimed:
		return "Replay asked for"
	case deadletter.TransitionSettled:
		return "Settled"
	case deadletter.TransitionReleased:
		return "Given back"
	case deadletter.TransitionSwept:
		return "Freed by the sweeper"
	case deadletter.TransitionReset:
		return "Reset"
	case deadletter.TransitionIgnored:
		return "Ignored"
	case deadletter.TransitionReopened:
		return "Reopened"
	}
	switch event {
	case deadletter.EventEdited:
		return "Payload edited"
	case deadletter.EventAssigned:
		return "Assigned"
	case deadletter.EventRestoreAsked:
		return "Restore asked for"
	case deadletter.EventRestored:
		return "Restored"
	case deadletter.EventRestoreRefused:
		return "Restore refused"
	case deadletter.EventRestoreReleased:
		return "Restore given back"
	}
	return strings.TrimSuffix(sentence(strings.ReplaceAll(event, "_", " ")), ".")
}

// reasonText is what a reason code means, and what a person can do about it.
type reasonText struct{ words, advice string }

var reasons = map[deadletter.Reason]reasonText{
	deadletter.ReasonValidationFailed:    {"The payload breaks a rule", "Edit the payload, or mend the sender or the rule, then replay."},
	deadletter.ReasonUnparseablePayload:  {"The payload cannot be read", "Edit the payload so that it is valid JSON, or ignore it."},
	deadletter.ReasonUnknownSource:       {"The source is not configured", "Add the source to the configuration, then replay."},
	deadletter.ReasonInvalidValue:        {"A value does not fit its field", "Edit the payload, or change the field in Airtable, then replay."},
	deadletter.ReasonUnknownField:        {"A field is missing in Airtable", "It was renamed or deleted: put it back or mend the configuration, then replay."},
	deadletter.ReasonInvalidOption:       {"A select option does not exist", "Add the option in Airtable or edit the payload, then replay."},
	deadletter.ReasonComputedField:       {"A field is computed by Airtable", "Take the field out of the payload's mapping; it cannot be written."},
	deadletter.ReasonNoMatch:             {"No record has this ID", "Create the record, or check the ID, then replay."},
	deadletter.ReasonMultipleMatches:     {"Several records have this ID", "Merge the duplicates in Airtable, then replay."},
	deadletter.ReasonPayloadTooLarge:     {"The payload is too large", "Shorten it and replay."},
	deadletter.ReasonDependencyMissing:   {"A linked record is missing", "Replay what it depends on first, or take both in one run."},
	deadletter.ReasonTransientExhausted:  {"Airtable kept failing", "Its own trouble: replay once it has passed."},
	deadletter.ReasonRateLimitExhausted:  {"Airtable's rate limit", "Replay; the pace is kept."},
	deadletter.ReasonNoResponseExhausted: {"Airtable did not answer", "The write may have landed: the replay finds out."},
	deadletter.ReasonBadRequest:          {"Airtable refused the request", "Read its message below, mend the cause, then replay."},
	deadletter.ReasonOutOfOrder:          {"Older than the record, and partial", "Review field by field."},
	deadletter.ReasonOther:               {"Another reason", "Read the error's detail."},
	deadletter.ReasonNewerFromSender:     {"The sender has sent something newer", "Nothing to do: the newer data stays."},
	deadletter.ReasonSharedFieldChanged:  {"Edited by hand after the failure", "Decide field by field; the unchanged ones can be written."},
	deadletter.ReasonAllFieldsChanged:    {"Every field was edited since", "Nothing to do: the edits stay."},
	deadletter.ReasonNewerEntryInBatch:   {"A newer entry carries the field", "Nothing to do."},
	deadletter.ReasonOpenSiblings:        {"Other entries of this record are open", "Replay them together."},
	deadletter.ReasonNoVersion:           {"No version to compare", "Review field by field."},
	deadletter.ReasonBlankVersion:        {"The record has no version yet", "Review field by field."},
	deadletter.ReasonVersionKindMismatch: {"Versions of different kinds", "Mend the version cell or the configuration."},
	deadletter.ReasonWriteFailed:         {"The write failed", "Read the error's detail, mend the cause, then replay."},
	deadletter.ReasonMayHaveBeenWritten:  {"May have been written", "Look at the record before you decide."},
	deadletter.ReasonCrashed:             {"The work on it crashed", "Replay it alone; report it if it happens again."},
	deadletter.ReasonRestored:            {"The record was restored", "Review: its values are older than its version says."},
	deadletter.ReasonAlreadyLanded:       {"Its row is there already", "Nothing to do."},
	deadletter.ReasonNotChosen:           {"Not among the chosen fields", "Nothing to do."},
	deadletter.ReasonBaseHalted:          {"The base was halted", "Mend the cause, resume the base, then replay."},
	deadletter.ReasonRunStopped:          {"Its run was stopped", "Mend the cause, then replay."},
	deadletter.ReasonCancelled:           {"Its run was cancelled", "Replay it when you are ready."},
	deadletter.ReasonSwept:               {"Nobody worked on it any more", "The write may have landed: the replay finds out."},
	deadletter.ReasonReset:               {"Reset by an admin", "The write may have landed: the replay finds out."},
}

// reasonWords is what a reason code means; one without words stands for itself.
func reasonWords(r deadletter.Reason) string {
	if t, ok := reasons[r]; ok {
		return t.words
	}
	return strings.ReplaceAll(string(r), "_", " ")
}

func reasonAdvice(r deadletter.Reason) string { return reasons[r].advice }
