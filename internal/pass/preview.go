package pass

import (
	"context"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
	"airtable-replay/internal/store"
)

// Preview is what a pass would decide about one entry now.
type Preview struct {
	Plan     deadletter.Plan
	RecordID string // the record that matched; empty: none, or several
	Waits    bool   // an earlier write of the record is still unaccounted for: nothing would be decided yet
}

// PreviewReplay decides about one item as a press would, from a fresh read, and writes and stores
// nothing (O2). It takes up to three request slots.
func (p *Pass) PreviewReplay(ctx context.Context, base string, it store.Item) (Preview, error) {
	w, err := p.lookAt(ctx, base, it)
	if err != nil {
		return Preview{}, err
	}
	one := w.items[0]
	if len(one.members) == 0 || one.members[0].problem != nil || w.target == nil {
		return Preview{Plan: failing(it, unknownSource(it.Members[0].Source))}, nil
	}
	if err := w.look(ctx); err != nil {
		return Preview{}, err
	}
	w.foresee(ctx)
	for i := range one.plan.Verdicts {
		one.plan.Verdicts[i].Note = join(one.plan.Verdicts[i].Note, one.members[i].fetch)
	}
	return one.preview(), nil
}

// lookAt is a chunk of one item that stores nothing.
func (p *Pass) lookAt(ctx context.Context, base string, it store.Item) (*chunk, error) {
	now, err := p.Store.Now(ctx)
	if err != nil {
		return nil, err
	}
	return p.newChunk(base, nil, store.Chunk{Target: it.Ref.Target, Items: []store.Item{it}, Now: now}), nil
}

// look takes a chunk that stores nothing as far as the decision.
func (w *chunk) look(ctx context.Context) error {
	if err := w.prepare(ctx); err != nil {
		return err
	}
	return w.read(ctx)
}

func (it *item) preview() Preview {
	out := Preview{Plan: it.plan, Waits: len(it.Intents) > 0}
	if len(it.found) == 1 {
		out.RecordID = it.found[0].id
	}
	return out
}

func failing(it store.Item, problem *deadletter.Problem) deadletter.Plan {
	return deadletter.Plan{Action: deadletter.ActionNone, Verdicts: []deadletter.Verdict{{
		Member: it.Members[0].ID, Outcome: deadletter.ReplayFailed, Reason: problem.Reason, Note: problem.Detail,
	}}}
}

// SchemaOf is the schema of a base by which payloads are validated; it may cost one request.
func (p *Pass) SchemaOf(ctx context.Context, base string) (*pipeline.Schema, error) {
	return p.schemaOf(ctx, p.bases[base], schemaAge)
}
