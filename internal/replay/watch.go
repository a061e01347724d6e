package replay

import (
	"context"
	"reflect"
	"time"

	"airtable-replay/internal/deadletter"
)

// watchEvery is how often a run that is watched is looked at.
const watchEvery = time.Second

// WatchRun sends a run at once and after each change, and closes the channel when the run has ended, ctx
// has, or the database cannot be asked. The last run sent before a plain end is finished.
func (s *Service) WatchRun(ctx context.Context, id string) <-chan deadletter.Run {
	out := make(chan deadletter.Run)
	go func() {
		defer close(out)
		every := time.NewTicker(watchEvery)
		defer every.Stop()
		var last deadletter.Run
		for {
			run, err := s.ShowRun(ctx, id)
			if err != nil {
				if ctx.Err() == nil {
					s.Logger.WarnContext(ctx, "watch run", "run_id", id, "error", err)
				}
				return
			}
			if !reflect.DeepEqual(run, last) {
				select {
				case out <- run:
				case <-ctx.Done():
					return
				}
			}
			if last = run; run.Finished() {
				return
			}
			select {
			case <-every.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
