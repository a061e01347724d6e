package httpapi

import (
	"context"
	"encoding/json"
	"fmt"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi/internal/oapi"
	"airtable-replay/internal/live"
)

const maxWrites = 1000 // in one request

// AcceptWrites implements POST /v1/writes.
func (s *server) AcceptWrites(ctx context.Context, r oapi.AcceptWritesRequestObject) (oapi.AcceptWritesResponseObject, error) {
	var f faults
	in := f.writes(*r.Body)
	if err := f.inBody(); err != nil {
		return nil, err
	}
	accepted, err := s.Writes.AcceptWrites(ctx, in)
	if err != nil {
		return nil, err
	}
	if len(accepted) == 1 {
		exchangeOf(ctx).writeID = accepted[0].ID
	}
	out := oapi.AcceptWrites202JSONResponse{Writes: make([]oapi.AcceptedWrite, len(accepted))}
	for i, a := range accepted {
		out.Writes[i] = oapi.AcceptedWrite{ID: a.ID, Status: oapi.WriteStatus(a.Status)}
	}
	return out, nil
}

// writes takes one write from the request's own members, or many from its list. A fault of any refuses
// all: what is acknowledged is the whole request.
func (f *faults) writes(b oapi.WriteRequest) []live.Incoming {
	if b.Writes == nil {
		return []live.Incoming{f.incoming("", oapi.Incoming{SourceSystem: val(b.SourceSystem), Payload: b.Payload, Operation: b.Operation})}
	}
	if b.SourceSystem != nil || b.Payload != nil || b.Operation != nil {
		f.add("writes", "excluded", "must be left out beside source_system, payload and operation; send one write or a list")
	}
	if n := len(b.Writes); n == 0 || n > maxWrites {
		f.add("writes", "size", fmt.Sprintf("must hold 1 to %d writes, not %d", maxWrites, n))
		return nil
	}
	in := make([]live.Incoming, len(b.Writes))
	for i, w := range b.Writes {
		in[i] = f.incoming(fmt.Sprintf("writes[%d]", i), w)
	}
	return in
}

func (f *faults) incoming(path string, w oapi.Incoming) live.Incoming {
	return live.Incoming{
		SourceSystem: f.required(join(path, "source_system"), &w.SourceSystem, maxName),
		Payload:      f.payload(join(path, "payload"), w.Payload),
		Operation:    oneOf(f, join(path, "operation"), w.Operation, whatToDo, deadletter.Upsert),
	}
}

// payload gives the payload's bytes: those of a JSON string are the string's text, those of any other
// value stand in the request as they are. What it holds is not judged here.
func (f *faults) payload(field string, raw json.RawMessage) []byte {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		f.add(field, "required", "is required")
		return nil
	case raw[0] != '"':
		return f.payloadSize(field, raw)
	case loneSurrogate(raw):
		f.add(field, "unicode", `holds a \u escape of half a character; send the payload as a JSON value`)
		return nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		f.add(field, "json", "must be JSON")
	}
	return f.payloadSize(field, []byte(text))
}

// ShowWrite implements GET /v1/writes/{id}.
func (s *server) ShowWrite(ctx context.Context, r oapi.ShowWriteRequestObject) (oapi.ShowWriteResponseObject, error) {
	id, ok := ourID(r.ID)
	if !ok {
		return nil, noSuch("write", r.ID)
	}
	exchangeOf(ctx).writeID = id
	w, err := s.Writes.ShowWrite(ctx, id)
	if err != nil {
		return nil, err
	}
	return oapi.ShowWrite200JSONResponse{
		ID: w.ID, SourceSystem: w.SourceSystem, TargetTable: orNull(w.TargetTable), TargetID: orNull(w.TargetID),
		Status: oapi.WriteStatus(w.Status), Reason: reasonOrNull(w.Reason), Note: w.Note, EntryID: orNull(w.EntryID),
		RecordID: orNull(w.RecordID), AcceptedAt: w.AcceptedAt.UTC(), SettledAt: instantOrNull(w.SettledAt),
	}, nil
}

// ValidatePayload implements POST /v1/validate.
func (s *server) ValidatePayload(ctx context.Context, r oapi.ValidatePayloadRequestObject) (oapi.ValidatePayloadResponseObject, error) {
	var f faults
	in := f.incoming("", *r.Body)
	if err := f.inBody(); err != nil {
		return nil, err
	}
	c, err := s.Writes.ValidatePayload(ctx, in)
	if err != nil {
		return nil, err
	}
	out := oapi.ValidatePayload200JSONResponse{Valid: c.Valid, Errors: fieldErrors(c.Errors)}
	if !c.Valid {
		return out, nil
	}
	fields, err := valuesJSON(c.Fields)
	out.Write = &oapi.PlannedWrite{Target: c.Target, Key: c.Key, Version: orNull(c.Version.String()), Fields: fields}
	return out, err
}
