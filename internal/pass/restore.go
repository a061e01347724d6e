package pass

import (
	"context"
	"fmt"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
	"airtable-replay/internal/store"
)

// newRestore is an order to take a write back, on its way through the hops of every other item (R12).
// It reads and writes the version field of that write, whoever feeds the target today.
func (w *chunk) newRestore(m store.Member) *member {
	r := &member{Member: m, source: w.clockSource(m.Restoring.Clock)}
	switch {
	case w.target == nil || w.target.Base != w.base.Name:
		r.problem = unrestorable("The target that was written is not in this base any more. Nothing was restored.")
	case r.source == nil:
		r.problem = unrestorable(fmt.Sprintf("No source of the configuration keeps its versions in field %q of the target any more, so nothing tells whether the record has newer data. Nothing was restored.", m.Restoring.Clock))
	}
	return r
}

func unrestorable(detail string) *deadletter.Problem {
	return &deadletter.Problem{Reason: deadletter.ReasonUnknownSource, Detail: detail}
}

// restores tells whether what waits for the record is a restore; then it is the only member.
func (it *item) restores() bool {
	return len(it.members) == 1 && it.members[0].Kind == deadletter.MemberRestore
}

// prepareRestore names the fields to be read: those that the table still has.
func (w *chunk) prepareRestore(it *item, m *member) {
	m.write = pipeline.Write{Key: it.TargetID, Fields: map[string]any{}}
	for name, value := range m.Restoring.Before {
		if w.rules.Fields[name].Kind != "" {
			m.write.Fields[name] = value
		}
	}
}

// restoreCase is the input of the decision about a restore.
func (w *chunk) restoreCase(it *item) deadletter.RestoreCase {
	m := it.members[0]
	r := m.Restoring
	return deadletter.RestoreCase{
		ID: m.ID, Rules: w.rules, Matches: it.records(it.source), Mark: it.Mark.Of(r.Clock), RecordID: r.RecordID,
		Wrote: r.Wrote, Before: r.Before, Version: r.Version, VersionBefore: r.VersionBefore, Rewritten: r.Rewritten, Problem: m.problem,
	}
}

// PreviewRestore decides about one restore from a fresh read, and writes and stores nothing (A2). It
// takes up to two request slots.
func (p *Pass) PreviewRestore(ctx context.Context, base string, it store.Item) (Preview, error) {
	w, err := p.lookAt(ctx, base, it)
	if err != nil {
		return Preview{}, err
	}
	one := w.items[0]
	if w.target != nil && one.members[0].problem == nil {
		if err := w.look(ctx); err != nil {
			return Preview{}, err
		}
	}
	one.plan = w.planFor(one)
	return one.preview(), nil
}
