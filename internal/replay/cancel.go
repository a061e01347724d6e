package replay

import (
	"context"

	"airtable-replay/internal/deadletter"
)

// CancelRun returns what a run has not written yet to Pending Review (B1). What a pass is writing at this
// moment still gets its outcome; the run is finished with it.
func (s *Service) CancelRun(ctx context.Context, id, by, reason string) (deadletter.Run, error) {
	if err := s.Store.CancelRun(ctx, id, by, reason); err != nil {
		return deadletter.Run{}, err
	}
	return s.ShowRun(ctx, id)
}
