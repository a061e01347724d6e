package replay

import (
	"context"
	"fmt"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// PayloadEdit is a reviewer's new payload for an entry (mission O1).
type PayloadEdit struct {
	EntryID    string // ours, or the Airtable record ID of its row
	Raw        []byte // at most deadletter.MaxPayload
	By, Reason string
	// ExpectRevision refuses the edit where there is a newer revision than the editor saw; nil: it is
	// edited whatever there is.
	ExpectRevision *int
}

// EditPayload gives an entry at Pending Review another payload; the original and every edit are kept
// (mission O1). The entry's key and version are read from it, and its own failures count anew, so that
// a mended entry can be replayed whatever it failed by before (mission O3). The bytes that it has
// already change nothing. An entry at another status, or a payload that somebody else has edited
// meanwhile, is CodeConflict.
func (s *Service) EditPayload(ctx context.Context, p PayloadEdit) (deadletter.Entry, error) {
	if err := checkSize("raw_payload", p.Raw); err != nil {
		return deadletter.Entry{}, err
	}
	e, err := s.Store.ShowEntry(ctx, p.EntryID)
	if err != nil {
		return deadletter.Entry{}, err
	}
	edit := store.PayloadEdit{EntryID: e.ID, Raw: p.Raw, By: p.By, Reason: p.Reason, ExpectRevision: p.ExpectRevision}
	if src, ok := s.Book.Source(e.SourceSystem); ok {
		id := identity(src, p.Raw, e)
		edit.Identified, edit.TargetID, edit.SourceVersion, edit.Version = true, id.TargetID, id.VersionRaw, id.Version
	}
	if err := s.Store.EditPayload(ctx, edit); err != nil {
		return deadletter.Entry{}, err
	}
	return s.Store.ShowEntry(ctx, e.ID)
}

// ListPayloads lists the payload that an entry was filed with and every edit, the oldest first.
func (s *Service) ListPayloads(ctx context.Context, id string) ([]deadletter.Payload, error) {
	e, err := s.Store.ShowEntry(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.Store.ListPayloads(ctx, e.ID)
}

// checkSize refuses a payload that is too large to be kept.
func checkSize(field string, raw []byte) error {
	if len(raw) <= deadletter.MaxPayload {
		return nil
	}
	err := deadletter.Errorf(deadletter.CodeInvalid, "", "the payload is too large")
	err.Fields = []deadletter.FieldError{{
		Field: field, Rule: "max_bytes", Detail: fmt.Sprintf("has %d bytes; at most %d (1 MiB) are kept", len(raw), deadletter.MaxPayload),
	}}
	return err
}
