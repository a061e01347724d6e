package pass

import (
	"context"
	"slices"
	"strings"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pacing"
	"airtable-replay/internal/pipeline"
	"airtable-replay/internal/store"
)

// chunk is the work on up to ten records of one target, hop by hop.
type chunk struct {
	*Pass
	hold   *pacing.Hold // nil for a preview, which stores nothing
	base   Base
	target *pipeline.Target // nil: not configured
	schema *pipeline.Schema
	rules  deadletter.Rules
	now    time.Time
	recent time.Duration // how old a schema may be at most: not from before the base was resumed
	items  []*item
	done   bool // a failed request has closed the chunk
	again  bool // the read was repeated after a surprise
	// coming tells a dry run that the run itself would bring a linked record about; nil otherwise.
	coming func(ctx context.Context, target, key string) (bool, error)
}

// item is one record and what waits for it.
type item struct {
	store.Item
	source  *pipeline.Source // of the members: all share its version field; nil: no members
	members []*member
	found   []found
	open    []store.OpenIntent // of unknown fate after the read
	plan    deadletter.Plan
	closed  bool // nothing more is to be done for it in this chunk
}

// member is one waiting item with its parsed payload.
type member struct {
	store.Member
	source  *pipeline.Source
	write   pipeline.Write
	problem *deadletter.Problem
	// mismatch says that configuration and base disagree, so that no payload of the source could pass.
	mismatch bool
	settled  bool   // its outcome is stored
	fetched  []byte // the sender's current state, where it stands in for the payload (C5)
	asked    bool   // the sender was asked for it
	fetch    string // what came of asking, for the notes; empty: not asked, or it gave its state
}

// found is a record that was read by an item's key.
type found struct {
	id     string
	fields map[string]any
}

// newChunk is the work on a chunk of a base. hold is nil where nothing is to be stored: a preview, a dry run.
func (p *Pass) newChunk(base string, hold *pacing.Hold, c store.Chunk) *chunk {
	w := &chunk{Pass: p, hold: hold, base: p.bases[base], now: c.Now, recent: schemaAge}
	if c.SinceResume > 0 {
		w.recent = min(schemaAge, c.SinceResume)
	}
	w.target, _ = p.Book.Target(c.Target)
	for _, it := range c.Items {
		w.items = append(w.items, w.newItem(it))
	}
	return w
}

// newItem keeps the members that share the first one's version field; the others come up again.
func (w *chunk) newItem(in store.Item) *item {
	it := &item{Item: in}
	for _, m := range in.Members {
		if m.Kind == deadletter.MemberRestore {
			r := w.newRestore(m)
			it.source, it.members = r.source, append(it.members, r)
			continue
		}
		source, ok := w.Book.Source(m.Source)
		if ok && source.Target != w.target {
			ok = false
		}
		if !ok {
			it.members = append(it.members, &member{Member: m, problem: unknownSource(m.Source)})
			continue
		}
		if it.source == nil {
			it.source = source
		}
		if source.VersionField == it.source.VersionField {
			it.members = append(it.members, &member{Member: m, source: source})
		}
	}
	return it
}

func unknownSource(name string) *deadletter.Problem {
	return &deadletter.Problem{
		Reason: deadletter.ReasonUnknownSource,
		Detail: "The source " + name + " is not in the configuration; add it under sources and press Replay again.",
	}
}

// work takes the chunk through all hops. What fails on the way is stored by the hop that met it.
func (w *chunk) work(ctx context.Context) error {
	for _, hop := range []func(context.Context) error{
		w.settleKnown, w.prepare, w.read, w.observe, w.releaseEnded, w.decide, w.reextract, w.send,
	} {
		if err := hop(ctx); err != nil || w.done {
			return err
		}
	}
	return nil
}

// releaseEnded gives back what belongs to a run that has ended meanwhile, once it is known what became of its
// earlier writes: the pass that was to record their outcome may have died (B1, R2).
func (w *chunk) releaseEnded(ctx context.Context) error {
	var refs []store.MemberRef
	for _, it := range w.live() {
		for _, m := range it.members {
			if m.RunEnded {
				refs = append(refs, m.MemberRef)
			}
		}
	}
	if len(refs) == 0 {
		return nil
	}
	var gone []string
	if err := w.fenced(func() (err error) {
		gone, err = w.Store.ReleaseEnded(ctx, w.hold.Lease, refs)
		return err
	}); err != nil {
		return err
	}
	for _, it := range w.live() {
		it.members = slices.DeleteFunc(it.members, func(m *member) bool { return slices.Contains(gone, m.ID) })
		it.closed = it.closed || len(it.members) == 0
	}
	return nil
}

func (w *chunk) probe(ctx context.Context, step Step) {
	var keys []string
	for _, it := range w.items {
		keys = append(keys, it.TargetID)
	}
	w.Probe(ctx, step, keys)
}

// live are the items that are still to be worked on.
func (w *chunk) live() []*item {
	return slices.DeleteFunc(slices.Clone(w.items), func(it *item) bool { return it.closed })
}

// fenced runs a transaction of the pass and counts the lease from before it.
func (w *chunk) fenced(do func() error) error { return w.hold.Renewing(do) }

// settleKnown closes what needs no read: members without a configured source, records over which
// passes died twice while alone (R7), and entries whose write is known to have landed (R2).
func (w *chunk) settleKnown(ctx context.Context) error {
	var settle []store.Settlement
	for _, it := range w.items {
		var rest []*member
		for _, m := range it.members {
			known, err := w.knownOutcome(ctx, it, m)
			if err != nil {
				return err
			}
			if known == nil {
				rest = append(rest, m)
				continue
			}
			settle = append(settle, *known)
		}
		it.members = rest
		it.closed = len(it.members) == 0 && len(it.Intents) == 0 || w.target == nil
	}
	if len(settle) > 0 {
		if err := w.fenced(func() error { return w.Store.Settle(ctx, w.hold.Lease, settle) }); err != nil {
			return err
		}
	}
	return w.endWithoutTarget(ctx)
}

// endWithoutTarget ends the chunk of a target that is no longer configured. Its open writes are put off,
// so that they do not stand before everybody else's work, and looked for once the target is back.
func (w *chunk) endWithoutTarget(ctx context.Context) error {
	if w.target != nil {
		return nil
	}
	w.done = true
	var orphans []store.OpenIntent
	for _, it := range w.items {
		orphans = append(orphans, it.Intents...)
	}
	if len(orphans) == 0 {
		return nil
	}
	return w.fenced(func() error { return w.Store.LookLater(ctx, w.hold.Lease, orphans, lookEvery) })
}

// deathsAlone is after how many deaths a record is given up: two in company, two alone (R7).
const deathsAlone = 4

func (w *chunk) knownOutcome(ctx context.Context, it *item, m *member) (*store.Settlement, error) {
	if m.LandedIntent != "" {
		s, err := w.landedBefore(ctx, m)
		if s != nil || err != nil {
			return s, err
		}
	}
	if it.Mark.Deaths >= deathsAlone {
		m.problem = &deadletter.Problem{
			Reason: deadletter.ReasonCrashed,
			Detail: "Working on this record ended the worker several times; the service's log has the cause. Nothing was written.",
		}
		if err := w.Store.ForgetDeaths(ctx, it.Ref); err != nil {
			return nil, err
		}
	}
	if m.problem == nil {
		return nil, nil
	}
	s := m.fails(*m.problem)
	return &s, nil
}

// landedBefore is the outcome of an entry whose write landed while nobody held it, unless its payload
// has been edited since.
func (w *chunk) landedBefore(ctx context.Context, m *member) (*store.Settlement, error) {
	in, err := w.Store.FindIntent(ctx, m.LandedIntent)
	if err != nil {
		return nil, err
	}
	for _, im := range in.Members {
		if im.ID == m.ID && im.Revision == m.Revision {
			im.MemberRef = m.MemberRef
			s := landed(in, im, landing{recordID: in.RecordID, tries: m.Tries})
			s.Verdict.Note = join(s.Verdict.Note, "Its earlier write had landed; nothing was written again.")
			return &s, nil
		}
	}
	return nil, nil
}

// fails is the outcome of a member that cannot be written.
func (m *member) fails(p deadletter.Problem) store.Settlement {
	return m.settles(deadletter.Verdict{
		Member: m.ID, Outcome: deadletter.ReplayFailed, Reason: p.Reason, Note: p.Detail,
	})
}

// settles is the outcome of a member that takes part in no write.
func (m *member) settles(v deadletter.Verdict) store.Settlement {
	s := store.Settlement{MemberRef: m.MemberRef, Verdict: v, Tries: m.Tries, StatusCode: m.LastStatus, ErrorDetail: m.LastError}
	if slices.Contains(m.Flags, string(deadletter.MayHaveBeenWritten)) && !v.InWrite() {
		v.Note = inDoubt(v.Note)
		s.Verdict = v
	}
	if m.Kind == deadletter.MemberWrite {
		s.Filing = m.filing(v)
	}
	return s
}

// inDoubt words the note of a member of which an earlier write may be on the record: none says then that
// nothing was written (R2).
func inDoubt(note string) string {
	more := strings.NewReplacer("Nothing was written", "Nothing more was written", "Nothing of it was written", "Nothing more of it was written")
	return join(more.Replace(note), "An earlier attempt may have been written; the history has its values before.")
}

func join(a, b string) string {
	return strings.TrimSpace(a + " " + b)
}
