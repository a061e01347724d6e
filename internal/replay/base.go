package replay

import (
	"context"

	"airtable-replay/internal/store"
)

// ListBases lists the bases with their state and what waits for them.
func (s *Service) ListBases(ctx context.Context) ([]BaseState, error) {
	bs, err := s.Store.ListBases(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]BaseState, 0, len(bs))
	for _, b := range bs {
		out = append(out, stateOf(b))
	}
	return out, nil
}

func stateOf(b store.BaseState) BaseState {
	out := BaseState{
		Name: b.Name, State: "running", Reason: b.Reason, PausedUntil: b.PausedUntil, HaltedAt: b.HaltedAt, HaltedBy: b.HaltedBy,
		Waiting: b.WaitingEntries + b.WaitingWrites + b.WaitingMirror, WaitingEntries: b.WaitingEntries, WaitingWrites: b.WaitingWrites,
		WaitingMirror: b.WaitingMirror, LeaseHolder: b.LeaseHolder, LeaseUntil: b.LeaseUntil,
		MirrorHeldUntil: b.MirrorHeldUntil, MirrorProblem: b.MirrorProblem,
	}
	switch {
	case b.Halted:
		out.State = "halted"
	case !b.PausedUntil.IsZero():
		out.State = "paused"
	}
	return out
}

// HaltBase stops a base on an admin's word (W7).
func (s *Service) HaltBase(ctx context.Context, name, reason, actor string) (BaseState, error) {
	if _, err := s.Store.FindBase(ctx, name); err != nil {
		return BaseState{}, err
	}
	if _, err := s.Store.HaltBase(ctx, name, reason, actor); err != nil {
		return BaseState{}, err
	}
	return s.findBase(ctx, name)
}

// ResumeBase lets a halted base go on.
func (s *Service) ResumeBase(ctx context.Context, name, actor string) (BaseState, error) {
	if _, err := s.Store.FindBase(ctx, name); err != nil {
		return BaseState{}, err
	}
	err := s.Store.InTx(ctx, func(ctx context.Context) error {
		if err := s.Store.ResumeBase(ctx, name); err != nil {
			return err
		}
		return s.Wake(ctx, name)
	})
	if err != nil {
		return BaseState{}, err
	}
	s.Logger.InfoContext(ctx, "base resumed", "base", name, "actor", actor)
	return s.findBase(ctx, name)
}

func (s *Service) findBase(ctx context.Context, name string) (BaseState, error) {
	b, err := s.Store.FindBase(ctx, name)
	return stateOf(b), err
}
