package live

import (
	"context"
	"slices"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
	"airtable-replay/internal/store"
)

// schemas gives the schema of a base by which payloads are validated.
type schemas interface {
	SchemaOf(ctx context.Context, base string) (*pipeline.Schema, error)
}

// Config is what the service is made of.
type Config struct {
	Store   *store.Store
	Book    *pipeline.Book
	Schemas schemas
	// Wake asks for a pass over a base, inside the transaction that ctx carries.
	Wake func(ctx context.Context, base string) error
}

// Service accepts live writes. It is safe for concurrent use.
type Service struct{ Config }

// New makes a Service.
func New(c Config) *Service { return &Service{Config: c} }

// AcceptWrites stores writes and wakes their bases in one transaction; once it returns they are
// durable (L1). A bad payload is accepted: it ends as an entry that says why.
func (s *Service) AcceptWrites(ctx context.Context, in []Incoming) ([]Accepted, error) {
	writes := make([]store.Incoming, len(in))
	var bases []string
	for i, w := range in {
		writes[i] = s.identify(w)
		bases = append(bases, writes[i].Base)
	}
	slices.Sort(bases)
	var out []Accepted
	err := s.Store.InTx(ctx, func(ctx context.Context) error {
		ids, err := s.Store.AcceptWrites(ctx, writes)
		if err != nil {
			return err
		}
		out = make([]Accepted, len(ids))
		for i, id := range ids {
			out[i] = Accepted{ID: id, Status: "queued"}
		}
		for _, base := range slices.Compact(bases) {
			if err := s.Wake(ctx, base); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// identify reads what is needed to put a write in its place; a source that is not configured goes to
// the base of none, whose pass dead-letters it.
func (s *Service) identify(w Incoming) store.Incoming {
	out := store.Incoming{SourceSystem: w.SourceSystem, Operation: w.Operation, RawPayload: w.Payload}
	if out.Operation == "" {
		out.Operation = deadletter.Upsert
	}
	src, ok := s.Book.Source(w.SourceSystem)
	if !ok {
		return out
	}
	id := src.Identify(w.Payload)
	out.Base, out.TargetTable, out.Rank = src.Target.Base, src.Target.Name, src.Target.Rank
	out.TargetID, out.SourceVersion, out.Version = id.TargetID, id.VersionRaw, id.Version
	return out
}

// ShowWrite tells what became of a write.
func (s *Service) ShowWrite(ctx context.Context, id string) (Write, error) {
	w, err := s.Store.ShowWrite(ctx, id)
	return Write{
		ID: w.ID, SourceSystem: w.SourceSystem, TargetTable: w.TargetTable, TargetID: w.TargetID, Status: w.Status, EntryID: w.EntryID,
		RecordID: w.RecordID, Note: w.Note, Reason: w.Reason, AcceptedAt: w.AcceptedAt, SettledAt: w.SettledAt,
	}, err
}

// ValidatePayload holds a payload against the same rules as a live write or a replay (L3).
func (s *Service) ValidatePayload(ctx context.Context, in Incoming) (Check, error) {
	src, ok := s.Book.Source(in.SourceSystem)
	if !ok {
		unknown := deadletter.FieldError{Field: "source_system", Rule: "known", Detail: "name a source of the configuration"}
		return Check{Errors: []deadletter.FieldError{unknown}}, nil
	}
	schema, err := s.Schemas.SchemaOf(ctx, src.Target.Base)
	if err != nil {
		return Check{}, &deadletter.Error{Code: deadletter.CodeUpstream, Message: "the table's schema could not be read", Err: err}
	}
	op := in.Operation
	if op == "" {
		op = deadletter.Upsert
	}
	w, invalid := src.Validate(in.Payload, op, schema)
	c := Check{Valid: invalid == nil, Target: src.Target.Name, Key: w.Key, Version: w.Version, Fields: w.Fields}
	if invalid != nil {
		for _, e := range invalid.Errors {
			c.Errors = append(c.Errors, deadletter.FieldError(e))
		}
	}
	return c, nil
}
