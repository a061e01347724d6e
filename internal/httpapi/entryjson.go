package httpapi

import (
	"encoding/json"
	"fmt"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi/internal/oapi"
)

// entryJSON is an entry as the API shows it: null stands for an ID, time, code or reason that there is none of.
func entryJSON(e deadletter.Entry) (oapi.Entry, error) {
	out := oapi.Entry{
		ID: e.ID, DLQRecordID: orNull(e.DLQRecordID), SourceSystem: e.SourceSystem, TargetTable: e.TargetTable,
		TargetID: orNull(e.TargetID), Operation: oapi.Operation(e.Operation), PayloadRevision: e.PayloadRevision,
		ReasonCode: oapi.Reason(e.ReasonCode), ErrorDetail: e.ErrorDetail, StatusCode: orNull(e.StatusCode),
		Attempts: e.Attempts, SourceVersion: e.SourceVersion, SourceUpdatedAt: instantOrNull(e.SourceUpdatedAt),
		FirstAttemptAt: e.FirstAttemptAt.UTC(), Status: oapi.Status(e.Status), AssignedOwner: e.AssignedOwner,
		CreatedAt: e.CreatedAt.UTC(), UpdatedAt: e.UpdatedAt.UTC(), Flags: []oapi.Flag{},
	}
	for _, flag := range e.Flags {
		out.Flags = append(out.Flags, oapi.Flag(flag))
	}
	out.RawPayload, out.RawPayloadBase64 = payloadJSON(e.RawPayload)
	if e.Replay == nil {
		return out, nil
	}
	account, err := replayJSON(*e.Replay)
	if err != nil {
		return out, fmt.Errorf("encode entry %s: %w", e.ID, err)
	}
	out.Replay = &account
	return out, nil
}

func entriesJSON(es []deadletter.Entry) ([]oapi.Entry, error) {
	out := make([]oapi.Entry, len(es))
	for i, e := range es {
		var err error
		if out[i], err = entryJSON(e); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func replayJSON(r deadletter.Replay) (oapi.Replay, error) {
	replayed, err := valuesJSON(r.FieldsReplayed)
	if err != nil {
		return oapi.Replay{}, err
	}
	before, err := valuesJSON(r.ValuesBefore)
	if err != nil {
		return oapi.Replay{}, err
	}
	skipped, err := skipsJSON(r.FieldsSkipped)
	if err != nil {
		return oapi.Replay{}, err
	}
	return oapi.Replay{
		RunID: orNull(r.RunID), Mode: oapi.Mode(r.Mode), Outcome: orNull(oapi.Outcome(r.Outcome)), Reason: reasonOrNull(r.Reason),
		RequestedBy: r.RequestedBy, RequestedAt: instantOrNull(r.RequestedAt), ReplayedBy: r.ReplayedBy,
		ReplayedAt: instantOrNull(r.ReplayedAt), FieldsReplayed: replayed, FieldsSkipped: skipped, ValuesBefore: before,
		RecordID: orNull(r.RecordID), StatusCode: orNull(r.StatusCode), ErrorDetail: r.ErrorDetail,
		Notes: r.Notes, Attempts: r.Attempts,
	}, nil
}

func skipsJSON(ss []deadletter.Skip) ([]oapi.Skip, error) {
	out := make([]oapi.Skip, len(ss))
	for i, s := range ss {
		current, err := valueJSON(s.Current)
		if err != nil {
			return nil, err
		}
		incoming, err := valueJSON(s.Incoming)
		if err != nil {
			return nil, err
		}
		out[i] = oapi.Skip{
			Field: s.Field, Reason: oapi.Reason(s.Reason), ChangedAt: instantOrNull(s.ChangedAt), Current: current, Incoming: incoming,
		}
	}
	return out, nil
}

func historyJSON(ls []deadletter.HistoryLine) ([]oapi.HistoryLine, error) {
	out := make([]oapi.HistoryLine, len(ls))
	for i, l := range ls {
		detail, err := valuesJSON(l.Detail)
		if err != nil {
			return nil, err
		}
		out[i] = oapi.HistoryLine{
			At: l.At.UTC(), Event: l.Event, FromStatus: orNull(oapi.Status(l.FromStatus)), ToStatus: orNull(oapi.Status(l.ToStatus)),
			Actor: l.Actor, RunID: orNull(l.RunID), Claim: l.Claim, Outcome: orNull(oapi.Outcome(l.Outcome)),
			Reason: reasonOrNull(l.Reason), Note: l.Note, Detail: detail,
		}
	}
	return out, nil
}

// valuesJSON encodes field values; a nil map is an empty object.
func valuesJSON(m map[string]any) (oapi.FieldValues, error) {
	out := make(oapi.FieldValues, len(m))
	for field, value := range m {
		raw, err := valueJSON(value)
		if err != nil {
			return nil, fmt.Errorf("encode value of %s: %w", field, err)
		}
		out[field] = raw
	}
	return out, nil
}

// valueJSON encodes one value; a json.Number keeps its digits.
func valueJSON(v any) (json.RawMessage, error) { return json.Marshal(v) }

// orNull is nil for the zero value.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func reasonOrNull(r deadletter.Reason) *oapi.NullableReason { return orNull(oapi.NullableReason(r)) }

func instantOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC())
}
