package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi/internal/oapi"
	"airtable-replay/internal/replay"

	"github.com/go-chi/chi/v5"
)

// PressReplay implements POST /v1/entries/{id}/replay.
func (s *server) PressReplay(ctx context.Context, r oapi.PressReplayRequestObject) (oapi.PressReplayResponseObject, error) {
	x := exchangeOf(ctx)
	id, err := x.entry(r.ID)
	if err != nil {
		return nil, err
	}
	press, err := x.press(id, val(r.Body))
	if err != nil {
		return nil, err
	}
	runID, e, err := s.Presses.PressReplay(ctx, press)
	if err != nil {
		return nil, err
	}
	x.entryID, x.runID = e.ID, runID
	entry, err := entryJSON(e)
	return oapi.PressReplay202JSONResponse{
		Body:    oapi.Pressed{RunID: runID, Entry: entry},
		Headers: oapi.PressReplay202ResponseHeaders{Location: "/v1/runs/" + runID},
	}, err
}

// takeIn makes an entry of the row that is pressed, where only the dead letter table has it.
func (s *server) takeIn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if exchangeOf(r.Context()).op.name == "PressReplay" {
			if err := s.Presses.TakeInEntry(r.Context(), chi.URLParam(r, "id")); err != nil {
				refuse(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (x *exchange) press(id string, b oapi.Press) (replay.Press, error) {
	var f faults
	p := replay.Press{
		EntryID: id, RequestedBy: f.who(b.RequestedBy, x.token.Name), Mode: oneOf(&f, "mode", b.Mode, modes, deadletter.Checked),
		Fields: b.Fields, Reason: f.text("reason", b.Reason, maxReason), WithSiblings: val(b.WithSiblings), Admin: x.allows(ScopeAdmin),
	}
	if p.Mode == deadletter.Overwrite {
		if err := x.require(ScopeAdmin); err != nil {
			return p, err
		}
		f.required("reason", b.Reason, maxReason)
	}
	if p.ExpectRevision = b.ExpectRevision; b.ExpectRevision != nil && *b.ExpectRevision < 0 {
		f.add("expect_revision", "minimum", "must be 0 or more; it is the payload_revision that was shown")
	}
	f.chosen(p.Mode, p.Fields)
	if choosing(p.Mode) {
		f.expected("expect", val(b.Expect), p.Fields)
	} else if len(val(b.Expect)) > 0 {
		f.add("expect", "mode", "goes only with mode chosen_fields or overwrite; leave it out")
	}
	var err error
	if p.Expect, err = values(val(b.Expect)); err != nil {
		return p, err
	}
	return p, f.inBody()
}

// who is the person that asks: as the request says, by default the token.
func (f *faults) who(requestedBy *string, token string) string {
	if name := f.text("requested_by", requestedBy, maxName); strings.TrimSpace(name) != "" {
		return name
	}
	return token
}

// choosing tells the modes in which a reviewer decides on values that were shown (R11).
func choosing(m deadletter.Mode) bool {
	return m == deadletter.ChosenFields || m == deadletter.Overwrite
}

// chosen checks that fields are named where the mode is about them, and nowhere else.
func (f *faults) chosen(m deadletter.Mode, fields []string) {
	switch {
	case m == deadletter.ChosenFields && len(fields) == 0:
		f.add("fields", "required", "is required for mode chosen_fields: the fields to write")
	case m != deadletter.ChosenFields && len(fields) > 0:
		f.add("fields", "mode", "goes only with mode chosen_fields; leave it out")
	}
	for i, field := range fields {
		f.required(fmt.Sprintf("fields[%d]", i), &field, maxName)
	}
}

// expected checks that the values which the reviewer saw are there: some, and one for each chosen field.
func (f *faults) expected(name string, expect oapi.FieldValues, fields []string) {
	if len(expect) == 0 {
		f.add(name, "required", "is required for modes chosen_fields and overwrite: the current value of each field to write, as it was shown")
		return
	}
	for _, field := range fields {
		if _, ok := expect[field]; !ok {
			f.add(join(name, field), "required", "is required: the current value of the field, as it was shown; null for an empty cell")
		}
	}
}

// PreviewReplay implements GET /v1/entries/{id}/preview.
func (s *server) PreviewReplay(ctx context.Context, r oapi.PreviewReplayRequestObject) (oapi.PreviewReplayResponseObject, error) {
	id, err := exchangeOf(ctx).entry(r.ID)
	if err != nil {
		return nil, err
	}
	var f faults
	mode := oneOf(&f, "mode", r.Params.Mode, modes, deadletter.Checked)
	f.chosen(mode, r.Params.Fields)
	if err := f.inQuery(); err != nil {
		return nil, err
	}
	p, err := s.Presses.PreviewReplay(ctx, replay.PreviewRequest{EntryID: id, Mode: mode, Fields: r.Params.Fields})
	if err != nil {
		return nil, err
	}
	out, err := previewJSON(p)
	return oapi.PreviewReplay200JSONResponse(out), err
}

func previewJSON(p replay.Preview) (oapi.Preview, error) {
	skipped, err := skipsJSON(p.Verdict.Skipped)
	if err != nil {
		return oapi.Preview{}, err
	}
	checks, err := checksJSON(p.Verdict.Checks)
	if err != nil {
		return oapi.Preview{}, err
	}
	return oapi.Preview{
		Outcome: oapi.Outcome(p.Verdict.Outcome), Reason: reasonOrNull(p.Verdict.Reason), Note: p.Verdict.Note,
		Action: oapi.PreviewAction(p.Action), RecordID: orNull(p.RecordID), Version: orNull(p.Version.String()),
		Fields: checks, Skipped: skipped,
	}, nil
}
