package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"airtable-replay/internal/httpapi/internal/oapi"
	"airtable-replay/internal/replay"
)

// evidenceFormats are the formats of a bundle, with their media types.
var evidenceFormats = map[string]string{replay.EvidenceJSON: "application/json", replay.EvidenceCSV: "text/csv; charset=utf-8"}

// ShowEvidence implements GET /v1/runs/{id}/evidence.
func (s *server) ShowEvidence(ctx context.Context, r oapi.ShowEvidenceRequestObject) (oapi.ShowEvidenceResponseObject, error) {
	format := replay.EvidenceJSON
	if r.Params.Format != nil {
		format = string(*r.Params.Format)
	}
	if evidenceFormats[format] == "" {
		var f faults
		f.add("format", "oneof", "must be json or csv")
		return nil, f.inQuery()
	}
	id, ok := ourID(r.ID)
	if !ok {
		return nil, noSuch("run", r.ID)
	}
	exchangeOf(ctx).runID = id
	if _, err := s.Runs.ShowRun(ctx, id); err != nil {
		return nil, err
	}
	return evidenceFile{
		name: fmt.Sprintf("run-%s.%s", id, format), media: evidenceFormats[format],
		write: func(w io.Writer) error { return s.Runs.WriteEvidence(ctx, w, id, format) },
		note:  func(err error) { exchangeOf(ctx).err = err },
	}, nil
}

// evidenceFile streams a bundle. Once its head is out, an error can only cut the answer off.
type evidenceFile struct {
	name, media string
	write       func(w io.Writer) error
	note        func(err error)
}

// VisitShowEvidenceResponse implements oapi.ShowEvidenceResponseObject.
func (e evidenceFile) VisitShowEvidenceResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", e.media)
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", e.name))
	w.WriteHeader(http.StatusOK)
	if err := e.write(w); err != nil {
		e.note(err)
		panic(http.ErrAbortHandler)
	}
	return nil
}
