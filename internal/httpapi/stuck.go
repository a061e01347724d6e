package httpapi

import (
	"context"

	"airtable-replay/internal/httpapi/internal/oapi"
)

// ListStuck implements GET /v1/stuck.
func (s *server) ListStuck(ctx context.Context, _ oapi.ListStuckRequestObject) (oapi.ListStuckResponseObject, error) {
	es, err := s.Stuck.ListStuck(ctx)
	if err != nil {
		return nil, err
	}
	list, err := entriesJSON(es)
	return oapi.ListStuck200JSONResponse{Entries: list}, err
}

// ResetStuck implements POST /v1/stuck/reset. Without IDs it resets all.
func (s *server) ResetStuck(ctx context.Context, r oapi.ResetStuckRequestObject) (oapi.ResetStuckResponseObject, error) {
	var f faults
	ids := f.entryIDs("ids", val(r.Body).Ids)
	if err := f.inBody(); err != nil {
		return nil, err
	}
	n, err := s.Stuck.ResetStuck(ctx, ids, exchangeOf(ctx).token.Name)
	return oapi.ResetStuck200JSONResponse{Reset: n}, err
}
