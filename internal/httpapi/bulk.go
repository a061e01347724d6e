package httpapi

import (
	"context"
	"fmt"

	"airtable-replay/internal/httpapi/internal/oapi"
	"airtable-replay/internal/replay"
)

// IgnoreEntries implements POST /v1/entries/ignore.
func (s *server) IgnoreEntries(ctx context.Context, r oapi.IgnoreEntriesRequestObject) (oapi.IgnoreEntriesResponseObject, error) {
	a, err := orderMany(ctx, *r.Body, false, s.Reviews.IgnoreEntries)
	return oapi.IgnoreEntries200JSONResponse{BulkJSONResponse: a}, err
}

// ReopenEntries implements POST /v1/entries/reopen. It needs a reason (mission E2).
func (s *server) ReopenEntries(ctx context.Context, r oapi.ReopenEntriesRequestObject) (oapi.ReopenEntriesResponseObject, error) {
	a, err := orderMany(ctx, *r.Body, true, s.Reviews.ReopenEntries)
	return oapi.ReopenEntries200JSONResponse{BulkJSONResponse: a}, err
}

// orderMany carries out a person's word on many entries.
func orderMany(ctx context.Context, b oapi.BulkOrder, reasonNeeded bool, do func(context.Context, replay.BulkOrder) (replay.BulkResult, error)) (oapi.BulkJSONResponse, error) {
	var f faults
	o := replay.BulkOrder{IDs: f.bulkIDs(b.Ids), Actor: exchangeOf(ctx).token.Name}
	if reasonNeeded {
		o.Reason = f.required("reason", b.Reason, maxReason)
	} else {
		o.Reason = f.text("reason", b.Reason, maxReason)
	}
	if err := f.inBody(); err != nil {
		return oapi.BulkJSONResponse{}, err
	}
	result, err := do(ctx, o)
	return bulkJSON(result), err
}

// AssignEntries implements POST /v1/entries/owner.
func (s *server) AssignEntries(ctx context.Context, r oapi.AssignEntriesRequestObject) (oapi.AssignEntriesResponseObject, error) {
	var f faults
	ids, owner := f.bulkIDs(r.Body.Ids), f.owner(r.Body.AssignedOwner)
	if err := f.inBody(); err != nil {
		return nil, err
	}
	result, err := s.Reviews.AssignEntries(ctx, ids, owner, exchangeOf(ctx).token.Name)
	return oapi.AssignEntries200JSONResponse{BulkJSONResponse: bulkJSON(result)}, err
}

// AssignOwner implements POST /v1/entries/{id}/owner.
func (s *server) AssignOwner(ctx context.Context, r oapi.AssignOwnerRequestObject) (oapi.AssignOwnerResponseObject, error) {
	x := exchangeOf(ctx)
	id, err := x.entry(r.ID)
	if err != nil {
		return nil, err
	}
	var f faults
	owner := f.owner(r.Body.AssignedOwner)
	if err := f.inBody(); err != nil {
		return nil, err
	}
	e, err := s.Reviews.AssignOwner(ctx, id, owner, x.token.Name)
	if err != nil {
		return nil, err
	}
	out, err := entryJSON(e)
	return oapi.AssignOwner200JSONResponse{EntryJSONResponse: oapi.EntryJSONResponse(out)}, err
}

// owner checks the name of an owner. Empty means nobody, so it has to be said.
func (f *faults) owner(name *string) string {
	if name == nil {
		f.add("assigned_owner", "required", `is required; send "" to leave the entry without an owner`)
	}
	return f.text("assigned_owner", name, maxName)
}

func (f *faults) bulkIDs(ids []string) []string {
	if n := len(ids); n == 0 || n > replay.MaxBulk {
		f.add("ids", "size", fmt.Sprintf("must hold 1 to %d IDs, not %d", replay.MaxBulk, n))
		return nil
	}
	return f.entryIDs("ids", ids)
}

func bulkJSON(r replay.BulkResult) oapi.BulkJSONResponse {
	out := oapi.BulkJSONResponse{Changed: append([]string{}, r.Changed...), Refused: make([]oapi.BulkRefusal, len(r.Refused))}
	for i, refusal := range r.Refused {
		out.Refused[i] = oapi.BulkRefusal{ID: refusal.ID, Problem: "/problems/" + refusal.Problem, Detail: refusal.Detail}
	}
	return out
}
