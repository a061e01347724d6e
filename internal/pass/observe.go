package pass

import (
	"context"
	"slices"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
	"airtable-replay/internal/store"
)

// lookEvery is how often an unanswered write is looked for while it still may land.
const lookEvery = 10 * time.Second

// observe settles what became of every open intent on the records just read, whoever left it, before
// anything is decided from that read (R2).
func (w *chunk) observe(ctx context.Context) error {
	var landings []store.Landing
	var misses []store.Miss
	for _, it := range w.live() {
		for _, in := range it.Intents {
			if in.Fact != nil {
				landings = append(landings, w.landingByFact(it, in))
				continue
			}
			source := w.clockSource(in.Clock)
			sight := deadletter.Observe(in.Intent, it.records(source), in.Stamp, w.now, w.rules.Fields)
			switch sight.Fate {
			case deadletter.FateLanded:
				landings = append(landings, w.landingBySight(it, in, sight))
			case deadletter.FateNotLanded, deadletter.FateUnknown:
				misses = append(misses, store.Miss{Intent: in, Ref: it.Ref, Fate: sight.Fate})
				it.flagUnknown(in, sight.Fate)
			case deadletter.FateOpen:
				it.open = append(it.open, in)
			}
		}
	}
	if len(misses) > 0 {
		if err := w.fenced(func() error { return w.Store.SettleMisses(ctx, w.hold.Lease, misses) }); err != nil {
			return err
		}
	}
	if len(landings) > 0 {
		if err := w.fenced(func() error { return w.Store.SettleLandings(ctx, w.hold.Lease, landings, nil) }); err != nil {
			return err
		}
	}
	return w.restOpen(ctx)
}

// flagUnknown makes the members of a write of unknown fate say so in whatever follows.
func (it *item) flagUnknown(in store.OpenIntent, fate deadletter.Fate) {
	if fate != deadletter.FateUnknown {
		return
	}
	for _, m := range it.members {
		for _, im := range in.Members {
			if im.ID == m.ID {
				m.Flags = append(m.Flags, string(deadletter.MayHaveBeenWritten))
			}
		}
	}
}

// restOpen lets records rest whose earlier write may still land, unless its own sender gave up on it
// in good order: then the same write may be decided and sent again (R4b).
func (w *chunk) restOpen(ctx context.Context) error {
	var resting []store.OpenIntent
	for _, it := range w.live() {
		if len(it.open) == 0 || it.mayRetry() {
			continue
		}
		it.closed = true
		resting = append(resting, it.open...)
	}
	if len(resting) == 0 {
		return nil
	}
	return w.fenced(func() error { return w.Store.LookLater(ctx, w.hold.Lease, resting, lookEvery) })
}

// mayRetry tells whether the one open intent was given up on by its sender and exactly its members
// are here, with the payloads that it was made from.
func (it *item) mayRetry() bool {
	if len(it.open) != 1 || !it.open[0].Retry || len(it.members) != len(it.open[0].Members) {
		return false
	}
	for _, im := range it.open[0].Members {
		if !it.has(im.MemberRef) {
			return false
		}
	}
	return true
}

func (it *item) has(ref store.MemberRef) bool {
	for _, m := range it.members {
		if m.MemberRef == ref {
			return true
		}
	}
	return false
}

// landing is what is known of a write that is on its record.
type landing struct {
	recordID    string
	created     bool
	tries       int
	status      int
	note        string
	forestalled bool // a creation found a record that somebody else had made in between
}

func (w *chunk) landingByFact(it *item, in store.OpenIntent) store.Landing {
	l := landing{recordID: in.Fact.RecordID, created: in.Fact.Created, status: 200, note: "Recorded from the answer to its write."}
	return w.land(it, in, l, in.Fact.Fields)
}

func (w *chunk) landingBySight(it *item, in store.OpenIntent, s deadletter.Sighting) store.Landing {
	l := landing{recordID: s.RecordID, created: in.Creates, note: "The write was found on the record after its answer had been lost."}
	if s.ByContent {
		l.note = "The record holds exactly what was written; recognised by content, since no version or stamp tells."
	}
	fields := map[string]any{}
	for _, f := range it.found {
		if f.id == s.RecordID {
			fields = f.fields
		}
	}
	return w.land(it, in, l, fields)
}

// land closes an intent with the record as it is after the write. The item is done for this chunk:
// what else waits for the record is decided from a fresh read.
func (w *chunk) land(it *item, in store.OpenIntent, l landing, fields map[string]any) store.Landing {
	it.closed = true
	d := store.Landing{Intent: in, Ref: it.Ref, Mark: w.markAfter(it.Mark, in, l.recordID, fields), Certain: in.Certain(false)}
	for _, m := range in.Members {
		if !m.Held {
			continue
		}
		l.tries = len(in.Attempts)
		s := landed(in, m, l)
		d.Settlements = append(d.Settlements, s)
	}
	return d
}

// landed is the outcome of one member of a write that is on its record: the verdict that was stored
// with the intent, with the values from before it (P5).
func landed(in store.OpenIntent, m store.IntentMember, l landing) store.Settlement {
	before := map[string]any{}
	for name := range m.Verdict.Fields {
		if v, ok := in.Before[name]; ok {
			before[name] = v
		}
	}
	s := store.Settlement{
		MemberRef: m.MemberRef, Verdict: m.Verdict, ValuesBefore: before, RecordID: l.recordID, Effect: effect(in, m, l),
		Wrote: in.Version, Tries: max(1, l.tries), StatusCode: l.status, Dates: in.Dates,
		Fetched: m.Fetched,
	}
	s.Verdict.Note = join(s.Verdict.Note, l.note)
	if l.forestalled {
		s.Flags = append(s.Flags, deadletter.CreatedElsewhere)
		s.Verdict.Note = join(s.Verdict.Note, "The record was to be created, but somebody else had made it in between; it was updated.")
	}
	return s
}

func effect(in store.OpenIntent, m store.IntentMember, l landing) deadletter.Effect {
	switch {
	case m.Verdict.Merged:
		return deadletter.EffectMerged
	case l.created:
		return deadletter.EffectCreated
	case len(in.Fields) == 0:
		return deadletter.EffectUnchanged
	}
	return deadletter.EffectUpdated
}

// markAfter is what is remembered of the record: the version that landed, as sent and as Airtable
// holds it, and for each shared field that was written its stamp and value as we left them (C3).
func (w *chunk) markAfter(m store.Mark, in store.OpenIntent, recordID string, fields map[string]any) store.Mark {
	next := store.Mark{RecordID: recordID, Clocks: map[string]store.ClockMark{}, Guards: map[string]deadletter.GuardMark{}}
	if m.RecordID == recordID {
		for k, v := range m.Clocks {
			next.Clocks[k] = v
		}
		for k, v := range m.Guards {
			next.Guards[k] = v
		}
		next.Restored = stillRestored(m.Restored, in)
	}
	if s := w.clockSource(in.Clock); s != nil && !in.Version.IsZero() {
		stored, err := s.ReadVersion(fields)
		if err != nil {
			stored = deadletter.Version{}
		}
		next.Clocks[in.Clock] = store.ClockMark{Highest: deadletter.Later(next.Clocks[in.Clock].Highest, in.Version), Stored: stored}
	}
	for name, value := range in.Fields {
		f := w.rules.Fields[name]
		stamp, ok := fields[f.Guard].(string)
		if f.Guard == "" || !ok || !deadletter.Equal(f.Kind, fields[name], value) {
			delete(next.Guards, name)
			continue
		}
		next.Guards[name] = deadletter.GuardMark{Stamp: stamp, Value: fields[name]}
	}
	return next
}

// stillRestored are the version fields under which the record's values are older than its version says,
// after a landing: all but the one that it raised (A2).
func stillRestored(clocks []string, in store.OpenIntent) []string {
	c, ok := in.Version.Compare(in.VersionBefore)
	raised := in.Clock == "" || !in.Version.IsZero() && (!ok || c > 0)
	return slices.DeleteFunc(slices.Clone(clocks), func(clock string) bool { return raised && clock == in.Clock })
}

// clockSource is a source that keeps its versions in this field of the target.
func (w *chunk) clockSource(clock string) *pipeline.Source {
	for _, s := range w.Book.Sources() {
		if s.Target == w.target && s.VersionField == clock {
			return s
		}
	}
	return nil
}
