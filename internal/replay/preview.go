package replay

import (
	"context"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"

	"errors"
)

// PreviewReplay tells what a press would do, field by field, and writes nothing (O2).
func (s *Service) PreviewReplay(ctx context.Context, r PreviewRequest) (Preview, error) {
	e, err := s.Store.ShowEntry(ctx, r.EntryID)
	if err != nil {
		return Preview{}, err
	}
	base, err := s.openBase(ctx, e)
	if err != nil {
		return Preview{}, err
	}
	it, err := s.Store.ItemOf(ctx, e)
	if err != nil {
		return Preview{}, err
	}
	m := &it.Members[0]
	if r.Mode != "" {
		m.Mode = r.Mode
	}
	m.Chosen = r.Fields
	p, err := s.Previewer.PreviewReplay(ctx, base, it)
	if err != nil {
		return Preview{}, upstream(err)
	}
	if p.Waits {
		return Preview{}, stillLanding()
	}
	return Preview{Verdict: p.Plan.Verdicts[0], RecordID: p.RecordID, Action: p.Plan.Action, Version: p.Plan.Version}, nil
}

// openBase is the base of an entry by today's configuration; a paused or halted one takes no preview.
func (s *Service) openBase(ctx context.Context, e deadletter.Entry) (string, error) {
	src, ok := s.Book.Source(e.SourceSystem)
	if !ok {
		return "", nil
	}
	return s.openNamed(ctx, src.Target.Base)
}

func (s *Service) openNamed(ctx context.Context, name string) (string, error) {
	b, err := s.Store.FindBase(ctx, name)
	switch {
	case err != nil:
		return "", err
	case b.Halted:
		return "", deadletter.Errorf(deadletter.CodeConflict, "base-halted", "base %s is halted: %s", b.Name, b.Reason)
	case !b.PausedUntil.IsZero():
		return "", &deadletter.Error{
			Code: deadletter.CodeUnavailable, Problem: "base-paused", Message: "base " + b.Name + " is paused: " + b.Reason,
			RetryAfter: max(time.Second, time.Until(b.PausedUntil)),
		}
	}
	return b.Name, nil
}

// upstream words a failed request to Airtable for the caller of a preview.
func upstream(err error) error {
	e, ok := errors.AsType[*airtable.Error](err)
	if !ok {
		return err
	}
	return &deadletter.Error{Code: deadletter.CodeUpstream, Message: "Airtable could not be asked: " + e.Reason(), RetryAfter: e.RetryAfterCapped(), Err: err}
}
