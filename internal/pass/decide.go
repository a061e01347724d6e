package pass

import (
	"context"
	"fmt"

	"airtable-replay/internal/config"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/google/uuid"
)

// liveGrace is how long a live write may wait before both checks apply to it (R6).
const liveGrace = 60

// decide makes the plan of every record that is still open. It is arithmetic: the decision itself is
// deadletter.Decide.
func (w *chunk) decide(ctx context.Context) error {
	var wait []store.Postpone
	for _, it := range w.live() {
		if len(it.members) == 0 {
			it.closed = true
			continue
		}
		it.exhaust(w.base.Retry.Attempts)
		it.plan = w.planFor(it)
		if err := w.tellLateLanding(ctx, it); err != nil {
			return err
		}
		if len(it.open) == 0 {
			continue
		}
		if deadletter.SameWrite(it.plan, it.open[0].Intent) {
			continue
		}
		// Another decision while the earlier write may still land: the record rests (R3).
		it.closed = true
		wait = append(wait, store.Postpone{Members: it.refs(), Until: it.open[0].MayLandUntil})
	}
	if len(wait) == 0 {
		return nil
	}
	return w.fenced(func() error { return w.Store.GiveUp(ctx, w.hold.Lease, nil, wait, nil) })
}

// tellLateLanding tells the owner that a record holds an older version than one of ours that had landed: an
// unanswered write was applied after all, later than its record rested for it (R4b).
func (w *chunk) tellLateLanding(ctx context.Context, it *item) error {
	if !it.plan.LateLanding || it.source == nil || len(it.found) != 1 {
		return nil
	}
	mark := it.Mark.Of(it.source.VersionField)
	about := fmt.Sprintf("%s %s after %s", w.target.Name, it.TargetID, mark.Highest)
	w.Logger.WarnContext(ctx, "late landing", "base", w.base.Name, "target", w.target.Name, "record_id", it.found[0].id)
	return w.Announcer.AnnounceOnce(ctx, config.EventLateLanding, about, map[string]any{
		"base": w.base.Name, "base_id": w.base.ID, "target": w.target.Name, "table": w.target.Table, "target_id": it.TargetID, "record_id": it.found[0].id,
		"version_written": mark.Highest.String(), "version_found": it.records(it.source)[0].Version.String(),
		"detail": "An earlier write was applied after a newer one. The sender's next write brings the record up to date; a reviewer can overwrite it before.",
	})
}

// exhaust closes members that have had all their attempts (W2); what became of the last one is known
// by now.
func (it *item) exhaust(attempts int) {
	for _, m := range it.members {
		if m.Tries >= attempts && m.problem == nil {
			m.problem = exhausted(m.LastStatus, m.Tries)
		}
	}
}

func (it *item) refs() []store.MemberRef {
	var refs []store.MemberRef
	for _, m := range it.members {
		refs = append(refs, m.MemberRef)
	}
	return refs
}

// planFor decides; a creation that a member's own rules forbid makes that member's problem and is
// decided again without it.
func (w *chunk) planFor(it *item) deadletter.Plan {
	if it.restores() {
		return deadletter.DecideRestore(w.restoreCase(it))
	}
	for {
		plan := deadletter.Decide(w.caseOf(it))
		if plan.Action != deadletter.ActionCreate {
			return plan
		}
		again := false
		for i, v := range plan.Verdicts {
			m := it.members[i]
			if invalid := m.write.CreateFault(); invalid != nil && v.InWrite() && m.problem == nil {
				m.problem, again = invalid.Problem(), true
			}
		}
		if !again {
			return plan
		}
	}
}

func (w *chunk) caseOf(it *item) deadletter.Case {
	c := deadletter.Case{Rules: w.rules, Matches: it.records(it.source), Siblings: it.Siblings}
	if it.source != nil {
		c.Mark = it.Mark.Of(it.source.VersionField)
	}
	for _, m := range it.members {
		c.Members = append(c.Members, deadletter.Member{
			ID: m.ID, Kind: m.Kind, Operation: m.Operation, Sends: m.source.Sends, Fields: m.write.Fields, Version: m.version(),
			Versionless: m.write.Versionless, FirstAttemptAt: m.FirstAttemptAt, Order: m.Order, Mode: m.Mode, Chosen: m.Chosen, Expect: m.Expect,
			Wrote: m.Wrote, Problem: m.problem, Reextracted: m.fetched != nil,
			Waited: m.Kind == deadletter.MemberWrite && w.now.Sub(m.FirstAttemptAt).Seconds() > liveGrace,
		})
	}
	return c
}

// version is the payload's, or the one that was given when the entry was filed.
func (m *member) version() deadletter.Version {
	if m.write.Version.IsZero() && !m.write.Versionless {
		return m.Filed
	}
	return m.write.Version
}

// settlements are the outcomes of the members that take part in no write.
func (it *item) settlements() []store.Settlement {
	var out []store.Settlement
	group := uuid.NewString()
	for i, v := range it.plan.Verdicts {
		if v.InWrite() && it.plan.Writes() || it.members[i].settled {
			continue
		}
		v.Note = join(v.Note, it.members[i].fetch)
		s := it.members[i].settles(v)
		if v.Outcome == deadletter.NeedsReview {
			s.ReviewGroup = group
		}
		if it.plan.LateLanding {
			s.Flags = append(s.Flags, deadletter.LateLanding)
		}
		if v.InWrite() {
			s.Effect = deadletter.EffectUnchanged
		}
		if len(it.found) == 1 {
			s.RecordID = it.found[0].id
		}
		out = append(out, s)
	}
	return out
}
