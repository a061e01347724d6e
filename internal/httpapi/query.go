package httpapi

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi/internal/oapi"
	"airtable-replay/internal/replay"

	"github.com/google/uuid"
)

// The page sizes of lists.
const (
	defaultLimit = 50
	maxLimit     = 200
	limitRule    = "must be a whole number of 1 or more; more than 200 is capped at 200"
)

var airtableID = regexp.MustCompile(`^rec[0-9A-Za-z]{1,32}$`)

// ourID brings an ID of ours into canonical form.
func ourID(id string) (string, bool) {
	if len(id) != len("00000000-0000-0000-0000-000000000000") {
		return "", false
	}
	u, err := uuid.Parse(id)
	return u.String(), err == nil
}

// anyEntryID also takes the Airtable record ID of an entry's row.
func anyEntryID(id string) (string, bool) {
	if airtableID.MatchString(id) {
		return id, true
	}
	return ourID(id)
}

// entry checks the ID in a path. One that cannot exist is not found, like any other.
func (x *exchange) entry(id string) (string, error) {
	known, ok := anyEntryID(id)
	if !ok {
		return "", noSuch("entry", id)
	}
	x.entryID = known
	return known, nil
}

func noSuch(thing, id string) error {
	if len(id) > maxName || !utf8.ValidString(id) || strings.ContainsRune(id, 0) {
		return deadletter.Errorf(deadletter.CodeNotFound, thing+"-not-found", "there is no such %s", thing)
	}
	return deadletter.Errorf(deadletter.CodeNotFound, thing+"-not-found", "there is no %s %q", thing, id)
}

// page checks limit and cursor (case B96: a limit below 1 is refused, one above 200 is capped, and the
// answer tells the limit that was used).
func (f *faults) page(limit *oapi.Limit, cursor *oapi.Cursor) replay.Page {
	p := replay.Page{Limit: defaultLimit, Cursor: f.text("cursor", cursor, maxCursor)}
	if limit != nil {
		p.Limit = min(*limit, maxLimit)
	}
	if p.Limit < 1 {
		f.add("limit", "minimum", limitRule)
	}
	return p
}

// filter checks the parameters that narrow a list of entries.
func (f *faults) filter(p oapi.SummarizeEntriesParams) replay.Filter {
	return replay.Filter{
		Status:           oneOf(f, "status", p.Status, statuses, ""),
		Outcome:          oneOf(f, "outcome", p.Outcome, deadletter.Outcomes(), ""),
		Reason:           oneOf(f, "reason", p.Reason, deadletter.Reasons(), ""),
		Source:           f.text("source", p.Source, maxName),
		Target:           f.text("target", p.Target, maxName),
		TargetID:         f.text("target_id", p.TargetID, maxKey),
		Run:              f.run("run", p.Run),
		Owner:            f.text("owner", p.Owner, maxName),
		FirstAttemptFrom: f.instant("first_attempt_from", p.FirstAttemptFrom),
		FirstAttemptTo:   f.instant("first_attempt_to", p.FirstAttemptTo),
		Q:                f.text("q", p.Q, maxName),
	}
}

// run checks an optional run ID.
func (f *faults) run(field string, id *string) string {
	if val(id) == "" {
		return ""
	}
	known, ok := ourID(*id)
	if !ok {
		f.add(field, "id", "must be the ID of a run")
	}
	return known
}

var (
	statuses = []deadletter.Status{deadletter.PendingReview, deadletter.Replaying, deadletter.Resolved, deadletter.Ignored}
	modes    = []deadletter.Mode{deadletter.Checked, deadletter.UnchangedFields, deadletter.ChosenFields, deadletter.Overwrite}
	whatToDo = []deadletter.Operation{deadletter.Update, deadletter.Upsert}
)
