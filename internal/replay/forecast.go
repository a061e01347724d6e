package replay

import (
	"context"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// perRequest is how many records one request to Airtable carries.
const perRequest = 10

// dryRun writes down what a run would claim, and wakes the bases that are to judge it (B1).
func (s *Service) dryRun(ctx context.Context, c store.Claim) (deadletter.Run, error) {
	var run deadletter.Run
	err := s.Store.InTx(ctx, func(ctx context.Context) error {
		planned, err := s.Store.PlanRun(ctx, c)
		if err != nil {
			return err
		}
		if planned.Count == 0 {
			return nothingPending()
		}
		if err := s.wakeAll(ctx, planned.Bases); err != nil {
			return err
		}
		run, err = s.ShowRun(ctx, planned.RunID)
		return err
	})
	return run, err
}

// foretell adds to a dry run what it has found so far.
func (s *Service) foretell(ctx context.Context, r *deadletter.Run) error {
	if !r.DryRun {
		return nil
	}
	f, tables, err := s.Store.ShowForecast(ctx, r.ID)
	if err != nil {
		return err
	}
	spent := map[string]int{}
	for _, t := range tables {
		n := s.requestsFor(t)
		spent[t.Base] += n
		f.Requests += n
		if s.MirrorBase != "" {
			rows := tens(t.Entries)
			spent[s.MirrorBase] += rows
			f.Requests += rows
		}
	}
	for base, n := range spent {
		if rate := s.Rates[base]; rate > 0 {
			f.Duration = max(f.Duration, time.Duration(float64(n)/rate*float64(time.Second)))
		}
	}
	r.Forecast = &f
	return nil
}

// requestsFor is how many requests a run needs for one target: a read of each ten records, a lookup of each
// linked table with it, and a write where there is something to write. Records that are not judged yet count
// as written.
func (s *Service) requestsFor(t store.ForecastTable) int {
	reads := tens(t.Records)
	writes := min(reads, t.Writes+t.Waiting)
	links := 0
	if target, ok := s.Book.Target(t.Target); ok {
		links = len(target.LinkedTargets())
	}
	return reads*(1+links) + writes
}

func tens(n int) int { return (n + perRequest - 1) / perRequest }
