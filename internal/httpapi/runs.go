package httpapi

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi/internal/oapi"
	"airtable-replay/internal/replay"
)

// StartRun implements POST /v1/runs.
func (s *server) StartRun(ctx context.Context, r oapi.StartRunRequestObject) (oapi.StartRunResponseObject, error) {
	x := exchangeOf(ctx)
	request, err := x.run(*r.Body)
	if err != nil {
		return nil, err
	}
	run, err := s.Runs.StartRun(ctx, request)
	if err != nil {
		return nil, err
	}
	x.runID = run.ID
	return oapi.StartRun202JSONResponse{
		Body: runJSON(run), Headers: oapi.StartRun202ResponseHeaders{Location: "/v1/runs/" + run.ID},
	}, nil
}

func (x *exchange) run(b oapi.RunRequest) (replay.RunRequest, error) {
	var f faults
	q := replay.RunRequest{
		Selector: f.selector(b.Selector), Mode: oneOf(&f, "mode", b.Mode, modes, deadletter.Checked), Fields: b.Fields,
		WithSiblings: val(b.WithSiblings), Limit: val(b.Limit), DryRun: val(b.DryRun),
		RequestedBy: f.who(b.RequestedBy, x.token.Name), Note: f.text("note", b.Note, maxReason), Admin: x.allows(ScopeAdmin),
	}
	if b.Limit != nil && *b.Limit < 1 {
		f.add("limit", "minimum", "must be 1 or more; leave it out to take all")
	}
	if q.Mode == deadletter.Overwrite {
		if err := x.require(ScopeAdmin); err != nil {
			return q, err
		}
		f.required("note", b.Note, maxReason)
	}
	f.chosen(q.Mode, q.Fields)
	var err error
	if q.Expect, err = f.expectations(q, b.Expect); err != nil {
		return q, err
	}
	if err := f.inBody(); err != nil {
		return q, err
	}
	if selectsAll(q.Selector) {
		return q, emptySelection
	}
	return q, nil
}

// emptySelection refuses a selector of nothing at all, which would take everything (mission B1).
var emptySelection = &refusal{
	status: http.StatusUnprocessableEntity, problem: "empty-selection", detail: "the selector names nothing to select",
	fields: []deadletter.FieldError{{Field: "selector", Rule: "required", Detail: "name IDs, or a reason, outcome, source, target, run, owner or time window"}},
}

func selectsAll(s deadletter.Selector) bool {
	return len(s.IDs) == 0 && s.Reason == "" && s.Outcome == "" && s.Source == "" && s.Target == "" && s.Run == "" &&
		s.Owner == "" && s.FirstAttemptFrom.IsZero() && s.FirstAttemptTo.IsZero()
}

func (f *faults) selector(b oapi.Selector) deadletter.Selector {
	return deadletter.Selector{
		IDs:              f.entryIDs("selector.ids", b.Ids),
		Reason:           oneOf(f, "selector.reason", b.Reason, deadletter.Reasons(), ""),
		Outcome:          oneOf(f, "selector.outcome", b.Outcome, deadletter.Outcomes(), ""),
		Source:           f.text("selector.source", b.Source, maxName),
		Target:           f.text("selector.target", b.Target, maxName),
		Run:              f.run("selector.run", b.Run),
		Owner:            f.text("selector.owner", b.Owner, maxName),
		FirstAttemptFrom: f.instant("selector.first_attempt_from", b.FirstAttemptFrom),
		FirstAttemptTo:   f.instant("selector.first_attempt_to", b.FirstAttemptTo),
	}
}

// entryIDs brings a list of entry IDs into canonical form.
func (f *faults) entryIDs(field string, ids []string) []string {
	var known []string
	for i, id := range ids {
		canonical, ok := anyEntryID(id)
		if !ok {
			f.add(fmt.Sprintf("%s[%d]", field, i), "id", "must be the ID of an entry, or the Airtable record ID (rec…) of its row")
		}
		known = append(known, canonical)
	}
	return known
}

// expectations checks the values that the reviewer saw, by entry (R11).
func (f *faults) expectations(q replay.RunRequest, b map[string]oapi.FieldValues) (map[string]map[string]any, error) {
	if !choosing(q.Mode) {
		if len(b) > 0 {
			f.add("expect", "mode", "goes only with mode chosen_fields or overwrite; leave it out")
		}
		return nil, nil
	}
	if len(b) == 0 {
		f.add("expect", "required", "is required for modes chosen_fields and overwrite: for each entry, the values that were shown")
	}
	out := map[string]map[string]any{}
	for _, id := range slices.Sorted(maps.Keys(b)) {
		expect := b[id]
		canonical, ok := anyEntryID(id)
		if !ok {
			f.add(join("expect", id), "id", "must be named by the ID of an entry")
		}
		f.expected(join("expect", id), expect, q.Fields)
		var err error
		if out[canonical], err = values(expect); err != nil {
			return nil, err
		}
	}
	for _, id := range q.Selector.IDs {
		if _, ok := out[id]; !ok && len(b) > 0 {
			f.add(join("expect", id), "required", "is required: the entry is selected")
		}
	}
	return out, nil
}

// ShowRun implements GET /v1/runs/{id}.
func (s *server) ShowRun(ctx context.Context, r oapi.ShowRunRequestObject) (oapi.ShowRunResponseObject, error) {
	id, ok := ourID(r.ID)
	if !ok {
		return nil, noSuch("run", r.ID)
	}
	exchangeOf(ctx).runID = id
	run, err := s.Runs.ShowRun(ctx, id)
	if err != nil {
		return nil, err
	}
	return oapi.ShowRun200JSONResponse(runJSON(run)), nil
}

// ListRuns implements GET /v1/runs.
func (s *server) ListRuns(ctx context.Context, r oapi.ListRunsRequestObject) (oapi.ListRunsResponseObject, error) {
	var f faults
	page := f.page(r.Params.Limit, r.Params.Cursor)
	if err := f.inQuery(); err != nil {
		return nil, err
	}
	rs, next, err := s.Runs.ListRuns(ctx, page)
	if err != nil {
		return nil, err
	}
	list := make([]oapi.Run, len(rs))
	for i, run := range rs {
		list[i] = runJSON(run)
	}
	return oapi.ListRuns200JSONResponse{Runs: list, NextCursor: orNull(next), Limit: page.Limit}, nil
}

// CancelRun implements POST /v1/runs/{id}/cancel.
func (s *server) CancelRun(ctx context.Context, r oapi.CancelRunRequestObject) (oapi.CancelRunResponseObject, error) {
	x := exchangeOf(ctx)
	id, ok := ourID(r.ID)
	if !ok {
		return nil, noSuch("run", r.ID)
	}
	x.runID = id
	var f faults
	reason := f.text("reason", val(r.Body).Reason, maxReason)
	if err := f.inBody(); err != nil {
		return nil, err
	}
	run, err := s.Runs.CancelRun(ctx, id, x.token.Name, reason)
	if err != nil {
		return nil, err
	}
	return oapi.CancelRun200JSONResponse(runJSON(run)), nil
}

func runJSON(r deadletter.Run) oapi.Run {
	c, t := r.Counts, r.Reconciliation
	return oapi.Run{
		ID: r.ID, Kind: oapi.RunKind(r.Kind), Status: oapi.RunStatus(r.Status), Reason: reasonOrNull(r.Reason), DryRun: r.DryRun,
		Mode: oapi.Mode(r.Mode), RequestedBy: r.RequestedBy, Note: r.Note, Selector: selectorJSON(r.Selector),
		Counts: oapi.Counts{
			Claimed: c.Claimed, Replayed: c.Replayed, PartiallyReplayed: c.PartiallyReplayed, Superseded: c.Superseded,
			NeedsReview: c.NeedsReview, ReplayFailed: c.ReplayFailed, Released: c.Released,
			Restored: c.Restored, Refused: c.Refused,
		},
		Reconciliation: oapi.Reconciliation{
			Created: t.Created, Updated: t.Updated, Unchanged: t.Unchanged, Merged: t.Merged, Balanced: t.Balanced,
			SkippedByReason: tally(t.SkippedByReason),
		},
		LeftOut: r.LeftOut, Forecast: forecastJSON(r.Forecast), Why: whyJSON(r.Why), Notices: noticesJSON(r.Notices),
		CreatedAt: r.CreatedAt.UTC(), StartedAt: instantOrNull(r.StartedAt), FinishedAt: instantOrNull(r.FinishedAt),
	}
}

func whyJSON(why []deadletter.Why) []oapi.Why {
	out := make([]oapi.Why, len(why))
	for i, w := range why {
		out[i] = oapi.Why{Outcome: orNull(oapi.Outcome(w.Outcome)), Reason: oapi.Reason(w.Reason), Entries: w.Entries}
	}
	return out
}

func noticesJSON(told []deadletter.Notice) []oapi.Notice {
	out := make([]oapi.Notice, len(told))
	for i, n := range told {
		out[i] = oapi.Notice{Endpoint: n.Endpoint, Event: n.Event, Delivered: n.Delivered, Attempts: n.Attempts, LastError: n.LastError}
	}
	return out
}

func forecastJSON(f *deadletter.Forecast) *oapi.Forecast {
	if f == nil {
		return nil
	}
	return &oapi.Forecast{
		Selected: f.Selected, Checked: f.Checked, Outcomes: tally(f.Outcomes), Reasons: tally(f.Reasons), Created: f.Created, Updated: f.Updated,
		Merged: f.Merged, Records: f.Records, Requests: f.Requests, Seconds: int(math.Ceil(f.Duration.Seconds())),
	}
}

func selectorJSON(s deadletter.Selector) oapi.Selector {
	out := oapi.Selector{
		Ids: s.IDs, Reason: orNull(oapi.Reason(s.Reason)), Outcome: orNull(oapi.Outcome(s.Outcome)), Source: orNull(s.Source),
		Target: orNull(s.Target), Run: orNull(s.Run), Owner: orNull(s.Owner),
	}
	if !s.FirstAttemptFrom.IsZero() {
		out.FirstAttemptFrom = new(s.FirstAttemptFrom.UTC().Format(time.RFC3339Nano))
	}
	if !s.FirstAttemptTo.IsZero() {
		out.FirstAttemptTo = new(s.FirstAttemptTo.UTC().Format(time.RFC3339Nano))
	}
	return out
}
