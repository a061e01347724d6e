package pass

import (
	"context"
	"fmt"

	"airtable-replay/internal/config"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// streakLimit is how many identical permanent failures in a row stop a base or a run (W7).
const streakLimit = 5

// announcer tells owners what happened to a base, and downstream what runs have changed.
type announcer interface {
	AnnounceBase(ctx context.Context, base, event string, data any) error
	// AnnounceOnce tells of something that may be noticed again and again.
	AnnounceOnce(ctx context.Context, event, about string, data any) error
	// AnnounceRuns tells downstream of the runs that have finished.
	AnnounceRuns(ctx context.Context) error
}

// countFailure counts a permanent failure of one member. Identical ones in a row halt the base when
// they are live writes, and stop the run when they are entries of one; single presses never count,
// since old payloads must not stop live data.
func (w *chunk) countFailure(ctx context.Context, m *member, signature, words string) error {
	if m.Kind == deadletter.MemberWrite {
		n, err := w.Store.CountFailure(ctx, w.base.Name, signature)
		if err != nil || n < streakLimit {
			return err
		}
		return w.haltBase(ctx, store.HaltData, fmt.Sprintf("%d writes in a row failed alike: %s", n, words))
	}
	n, err := w.Store.CountRunFailure(ctx, m.RunID, signature)
	if err != nil || n < streakLimit {
		return err
	}
	w.done = true
	reason := fmt.Sprintf("%d entries in a row failed alike: %s", n, words)
	w.Logger.WarnContext(ctx, "run stopped", "run_id", m.RunID, "reason", reason)
	return w.Store.StopRun(ctx, m.RunID, deadletter.ReasonRunStopped, reason)
}

// settleRefusals closes, one by one, the members that configuration and base together refuse whatever
// they hold, so that nothing more is refused once the fifth has stopped the base or the run.
func (w *chunk) settleRefusals(ctx context.Context) error {
	for _, it := range w.live() {
		for i, v := range it.plan.Verdicts {
			m := it.members[i]
			if !m.mismatch || v.Outcome != deadletter.ReplayFailed {
				continue
			}
			m.settled = true
			settle := []store.Settlement{m.settles(v)}
			if err := w.fenced(func() error { return w.Store.Settle(ctx, w.hold.Lease, settle) }); err != nil {
				return err
			}
			signature := fmt.Sprintf("%s %s %s", w.target.Name, m.problem.Reason, m.problem.Detail)
			if err := w.countFailure(ctx, m, signature, m.problem.Detail); err != nil || w.done {
				return err
			}
		}
	}
	return nil
}

// haltBase stops a base and tells its owner once, however many processes see the cause.
func (w *chunk) haltBase(ctx context.Context, kind store.HaltKind, reason string) error {
	w.done = true
	return w.Store.InTx(ctx, func(ctx context.Context) error {
		first, err := w.Store.Halt(ctx, w.base.Name, kind, reason, "service")
		if err != nil || !first {
			return err
		}
		w.Logger.ErrorContext(ctx, "base halted", "base", w.base.Name, "reason", reason)
		return w.Announcer.AnnounceBase(ctx, w.base.Name, config.EventBaseHalted, map[string]string{"base": w.base.Name, "base_id": w.base.ID, "reason": reason})
	})
}
