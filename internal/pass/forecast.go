package pass

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pacing"
	"airtable-replay/internal/store"
)

// judgeAgain is when a dry run looks at a record again that could not be judged.
const judgeAgain = 10 * time.Second

// forecastNext judges the next records of a dry run as a run would, from a fresh read, and writes nothing
// to Airtable (B1, O2). It comes last, but for a turn now and then.
func (p *Pass) forecastNext(ctx context.Context, hold *pacing.Hold) (judged bool, err error) {
	var run string
	var c store.Chunk
	err = hold.Renewing(func() (err error) {
		run, c, err = p.Store.TakeForecast(ctx, hold.Lease)
		return err
	})
	if err != nil || len(c.Items) == 0 {
		return false, err
	}
	return true, p.judgeSafely(ctx, hold, run, c)
}

// judgeSafely judges a chunk; after a panic its records are judged singly, and the one that panics then is
// told as what ends a run's entry as well (R7).
func (p *Pass) judgeSafely(ctx context.Context, hold *pacing.Hold, run string, c store.Chunk) error {
	f := p.newForecast(hold, run, c)
	panicked, err := f.judgeOnce(ctx)
	if !panicked || err != nil {
		return err
	}
	if len(c.Items) == 1 {
		return f.settle(ctx, allFail(f.chunk.items, deadletter.ReasonCrashed), nil)
	}
	for _, it := range c.Items {
		one := c
		one.Items = []store.Item{it}
		if err := p.judgeSafely(ctx, hold, run, one); err != nil {
			return err
		}
	}
	return nil
}

func (p *Pass) newForecast(hold *pacing.Hold, run string, c store.Chunk) *forecast {
	f := &forecast{run: run, hold: hold, chunk: p.newChunk(hold.Base, nil, c)}
	f.chunk.coming = func(ctx context.Context, target, key string) (bool, error) {
		return p.Store.Foresees(ctx, run, target, key)
	}
	return f
}

func (f *forecast) judgeOnce(ctx context.Context) (panicked bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			panicked = true
			f.chunk.Logger.ErrorContext(ctx, "panic over a dry run", "run_id", f.run, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
		}
	}()
	return false, f.judge(ctx)
}

// forecast is the work of a dry run on one chunk.
type forecast struct {
	run   string
	hold  *pacing.Hold
	chunk *chunk
}

func (f *forecast) judge(ctx context.Context) error {
	w := f.chunk
	if w.target == nil || f.hold.Base == "" {
		return f.settle(ctx, allFail(w.items, deadletter.ReasonUnknownSource), nil)
	}
	if err := w.look(ctx); err != nil {
		return f.failed(ctx, err)
	}
	w.foresee(ctx)
	var found []store.Foreseen
	var wait []string
	for _, it := range w.items {
		if len(it.Intents) > 0 {
			wait = append(wait, it.memberIDs()...)
			continue
		}
		found = append(found, w.foreseen(it)...)
	}
	return f.settle(ctx, found, wait)
}

func (f *forecast) settle(ctx context.Context, found []store.Foreseen, wait []string) error {
	if len(wait) > 0 {
		if err := f.postpone(ctx, store.ForecastDelay{Entries: wait, Wait: judgeAgain}); err != nil {
			return err
		}
	}
	return f.hold.Renewing(func() error { return f.chunk.Store.SettleForecast(ctx, f.hold.Lease, f.run, found) })
}

func (f *forecast) postpone(ctx context.Context, d store.ForecastDelay) error {
	return f.hold.Renewing(func() error { return f.chunk.Store.PostponeForecast(ctx, f.hold.Lease, f.run, d) })
}

// allFail is the same failure of every member.
func allFail(items []*item, reason deadletter.Reason) []store.Foreseen {
	var out []store.Foreseen
	for _, it := range items {
		for _, id := range it.memberIDs() {
			out = append(out, store.Foreseen{EntryID: id, Outcome: deadletter.ReplayFailed, Reason: reason})
		}
	}
	return out
}

// foreseen is what would become of each member of a record.
func (w *chunk) foreseen(it *item) []store.Foreseen {
	var out []store.Foreseen
	for i, v := range it.plan.Verdicts {
		out = append(out, store.Foreseen{EntryID: it.members[i].ID, Outcome: v.Outcome, Reason: v.Reason, Effect: foreseenEffect(it.plan, v)})
	}
	return out
}

func foreseenEffect(p deadletter.Plan, v deadletter.Verdict) deadletter.Effect {
	switch {
	case !v.InWrite():
		return deadletter.EffectNone
	case v.Merged:
		return deadletter.EffectMerged
	case p.Action == deadletter.ActionCreate:
		return deadletter.EffectCreated
	case len(p.Fields) == 0:
		return deadletter.EffectUnchanged
	}
	return deadletter.EffectUpdated
}

func (it *item) memberIDs() []string {
	var ids []string
	for _, m := range it.members {
		ids = append(ids, m.ID)
	}
	return ids
}

// failed does what a failed request means to a dry run: it waits with the base, or a little by itself,
// stops with a halt, and takes a refusal as what a run would meet too.
func (f *forecast) failed(ctx context.Context, err error) error {
	failure, ok := readFailure(err)
	if !ok {
		return err
	}
	w := f.chunk
	var ids []string
	for _, it := range w.items {
		ids = append(ids, it.memberIDs()...)
	}
	switch failure.class {
	case airtable.Wait:
		if err := w.Store.PauseBase(ctx, w.base.Name, w.rateLimitWait(failure), failure.text); err != nil {
			return err
		}
		return f.again(ctx, failure, ids)
	case airtable.Retry:
		return f.again(ctx, failure, ids)
	case airtable.Halt:
		return w.haltBase(ctx, store.HaltAccess, haltWords(w.base, failure))
	case airtable.Permanent, airtable.Done:
	}
	w.Logger.WarnContext(ctx, "forecast refused", "run_id", f.run, "error", failure.text)
	return f.settle(ctx, allFail(w.items, refusal(failure.err)), nil)
}

// again lets entries be judged once more, as often as a run would attempt them.
func (f *forecast) again(ctx context.Context, failure failure, ids []string) error {
	d := store.ForecastDelay{Entries: ids, Wait: max(judgeAgain, failure.after), Attempts: f.chunk.base.Retry.Attempts, Reason: exhausted(failure.status, 0).Reason}
	if err := f.postpone(ctx, d); err != nil {
		return err
	}
	return f.settle(ctx, nil, nil)
}
