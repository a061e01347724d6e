package httpapi

import (
	"context"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi/internal/oapi"
	"airtable-replay/internal/replay"
)

// FileEntry implements POST /v1/entries.
func (s *server) FileEntry(ctx context.Context, r oapi.FileEntryRequestObject) (oapi.FileEntryResponseObject, error) {
	x := exchangeOf(ctx)
	var f faults
	filing := f.filing(*r.Body)
	filing.Actor = x.token.Name
	if err := f.inBody(); err != nil {
		return nil, err
	}
	e, created, err := s.Filing.FileEntry(ctx, filing)
	if err != nil {
		return nil, err
	}
	x.entryID = e.ID
	out, err := entryJSON(e)
	if !created {
		return oapi.FileEntry200JSONResponse(out), err
	}
	return oapi.FileEntry201JSONResponse{
		Body: out, Headers: oapi.FileEntry201ResponseHeaders{Location: "/v1/entries/" + e.ID},
	}, err
}

func (f *faults) filing(b oapi.Filing) replay.Filing {
	filing := replay.Filing{
		SourceSystem:   f.required("source_system", &b.SourceSystem, maxName),
		TargetTable:    f.text("target_table", b.TargetTable, maxName),
		TargetID:       f.text("target_id", b.TargetID, maxKey),
		Operation:      oneOf(f, "operation", b.Operation, whatToDo, deadletter.Update),
		RawPayload:     f.rawPayload(b.RawPayload, b.RawPayloadBase64),
		ErrorDetail:    f.text("error_detail", b.ErrorDetail, maxDetail),
		StatusCode:     f.statusCode(b.StatusCode),
		Attempts:       int(val(b.Attempts)),
		SourceVersion:  f.text("source_version", b.SourceVersion, maxVersion),
		FirstAttemptAt: f.instant("first_attempt_at", &b.FirstAttemptAt),
		AssignedOwner:  f.text("assigned_owner", b.AssignedOwner, maxName),
		DLQRecordID:    val(b.DLQRecordID),
	}
	if f.required("reason_code", (*string)(&b.ReasonCode), maxName) != "" {
		filing.ReasonCode = oneOf(f, "reason_code", &b.ReasonCode, deadletter.Reasons(), "")
	}
	if b.FirstAttemptAt == "" {
		f.add("first_attempt_at", "required", "is required: the time of the first attempt that failed")
	}
	if filing.Attempts < 0 {
		f.add("attempts", "minimum", "must be 0 or more")
	}
	if filing.DLQRecordID != "" && !airtableID.MatchString(filing.DLQRecordID) {
		f.add("dlq_record_id", "id", "must be an Airtable record ID (rec…)")
	}
	f.instant("source_updated_at", b.SourceUpdatedAt)
	if filing.SourceVersion == "" {
		filing.SourceVersion = val(b.SourceUpdatedAt)
	}
	return filing
}

// statusCode checks the HTTP status of the last attempt; 0 and null say that none was answered.
func (f *faults) statusCode(code *int) int {
	if c := val(code); c != 0 && (c < 100 || c > 599) {
		f.add("status_code", "range", "must be an HTTP status from 100 to 599, or null when there was no answer")
	}
	return val(code)
}
