package replay

import (
	"context"
	"errors"

	"airtable-replay/internal/config"
	"airtable-replay/internal/deadletter"
)

// ResetEntry returns a replaying entry to Pending Review (S2).
func (s *Service) ResetEntry(ctx context.Context, o Order) (deadletter.Entry, error) {
	return s.order(ctx, o, s.Store.ResetEntry)
}

// IgnoreEntry closes an entry that is not to be replayed (O1).
func (s *Service) IgnoreEntry(ctx context.Context, o Order) (deadletter.Entry, error) {
	return s.order(ctx, o, s.Store.IgnoreEntry)
}

// ReopenEntry returns a closed entry to Pending Review (E2).
func (s *Service) ReopenEntry(ctx context.Context, o Order) (deadletter.Entry, error) {
	return s.order(ctx, o, s.Store.ReopenEntry)
}

func (s *Service) order(ctx context.Context, o Order, do func(ctx context.Context, id, actor, reason string) error) (deadletter.Entry, error) {
	if err := do(ctx, o.EntryID, o.Actor, o.Reason); err != nil {
		return deadletter.Entry{}, err
	}
	return s.Store.ShowEntry(ctx, o.EntryID)
}

// ListStuck lists the entries on which nobody works any more (S2).
func (s *Service) ListStuck(ctx context.Context) ([]deadletter.Entry, error) {
	return s.Store.ListStuck(ctx, s.StuckAfter)
}

// ResetStuck resets the named entries, or all that are stuck, and returns how many. One that is no
// longer replaying, or has a living write, is passed over.
func (s *Service) ResetStuck(ctx context.Context, ids []string, actor string) (int, error) {
	if len(ids) == 0 {
		stuck, err := s.ListStuck(ctx)
		if err != nil {
			return 0, err
		}
		for _, e := range stuck {
			ids = append(ids, e.ID)
		}
	}
	n := 0
	for _, id := range ids {
		err := s.Store.ResetEntry(ctx, id, actor, "")
		if d, ok := errors.AsType[*deadletter.Error](err); ok && d.Code == deadletter.CodeConflict {
			continue
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// toldStuck is how many swept entries one message names.
const toldStuck = 1000

// SweepStuck frees what nobody works on any more (S1). Every process calls it now and then; two at
// once do no harm.
func (s *Service) SweepStuck(ctx context.Context) error {
	ids, err := s.Store.SweepStuck(ctx, s.StuckAfter)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return nil
	}
	s.Logger.WarnContext(ctx, "swept stuck entries", "entries", len(ids), "first", ids[0])
	return s.Announce(ctx, config.EventEntryStuck, ids[0], map[string]any{
		"count": len(ids), "entry_ids": ids[:min(len(ids), toldStuck)], "stuck_after": s.StuckAfter.String(),
		"detail": "Nobody had worked on these entries, so they went back to Pending Review. Check their records before you press again.",
	})
}
