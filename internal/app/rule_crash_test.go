package app_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/pass"

	"github.com/stretchr/testify/require"
)

// dieAt makes the first pass that comes to a step stop there for the rest of the test, as a process
// does that was killed: it holds its lease until that runs out, and does nothing more.
func dieAt(at pass.Step) (probe func(ctx context.Context, step pass.Step, keys []string), died <-chan struct{}, bury func()) {
	dead := make(chan struct{})
	end := make(chan struct{})
	var once atomic.Bool
	return func(_ context.Context, step pass.Step, _ []string) {
		if step == at && once.CompareAndSwap(false, true) {
			close(dead)
			<-end
		}
	}, dead, func() { close(end) }
}

// Whatever hop a pass dies at, the outcome, Values Before and the record are as if nothing had
// happened, and the record was changed once (P5, R2, R5).
func TestDeathBetweenAnyTwoHops(t *testing.T) {
	t.Parallel()
	for _, step := range []pass.Step{pass.StepTaken, pass.StepRead, pass.StepIntended, pass.StepAnswered, pass.StepSettled} {
		t.Run(string(step), func(t *testing.T) {
			t.Parallel()
			probe, died, bury := dieAt(step)
			defer bury()
			w := apptest.New(t, apptest.Options{Replicas: 2, Probe: probe, SimulatedClock: true})
			id := w.File(t, apptest.Order("O-3", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil)
			w.Press(t, id, nil)
			<-died
			// The lease runs out, then whatever was sent can no longer land.
			w.Advance(t, 30*time.Second)
			w.Advance(t, 30*time.Second)
			e := w.Settled(t, id)
			apptest.RequireOutcome(t, e, "replayed", "")
			require.Equal(t, apptest.Doc{"Status": "Pending"}, apptest.Outcome(e)["values_before"])
			require.Equal(t, "Shipped", w.OrderCells(t, "O-3")["Status"])
			changes := 0
			for _, c := range w.Sandbox.Changes() {
				if c.Record == "recOrd00000000003" && c.Field == "Status" && c.Request > 0 {
					changes++
				}
			}
			require.Equal(t, 1, changes)
		})
	}
}
