package httpapi

import (
	"context"

	"airtable-replay/internal/httpapi/internal/oapi"
)

// ListEntries implements GET /v1/entries.
func (s *server) ListEntries(ctx context.Context, r oapi.ListEntriesRequestObject) (oapi.ListEntriesResponseObject, error) {
	p := r.Params
	var f faults
	filter := f.filter(oapi.SummarizeEntriesParams{
		Status: p.Status, Outcome: p.Outcome, Reason: p.Reason, Source: p.Source, Target: p.Target, TargetID: p.TargetID,
		Run: p.Run, Owner: p.Owner, FirstAttemptFrom: p.FirstAttemptFrom, FirstAttemptTo: p.FirstAttemptTo, Q: p.Q,
	})
	page := f.page(p.Limit, p.Cursor)
	if err := f.inQuery(); err != nil {
		return nil, err
	}
	es, next, err := s.Entries.ListEntries(ctx, filter, page)
	if err != nil {
		return nil, err
	}
	list, err := entriesJSON(es)
	return oapi.ListEntries200JSONResponse{Entries: list, NextCursor: orNull(next), Limit: page.Limit}, err
}

// SummarizeEntries implements GET /v1/entries/summary.
func (s *server) SummarizeEntries(ctx context.Context, r oapi.SummarizeEntriesRequestObject) (oapi.SummarizeEntriesResponseObject, error) {
	var f faults
	filter := f.filter(r.Params)
	if err := f.inQuery(); err != nil {
		return nil, err
	}
	sum, err := s.Entries.SummarizeEntries(ctx, filter)
	if err != nil {
		return nil, err
	}
	hours := oapi.Tally{}
	for hour, n := range sum.ByHour {
		hours[hour.UTC().Format("2006-01-02T15:04:05Z")] = n
	}
	return oapi.SummarizeEntries200JSONResponse{
		ByStatus: tally(sum.ByStatus), ByReason: tally(sum.ByReason), BySource: tally(sum.BySource),
		ByTarget: tally(sum.ByTarget), ByHour: hours,
	}, nil
}

// tally is a count by name; a nil map is an empty object.
func tally[K ~string](m map[K]int) oapi.Tally {
	out := oapi.Tally{}
	for name, n := range m {
		out[string(name)] = n
	}
	return out
}

// ShowEntry implements GET /v1/entries/{id}.
func (s *server) ShowEntry(ctx context.Context, r oapi.ShowEntryRequestObject) (oapi.ShowEntryResponseObject, error) {
	id, err := exchangeOf(ctx).entry(r.ID)
	if err != nil {
		return nil, err
	}
	e, err := s.Entries.ShowEntry(ctx, id)
	if err != nil {
		return nil, err
	}
	out, err := entryJSON(e)
	return oapi.ShowEntry200JSONResponse(out), err
}

// ListEntryHistory implements GET /v1/entries/{id}/history.
func (s *server) ListEntryHistory(ctx context.Context, r oapi.ListEntryHistoryRequestObject) (oapi.ListEntryHistoryResponseObject, error) {
	id, err := exchangeOf(ctx).entry(r.ID)
	if err != nil {
		return nil, err
	}
	ls, err := s.Entries.ListEntryHistory(ctx, id)
	if err != nil {
		return nil, err
	}
	lines, err := historyJSON(ls)
	return oapi.ListEntryHistory200JSONResponse{History: lines}, err
}
