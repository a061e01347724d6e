package httpapi

import (
	"context"
	"encoding/base64"
	"fmt"
	"unicode/utf8"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi/internal/oapi"
	"airtable-replay/internal/replay"
)

// EditPayload implements PUT /v1/entries/{id}/payload (mission O1).
func (s *server) EditPayload(ctx context.Context, r oapi.EditPayloadRequestObject) (oapi.EditPayloadResponseObject, error) {
	x := exchangeOf(ctx)
	id, err := x.entry(r.ID)
	if err != nil {
		return nil, err
	}
	var f faults
	b := *r.Body
	edit := replay.PayloadEdit{
		EntryID: id, Raw: f.rawPayload(b.RawPayload, b.RawPayloadBase64), By: x.token.Name,
		Reason: f.required("reason", &b.Reason, maxReason), ExpectRevision: b.ExpectRevision,
	}
	if val(b.ExpectRevision) < 0 {
		f.add("expect_revision", "minimum", "must be 0 or more: the payload_revision that was shown")
	}
	if err := f.inBody(); err != nil {
		return nil, err
	}
	e, err := s.Payloads.EditPayload(ctx, edit)
	if err != nil {
		return nil, err
	}
	out, err := entryJSON(e)
	return oapi.EditPayload200JSONResponse{EntryJSONResponse: oapi.EntryJSONResponse(out)}, err
}

// ListPayloads implements GET /v1/entries/{id}/payloads.
func (s *server) ListPayloads(ctx context.Context, r oapi.ListPayloadsRequestObject) (oapi.ListPayloadsResponseObject, error) {
	id, err := exchangeOf(ctx).entry(r.ID)
	if err != nil {
		return nil, err
	}
	ps, err := s.Payloads.ListPayloads(ctx, id)
	if err != nil {
		return nil, err
	}
	out := oapi.ListPayloads200JSONResponse{Payloads: make([]oapi.PayloadRevision, len(ps))}
	for i, p := range ps {
		text, encoded := payloadJSON(p.Raw)
		out.Payloads[i] = oapi.PayloadRevision{
			Revision: p.Revision, RawPayload: text, RawPayloadBase64: encoded, EditedBy: p.EditedBy, Reason: p.Reason, CreatedAt: p.CreatedAt.UTC(),
		}
	}
	return out, nil
}

// payloadJSON gives a payload as text, or in base64 where it is not UTF-8. NUL is text; JSON writes it
// as \u0000.
func payloadJSON(raw []byte) (text, encoded *string) {
	if utf8.Valid(raw) {
		return new(string(raw)), nil
	}
	return nil, new(base64.StdEncoding.EncodeToString(raw))
}

// rawPayload takes the payload from the one of the two members that is given.
func (f *faults) rawPayload(text, encoded *string) []byte {
	switch {
	case text != nil && encoded != nil:
		f.add("raw_payload_base64", "excluded", "must be left out beside raw_payload; send one of the two")
	case text != nil:
		return f.payloadSize("raw_payload", []byte(*text))
	case encoded != nil:
		raw, err := base64.StdEncoding.Strict().DecodeString(*encoded)
		if err != nil {
			f.add("raw_payload_base64", "base64", "must be standard base64 with padding")
		}
		return f.payloadSize("raw_payload_base64", raw)
	default:
		f.add("raw_payload", "required", "is required; a payload that is not UTF-8 goes into raw_payload_base64")
	}
	return nil
}

// payloadSize checks that a payload is no larger than what is kept.
func (f *faults) payloadSize(field string, raw []byte) []byte {
	if n := len(raw); n > deadletter.MaxPayload {
		f.add(field, "max_bytes", fmt.Sprintf("has %d bytes; at most %d (1 MiB) are kept", n, deadletter.MaxPayload))
	}
	return raw
}
