package httpapi

import (
	"context"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi/internal/oapi"
	"airtable-replay/internal/replay"
)

// RestoreEntry implements POST /v1/entries/{id}/restore (mission A2).
func (s *server) RestoreEntry(ctx context.Context, r oapi.RestoreEntryRequestObject) (oapi.RestoreEntryResponseObject, error) {
	x := exchangeOf(ctx)
	id, err := x.entry(r.ID)
	if err != nil {
		return nil, err
	}
	var f faults
	b := val(r.Body)
	request := replay.RestoreRequest{EntryID: id, RequestedBy: f.who(b.RequestedBy, x.token.Name), Reason: f.text("reason", b.Reason, maxReason)}
	if err := f.inBody(); err != nil {
		return nil, err
	}
	run, err := s.Restores.RestoreEntry(ctx, request)
	if err != nil {
		return nil, err
	}
	x.runID = run.ID
	return oapi.RestoreEntry202JSONResponse{
		Body: runJSON(run), Headers: oapi.RestoreEntry202ResponseHeaders{Location: "/v1/runs/" + run.ID},
	}, nil
}

// PreviewRestore implements GET /v1/entries/{id}/restore.
func (s *server) PreviewRestore(ctx context.Context, r oapi.PreviewRestoreRequestObject) (oapi.PreviewRestoreResponseObject, error) {
	id, err := exchangeOf(ctx).entry(r.ID)
	if err != nil {
		return nil, err
	}
	p, err := s.Restores.PreviewRestore(ctx, id)
	if err != nil {
		return nil, err
	}
	checks, err := checksJSON(p.Fields)
	return oapi.PreviewRestore200JSONResponse{
		Possible: p.Possible, RecordID: orNull(p.RecordID), Fields: checks, Notes: append([]string{}, p.Notes...),
	}, err
}

func checksJSON(cs []deadletter.FieldCheck) ([]oapi.FieldCheck, error) {
	checks := make([]oapi.FieldCheck, len(cs))
	for i, c := range cs {
		current, err := valueJSON(c.Current)
		if err != nil {
			return nil, err
		}
		incoming, err := valueJSON(c.Incoming)
		if err != nil {
			return nil, err
		}
		checks[i] = oapi.FieldCheck{Field: c.Field, Current: current, Incoming: incoming, Action: oapi.FieldCheckAction(c.Action), Why: c.Why}
	}
	return checks, nil
}
