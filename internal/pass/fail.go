package pass

import (
	"context"
	"errors"
	"fmt"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// failure is a request that failed, as far as its chunk must know (W1).
type failure struct {
	class  airtable.Class
	status int
	text   string
	after  time.Duration // the server's own wish, capped
	fate   airtable.Fate
	err    *airtable.Error
}

func readFailure(err error) (failure, bool) {
	e, ok := errors.AsType[*airtable.Error](err)
	if !ok {
		return failure{}, false
	}
	return failure{class: airtable.Classify(err), status: e.Status, text: e.Reason(), after: e.RetryAfterCapped(), fate: e.Fate, err: e}, true
}

// requestFailed ends a chunk whose read, look-up or schema could not be had.
func (w *chunk) requestFailed(ctx context.Context, err error) error {
	f, ok := readFailure(err)
	if !ok || w.hold == nil {
		return err
	}
	w.done = true
	var items []*item
	for _, it := range w.live() {
		if len(it.Intents) > 0 && len(it.members) == 0 {
			if err := w.fenced(func() error { return w.Store.LookLater(ctx, w.hold.Lease, it.Intents, lookEvery) }); err != nil {
				return err
			}
			continue
		}
		items = append(items, it)
	}
	return w.react(ctx, f, items, nil)
}

// writeFailed ends a chunk whose write was refused or not answered.
func (w *chunk) writeFailed(ctx context.Context, out []*outgoing, err error) error {
	f, ok := readFailure(err)
	if !ok {
		return err
	}
	w.done = true
	ctx = context.WithoutCancel(ctx)
	fate := deadletter.FateNotLanded
	if f.fate == airtable.FateUnknown {
		fate = deadletter.FateOpen
	}
	var items []*item
	var given []store.GivenUp
	for _, o := range out {
		items = append(items, o.item)
		given = append(given, store.GivenUp{IntentID: o.id, Ref: o.item.Ref, Status: f.status, Fate: fate})
	}
	return w.react(ctx, f, items, given)
}

// notSent ends a chunk that came too late to send its write.
func (w *chunk) notSent(ctx context.Context, out []*outgoing) error {
	var given []store.GivenUp
	var wait []store.Postpone
	for _, o := range out {
		given = append(given, store.GivenUp{IntentID: o.id, Ref: o.item.Ref, Fate: deadletter.FateNotLanded})
		wait = append(wait, store.Postpone{Members: o.item.refs()})
	}
	w.done = true
	return w.fenced(func() error { return w.Store.GiveUp(ctx, w.hold.Lease, given, wait, nil) })
}

// react does what mission W1 says for each class of failure.
func (w *chunk) react(ctx context.Context, f failure, items []*item, given []store.GivenUp) error {
	switch f.class {
	case airtable.Wait:
		if err := w.Store.PauseBase(ctx, w.base.Name, w.rateLimitWait(f), f.text); err != nil {
			return err
		}
		return w.retryLater(ctx, f, items, given)
	case airtable.Retry:
		return w.retryLater(ctx, f, items, given)
	case airtable.Halt:
		return w.halt(ctx, f, items, given)
	case airtable.Permanent, airtable.Done:
	}
	w.schemas.forget(w.base.Name)
	if len(items) > 1 {
		return w.takeApart(ctx, items, given)
	}
	return w.failPermanently(ctx, f, items, given)
}

// rateLimitWait is how long the base pauses after a 429: half a minute and up to five seconds more (W3).
func (w *chunk) rateLimitWait(f failure) time.Duration {
	wait := w.base.Retry.RateLimitWait
	return max(wait+jitter(wait/12)-wait/12, f.after)
}

// retryLater counts the attempt and lets each member wait by the ladder (W2). A member with no
// attempt left is settled, unless its write may still land: then it is settled after the rest.
func (w *chunk) retryLater(ctx context.Context, f failure, items []*item, given []store.GivenUp) error {
	var wait []store.Postpone
	var settle []store.Settlement
	unknown := f.fate == airtable.FateUnknown && len(given) > 0
	for _, it := range items {
		for _, m := range it.members {
			p := store.Postpone{Members: []store.MemberRef{m.MemberRef}, Counted: true, Status: f.status, Error: f.text}
			p.Wait = max(ladder(w.base.Retry.BaseDelay, m.Tries+1), f.after)
			last := m.Tries+1 >= w.base.Retry.Attempts
			switch {
			case last && (unknown || len(it.open) > 0):
				p.Wait = w.base.Retry.RequestTimeout + w.base.Retry.LandingBound + sendWithin
			case last:
				m.Tries, m.LastStatus, m.LastError = m.Tries+1, f.status, f.text
				settle = append(settle, m.fails(*exhausted(f.status, m.Tries)))
				continue
			}
			wait = append(wait, p)
		}
	}
	return w.fenced(func() error { return w.Store.GiveUp(ctx, w.hold.Lease, given, wait, settle) })
}

// ladder is the wait before the next attempt once n have been made: 2, 4, 8, 16 s, each lengthened
// by up to its double (W2).
func ladder(base time.Duration, n int) time.Duration { return jitter(base << (n - 1)) }

// exhausted is the problem of a member that has had all its attempts.
func exhausted(status, tries int) *deadletter.Problem {
	p := &deadletter.Problem{Reason: deadletter.ReasonTransientExhausted, Detail: fmt.Sprintf("Airtable answered HTTP %d; %d attempts were made.", status, tries)}
	switch status {
	case 0:
		p.Reason = deadletter.ReasonNoResponseExhausted
		p.Detail = fmt.Sprintf("Airtable did not answer; %d attempts were made.", tries)
	case 429:
		p.Reason = deadletter.ReasonRateLimitExhausted
		p.Detail = fmt.Sprintf("Airtable's rate limit was met %d times in a row.", tries)
	}
	return p
}

// halt stops the whole base (W7): live writes stay queued, entries go back to Pending Review.
func (w *chunk) halt(ctx context.Context, f failure, items []*item, given []store.GivenUp) error {
	var wait []store.Postpone
	for _, it := range items {
		wait = append(wait, store.Postpone{Members: it.refs()})
	}
	if err := w.fenced(func() error { return w.Store.GiveUp(ctx, w.hold.Lease, given, wait, nil) }); err != nil {
		return err
	}
	return w.haltBase(ctx, store.HaltAccess, haltWords(w.base, f))
}

// haltWords says why a base is halted in words that its owner can act on (W7).
func haltWords(b Base, f failure) string {
	switch {
	case f.err.IsQuota():
		return "The workspace's monthly quota of API calls is used up; waiting does not help. Raise the plan or wait for the next month, then resume."
	case f.status == 401:
		return "Airtable does not accept the token of base " + b.Name + " any more; give it a valid one, then resume."
	case f.status == 403:
		return "The token of base " + b.Name + " may not do this: it lacks data.records:read, data.records:write or schema.bases:read on " + b.ID +
			", or its user's role was lowered, or the table is gone. Airtable said: " + f.text
	}
	return "Airtable refuses the token of base " + b.Name + ": " + f.text
}

// takeApart makes the records of a refused batch come up singly (W6); a batch's own refusal is no
// attempt.
func (w *chunk) takeApart(ctx context.Context, items []*item, given []store.GivenUp) error {
	var wait []store.Postpone
	for _, it := range items {
		wait = append(wait, store.Postpone{Members: it.refs(), Alone: true})
	}
	return w.fenced(func() error { return w.Store.GiveUp(ctx, w.hold.Lease, given, wait, nil) })
}

// failPermanently settles the members of one record that Airtable refused.
func (w *chunk) failPermanently(ctx context.Context, f failure, items []*item, given []store.GivenUp) error {
	reason, text := refusal(f.err), refusalText(f, len(given) > 0)
	var settle []store.Settlement
	for _, it := range items {
		for _, m := range it.members {
			m.Tries, m.LastStatus, m.LastError = m.Tries+1, f.status, f.text
			settle = append(settle, m.fails(deadletter.Problem{Reason: reason, Detail: text}))
		}
	}
	if err := w.fenced(func() error { return w.Store.GiveUp(ctx, w.hold.Lease, given, nil, settle) }); err != nil {
		return err
	}
	for _, it := range items {
		for _, m := range it.members {
			if err := w.countFailure(ctx, m, w.target.Name+" "+f.err.Signature(), f.text); err != nil {
				return err
			}
		}
	}
	return nil
}

// refusal is the reason code for a permanent answer about one record.
func refusal(e *airtable.Error) deadletter.Reason {
	switch {
	case e.IsRecordGone():
		return deadletter.ReasonNoMatch
	case e.IsComputedField():
		return deadletter.ReasonComputedField
	case e.IsUnknownField():
		return deadletter.ReasonUnknownField
	case e.Type == airtable.TypeInvalidValue:
		return deadletter.ReasonInvalidValue
	case e.Type == airtable.TypeInvalidOption:
		return deadletter.ReasonInvalidOption
	case e.Status == 413:
		return deadletter.ReasonPayloadTooLarge
	case e.Status == 400:
		return deadletter.ReasonBadRequest
	}
	return deadletter.ReasonWriteFailed
}

func refusalText(f failure, write bool) string {
	switch {
	case write && f.err.IsRecordGone():
		return "The record was deleted before it could be written; it was not made anew. Airtable said: " + f.text
	case write:
		return "Airtable refused the write: " + f.text
	}
	return "Airtable refused to show the record, so nothing was written: " + f.text
}
