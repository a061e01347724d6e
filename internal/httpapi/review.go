package httpapi

import (
	"context"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi/internal/oapi"
	"airtable-replay/internal/replay"
)

// ResetEntry implements POST /v1/entries/{id}/reset.
func (s *server) ResetEntry(ctx context.Context, r oapi.ResetEntryRequestObject) (oapi.ResetEntryResponseObject, error) {
	e, err := order(ctx, r.ID, r.Body, s.Reviews.ResetEntry)
	return oapi.ResetEntry200JSONResponse{EntryJSONResponse: oapi.EntryJSONResponse(e)}, err
}

// IgnoreEntry implements POST /v1/entries/{id}/ignore.
func (s *server) IgnoreEntry(ctx context.Context, r oapi.IgnoreEntryRequestObject) (oapi.IgnoreEntryResponseObject, error) {
	e, err := order(ctx, r.ID, r.Body, s.Reviews.IgnoreEntry)
	return oapi.IgnoreEntry200JSONResponse{EntryJSONResponse: oapi.EntryJSONResponse(e)}, err
}

// ReopenEntry implements POST /v1/entries/{id}/reopen. It needs a reason (mission E2).
func (s *server) ReopenEntry(ctx context.Context, r oapi.ReopenEntryRequestObject) (oapi.ReopenEntryResponseObject, error) {
	var f faults
	f.required("reason", val(r.Body).Reason, maxReason)
	if err := f.inBody(); err != nil {
		return nil, err
	}
	e, err := order(ctx, r.ID, r.Body, s.Reviews.ReopenEntry)
	return oapi.ReopenEntry200JSONResponse{EntryJSONResponse: oapi.EntryJSONResponse(e)}, err
}

// order carries out a person's word on one entry.
func order(ctx context.Context, id string, b *oapi.Order, do func(context.Context, replay.Order) (deadletter.Entry, error)) (oapi.Entry, error) {
	x := exchangeOf(ctx)
	id, err := x.entry(id)
	if err != nil {
		return oapi.Entry{}, err
	}
	var f faults
	o := replay.Order{EntryID: id, Actor: x.token.Name, Reason: f.text("reason", val(b).Reason, maxReason)}
	if err := f.inBody(); err != nil {
		return oapi.Entry{}, err
	}
	e, err := do(ctx, o)
	if err != nil {
		return oapi.Entry{}, err
	}
	return entryJSON(e)
}
