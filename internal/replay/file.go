package replay

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
	"airtable-replay/internal/store"
)

// futureTolerance is how far a filer's clock may be ahead of ours.
const futureTolerance = time.Minute

// FileEntry files a dead letter. created is false when the same was filed before: same source,
// payload and first attempt (E4).
func (s *Service) FileEntry(ctx context.Context, f Filing) (e deadletter.Entry, created bool, err error) {
	if err := checkSize("raw_payload", f.RawPayload); err != nil {
		return deadletter.Entry{}, false, err
	}
	in := store.Filing{
		FilingKey: filingKey(f), DLQRecordID: f.DLQRecordID, SourceSystem: f.SourceSystem, TargetTable: f.TargetTable, TargetID: f.TargetID,
		Operation: f.Operation, RawPayload: f.RawPayload, ReasonCode: f.ReasonCode, ErrorDetail: f.ErrorDetail, StatusCode: f.StatusCode,
		Attempts: f.Attempts, SourceVersion: f.SourceVersion, FirstAttemptAt: f.FirstAttemptAt, AssignedOwner: f.AssignedOwner, Actor: f.Actor,
	}
	if in.Operation == "" {
		in.Operation = deadletter.Update
	}
	now, err := s.Store.Now(ctx)
	if err != nil {
		return deadletter.Entry{}, false, err
	}
	if f.FirstAttemptAt.After(now.Add(futureTolerance)) {
		return deadletter.Entry{}, false, contradiction("first_attempt_at", "lies in the future; changes by hand until then would count as older than the failure")
	}
	if src, ok := s.Book.Source(f.SourceSystem); ok {
		if err := identify(&in, src); err != nil {
			return deadletter.Entry{}, false, err
		}
	}
	return s.Store.FileEntry(ctx, in)
}

// identify fills in what the payload tells, and refuses a filing that contradicts it or the
// configuration.
func identify(in *store.Filing, src *pipeline.Source) error {
	id := src.Identify(in.RawPayload)
	if in.TargetTable != "" && in.TargetTable != src.Target.Name {
		return contradiction("target_table", fmt.Sprintf("source %s feeds %s; leave target_table out or send that", src.Name, src.Target.Name))
	}
	if in.TargetID != "" && id.TargetID != "" && in.TargetID != id.TargetID {
		return contradiction("target_id", fmt.Sprintf("the payload says %q; leave target_id out or send that", id.TargetID))
	}
	in.Base, in.TargetTable = src.Target.Base, src.Target.Name
	if in.TargetID == "" {
		in.TargetID = id.TargetID
	}
	in.Version = id.Version
	if in.SourceVersion == "" {
		in.SourceVersion = id.VersionRaw
		return nil
	}
	if !in.Version.IsZero() || src.Versionless {
		return nil
	}
	v, err := deadletter.ParseVersion(src.Spec, in.SourceVersion, nil)
	if err != nil {
		return contradiction("source_version", err.Error())
	}
	in.Version = v
	return nil
}

func contradiction(field, detail string) error {
	err := deadletter.Errorf(deadletter.CodeInvalid, "", "the filing contradicts its payload or the configuration")
	err.Fields = []deadletter.FieldError{{Field: field, Rule: "matches", Detail: detail}}
	return err
}

// filingKey tells filings apart: source, payload and first attempt, each with its length (E4).
func filingKey(f Filing) [32]byte {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(f.SourceSystem), f.RawPayload, []byte(f.FirstAttemptAt.UTC().Format("2006-01-02T15:04:05.999999Z"))} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	var key [32]byte
	h.Sum(key[:0])
	return key
}

// ListEntries lists entries, the newest first attempt first.
func (s *Service) ListEntries(ctx context.Context, f Filter, p Page) (es []deadletter.Entry, next string, err error) {
	return s.Store.ListEntries(ctx, f.store(), store.Page(p))
}

// SummarizeEntries counts the entries of a filter.
func (s *Service) SummarizeEntries(ctx context.Context, f Filter) (Summary, error) {
	sum, err := s.Store.SummarizeEntries(ctx, f.store())
	return Summary(sum), err
}

// ShowEntry finds an entry by its ID or the record ID of its row.
func (s *Service) ShowEntry(ctx context.Context, id string) (deadletter.Entry, error) {
	return s.Store.ShowEntry(ctx, id)
}

// ListEntryHistory lists an entry's history, the oldest line first.
func (s *Service) ListEntryHistory(ctx context.Context, id string) ([]deadletter.HistoryLine, error) {
	e, err := s.Store.ShowEntry(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.Store.ListEntryHistory(ctx, e.ID)
}

func (f Filter) store() store.Filter {
	return store.Filter{
		Status: f.Status, Outcome: f.Outcome, Reason: f.Reason, Source: f.Source, Target: f.Target, TargetID: f.TargetID, Run: f.Run,
		Owner: f.Owner, FirstAttemptFrom: f.FirstAttemptFrom, FirstAttemptTo: f.FirstAttemptTo, Q: f.Q,
	}
}
