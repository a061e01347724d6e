package pass

import (
	"context"
	"fmt"
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
	f := &forecast{run: run, hold: hold, chunk: p.newChunk(hold, c)}
	f.chunk.hold = nil
	f.chunk.coming = func(ctx context.Context, target, key string) (bool, error) {
		return p.Store.Foresees(ctx, run, target, key)
	}
	return true, f.judge(ctx)
}

// forecast is the work of a dry run on one chunk.
type forecast struct {
	run   string
	hold  *pacing.Hold
	chunk *chunk
}

func (f *forecast) judge(ctx context.Context) error {
	w := f.chunk
	if w.target != nil {
		if err := w.prepare(ctx); err != nil {
			return f.failed(ctx, err)
		}
		if err := w.read(ctx); err != nil {
			return f.failed(ctx, err)
		}
	}
	if w.target != nil {
		w.foresee(ctx)
	}
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
		if err := f.hold.Renewing(func() error {
			return f.chunk.Store.PostponeForecast(ctx, f.hold.Lease, f.run, wait, judgeAgain)
		}); err != nil {
			return err
		}
	}
	return f.hold.Renewing(func() error { return f.chunk.Store.SettleForecast(ctx, f.hold.Lease, f.run, found) })
}

// foreseen is what would become of each member of a record.
func (w *chunk) foreseen(it *item) []store.Foreseen {
	var out []store.Foreseen
	if w.target == nil {
		for _, m := range it.members {
			out = append(out, store.Foreseen{EntryID: m.ID, Outcome: deadletter.ReplayFailed, Reason: deadletter.ReasonUnknownSource})
		}
		return out
	}
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
		return f.settle(ctx, nil, ids)
	case airtable.Retry:
		return f.settle(ctx, nil, ids)
	case airtable.Halt:
		return w.haltBase(ctx, store.HaltAccess, haltWords(w.base, failure))
	case airtable.Permanent, airtable.Done:
	}
	var found []store.Foreseen
	for _, id := range ids {
		found = append(found, store.Foreseen{EntryID: id, Outcome: deadletter.ReplayFailed, Reason: refusal(failure.err)})
	}
	w.Logger.WarnContext(ctx, "forecast refused", "run_id", f.run, "error", fmt.Sprint(failure.text))
	return f.settle(ctx, found, nil)
}
