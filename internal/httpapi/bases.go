package httpapi

import (
	"context"

	"airtable-replay/internal/httpapi/internal/oapi"
	"airtable-replay/internal/replay"
)

// ListBases implements GET /v1/bases.
func (s *server) ListBases(ctx context.Context, _ oapi.ListBasesRequestObject) (oapi.ListBasesResponseObject, error) {
	bs, err := s.Bases.ListBases(ctx)
	return oapi.ListBases200JSONResponse{BasesJSONResponse: basesJSON(bs...)}, err
}

// HaltBase implements POST /v1/bases/{name}/halt.
func (s *server) HaltBase(ctx context.Context, r oapi.HaltBaseRequestObject) (oapi.HaltBaseResponseObject, error) {
	name, err := baseName(r.Name)
	if err != nil {
		return nil, err
	}
	var f faults
	reason := f.text("reason", val(r.Body).Reason, maxReason)
	if err := f.inBody(); err != nil {
		return nil, err
	}
	b, err := s.Bases.HaltBase(ctx, name, reason, exchangeOf(ctx).token.Name)
	return oapi.HaltBase200JSONResponse{BasesJSONResponse: basesJSON(b)}, err
}

// ResumeBase implements POST /v1/bases/{name}/resume.
func (s *server) ResumeBase(ctx context.Context, r oapi.ResumeBaseRequestObject) (oapi.ResumeBaseResponseObject, error) {
	name, err := baseName(r.Name)
	if err != nil {
		return nil, err
	}
	b, err := s.Bases.ResumeBase(ctx, name, exchangeOf(ctx).token.Name)
	return oapi.ResumeBase200JSONResponse{BasesJSONResponse: basesJSON(b)}, err
}

// baseName checks the name in a path, which the database must be able to hold.
func baseName(name string) (string, error) {
	var f faults
	if f.required("name", &name, maxName); len(f.list) > 0 {
		return "", noSuch("base", name)
	}
	return name, nil
}

func basesJSON(bs ...replay.BaseState) oapi.BasesJSONResponse {
	out := oapi.BasesJSONResponse{Bases: make([]oapi.Base, len(bs))}
	for i, b := range bs {
		out.Bases[i] = oapi.Base{
			Name: b.Name, State: oapi.BaseState(b.State), Reason: b.Reason, PausedUntil: instantOrNull(b.PausedUntil),
			HaltedAt: instantOrNull(b.HaltedAt), HaltedBy: b.HaltedBy, Waiting: b.Waiting, WaitingEntries: b.WaitingEntries,
			WaitingWrites: b.WaitingWrites, WaitingMirror: b.WaitingMirror, LeaseHolder: b.LeaseHolder,
			LeaseUntil: instantOrNull(b.LeaseUntil), MirrorHeldUntil: instantOrNull(b.MirrorHeldUntil), MirrorProblem: b.MirrorProblem,
		}
	}
	return out
}
