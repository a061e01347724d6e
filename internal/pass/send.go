package pass

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// outgoing is one record of the write request and the intent behind it.
type outgoing struct {
	item   *item
	intent store.Intend
	id     string // of the intent, once stored
}

// send stores the intents, sends one request, and settles by its answer.
func (w *chunk) send(ctx context.Context) error {
	if err := w.settleRefusals(ctx); err != nil || w.done {
		return err
	}
	var out []*outgoing
	var settle []store.Settlement
	for _, it := range w.live() {
		settle = append(settle, it.settlements()...)
		if it.plan.Writes() {
			out = append(out, &outgoing{item: it, intent: w.intend(it)})
		}
	}
	if len(out) == 0 && len(settle) == 0 {
		return nil
	}
	if len(out) == 0 {
		return w.fenced(func() error { return w.Store.Settle(ctx, w.hold.Lease, settle) })
	}
	start := time.Now()
	out, err := w.store(ctx, out, settle)
	if err != nil || len(out) == 0 {
		return err
	}
	w.probe(ctx, StepIntended)
	if time.Since(start) > sendWithin || !w.hold.Lives(w.base.Retry.RequestTimeout) {
		return w.notSent(ctx, out)
	}
	res, err := w.base.Client.WriteRecords(ctx, w.request(out))
	w.probe(ctx, StepAnswered)
	if err != nil {
		return w.writeFailed(ctx, out, err)
	}
	return w.settleAnswer(ctx, out, res)
}

func (w *chunk) store(ctx context.Context, out []*outgoing, settle []store.Settlement) (kept []*outgoing, err error) {
	intents := make([]store.Intend, len(out))
	for i, o := range out {
		intents[i] = o.intent
	}
	bounds := store.Bounds{SendWithin: sendWithin, RequestTimeout: w.base.Retry.RequestTimeout, LandingBound: w.base.Retry.LandingBound}
	var ids []string
	if err := w.fenced(func() (err error) {
		ids, err = w.Store.StoreIntents(ctx, w.hold.Lease, intents, settle, bounds)
		return err
	}); err != nil {
		return nil, err
	}
	for i, o := range out {
		if o.id = ids[i]; o.id != "" {
			kept = append(kept, o)
		}
	}
	return kept, nil
}

// intend is the write of an item, with what becomes of each member once it has landed.
func (w *chunk) intend(it *item) store.Intend {
	in := store.Intend{Ref: it.Ref, Plan: it.plan, Clock: it.source.VersionField, Stamp: w.target.Stamp}
	if len(it.open) == 1 {
		in.IntentID = it.open[0].ID
	}
	if recs := it.records(it.source); len(recs) == 1 {
		in.VersionBefore = recs[0].Version
	}
	in.Dates = w.businessDates(it)
	for i, v := range it.plan.Verdicts {
		if v.InWrite() {
			in.Members = append(in.Members, store.IntentMember{MemberRef: it.members[i].MemberRef, Verdict: v, Fetched: it.members[i].fetched})
		}
	}
	return in
}

// businessDates are the record's business date before the write and after it (B6).
func (w *chunk) businessDates(it *item) []string {
	var dates []string
	add := func(value any) {
		text, _ := value.(string)
		if day, _, _ := strings.Cut(text, "T"); len(day) == len(time.DateOnly) && !slices.Contains(dates, day) {
			if _, err := time.Parse(time.DateOnly, day); err == nil {
				dates = append(dates, day)
			}
		}
	}
	if w.target.BusinessDate == "" {
		return nil
	}
	for _, f := range it.found {
		add(f.fields[w.target.BusinessDate])
	}
	add(it.plan.Fields[w.target.BusinessDate])
	return dates
}

// request is the one PATCH of the chunk: updates by record ID, creations by merge key.
func (w *chunk) request(out []*outgoing) airtable.WriteRequest {
	req := airtable.WriteRequest{Base: w.base.ID, Table: w.target.Table}
	for _, o := range out {
		fields := airtable.Fields{}
		for name, value := range o.item.plan.Fields {
			fields[name] = value
		}
		for name, value := range o.item.source.VersionCells(o.item.plan.Version) {
			fields[name] = value
		}
		if w.target.Stamp != "" {
			fields[w.target.Stamp] = o.id
		}
		if o.item.plan.Action == deadletter.ActionCreate {
			fields[w.target.KeyField] = w.target.KeyCell(w.schema, o.item.TargetID)
			req.MergeOn = []string{w.target.KeyField}
		}
		req.Records = append(req.Records, airtable.WriteRecord{ID: o.item.plan.RecordID, Fields: fields})
	}
	return req
}

// settleAnswer records what landed. A holder that has lost its lease meanwhile may settle nothing,
// but the answer is a fact, and it is kept for the next pass (R4).
func (w *chunk) settleAnswer(ctx context.Context, out []*outgoing, res airtable.WriteResult) error {
	ctx = context.WithoutCancel(ctx)
	var landings []store.Landing
	for i, o := range out {
		landings = append(landings, w.answered(o, res, i))
	}
	err := w.fenced(func() error { return w.Store.SettleLandings(ctx, w.hold.Lease, landings, nil) })
	if errors.Is(err, store.ErrStale) {
		for i, o := range out {
			fact := store.Fact{RecordID: res.Records[i].ID, Created: created(res, i), Fields: res.Records[i].Fields}
			if err := w.Store.StoreFact(ctx, o.id, fact); err != nil {
				return err
			}
		}
	}
	if err != nil {
		return err
	}
	w.probe(ctx, StepSettled)
	return w.resetFailures(ctx, out)
}

// resetFailures ends rows of identical failures: something was written (W7).
func (w *chunk) resetFailures(ctx context.Context, out []*outgoing) error {
	var runs []string
	for _, o := range out {
		for _, m := range o.item.members {
			runs = append(runs, m.RunID)
		}
	}
	return w.Store.ResetFailures(ctx, w.base.Name, runs)
}

func created(res airtable.WriteResult, i int) bool { return res.Created != nil && res.Created[i] }

func (w *chunk) answered(o *outgoing, res airtable.WriteResult, i int) store.Landing {
	rec := res.Records[i]
	in := store.OpenIntent{Intent: deadletter.Intent{
		ID: o.id, Creates: o.item.plan.Action == deadletter.ActionCreate, RecordID: rec.ID, Fields: o.item.plan.Fields,
		Before: o.item.plan.Before, Version: o.item.plan.Version, VersionBefore: o.intent.VersionBefore,
	}, Clock: o.intent.Clock, Dates: o.intent.Dates}
	l := landing{recordID: rec.ID, created: created(res, i), status: http.StatusOK}
	l.forestalled = in.Creates && !l.created && len(o.item.open) == 0
	if len(o.item.open) == 1 {
		in.Attempts = o.item.open[0].Attempts
	}
	d := store.Landing{Intent: in, Ref: o.item.Ref, Mark: w.markAfter(o.item.Mark, in, rec.ID, rec.Fields), Certain: in.Certain(true)}
	for _, m := range o.intent.Members {
		m.Held = true
		d.Intent.Members = append(d.Intent.Members, m)
		l.tries, l.note = o.item.attempt(m.ID)
		s := landed(in, m, l)
		if o.item.plan.LateLanding {
			s.Flags = append(s.Flags, deadletter.LateLanding)
		}
		d.Settlements = append(d.Settlements, s)
	}
	return d
}

// attempt is which attempt of a member this one was, with a word on what the one before met (case B50).
func (it *item) attempt(id string) (n int, note string) {
	for _, m := range it.members {
		if m.ID == id && m.Tries > 0 {
			return m.Tries + 1, fmt.Sprintf("Attempt %d went through; the one before met: %s.", m.Tries+1, strings.TrimSuffix(m.LastError, "."))
		}
	}
	return 1, ""
}
