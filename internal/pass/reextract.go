package pass

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"airtable-replay/internal/config"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
	"airtable-replay/internal/telemetry"
)

// fetchTimeout bounds asking a sender for the current state of one record.
const fetchTimeout = 10 * time.Second

// reextract asks the sender for the current state of what cannot be decided for want of a version, and
// decides anew, from a fresh read, as if that had been the payload (C5). Nothing is kept between chunks, so
// that an entry which had to wait is fetched again.
func (w *chunk) reextract(ctx context.Context) error {
	asking := w.toAsk()
	if len(asking) == 0 {
		return nil
	}
	if err := w.fenced(func() error { return w.Store.Renew(ctx, w.hold.Lease) }); err != nil {
		return err
	}
	w.askAll(ctx, asking)
	if err := w.letLiveGoFirst(ctx, asking); err != nil {
		return err
	}
	for _, it := range w.live() {
		it.found, it.open = nil, nil
	}
	for _, hop := range []func(context.Context) error{w.resolveLinks, w.read, w.observe, w.decide} {
		if err := hop(ctx); err != nil || w.done {
			return err
		}
	}
	return nil
}

// question is a member whose sender is asked for the record's current state.
type question struct {
	item   *item
	member *member
}

func (w *chunk) toAsk() []question {
	var out []question
	for _, it := range w.live() {
		for i, v := range it.plan.Verdicts {
			m := it.members[i]
			unversioned := v.Reason == deadletter.ReasonNoVersion || v.Reason == deadletter.ReasonBlankVersion
			if v.Outcome == deadletter.NeedsReview && unversioned && m.Kind == deadletter.MemberEntry && m.source.Reextract != nil && !m.asked {
				out = append(out, question{it, m})
			}
		}
	}
	return out
}

func (w *chunk) askAll(ctx context.Context, asking []question) {
	var all sync.WaitGroup
	for _, q := range asking {
		all.Go(func() { w.ask(ctx, q) })
	}
	all.Wait()
}

// foresee plans every record as a pass would, and asks senders as it would, but writes and stores nothing.
func (w *chunk) foresee(ctx context.Context) {
	for _, it := range w.items {
		it.plan = w.planFor(it)
	}
	if asking := w.toAsk(); len(asking) > 0 {
		w.askAll(ctx, asking)
		for _, it := range w.items {
			it.plan = w.planFor(it)
		}
	}
}

// ask fetches the current state of one record and puts it in the payload's place. What goes wrong is left
// to the reviewer, in words.
func (w *chunk) ask(ctx context.Context, q question) {
	m := q.member
	m.asked = true
	state, err := w.fetch(ctx, m.source.Reextract, q.item.TargetID)
	if err != nil {
		m.fetch = fmt.Sprintf("The sender was asked for its current state: %v.", err)
		return
	}
	write, invalid := m.source.Validate(state, m.Operation, w.schema)
	switch {
	case invalid != nil:
		m.fetch = "The sender was asked for its current state, which is not valid: " + invalid.Problem().Detail
	case write.Key != q.item.TargetID:
		m.fetch = fmt.Sprintf("The sender was asked for the current state of %q and answered with that of %q.", q.item.TargetID, write.Key)
	default:
		m.write, m.fetched = write, state
	}
}

// letLiveGoFirst puts entries off whose record has got a live write meanwhile; they are fetched again after
// it.
func (w *chunk) letLiveGoFirst(ctx context.Context, asking []question) error {
	for _, q := range asking {
		if q.member.fetched == nil {
			continue
		}
		queued, err := w.Store.QueuedWrites(ctx, q.item.Ref)
		if err != nil {
			return err
		}
		if !queued || q.item.closed {
			continue
		}
		q.item.closed = true
		if err := w.postpone(ctx, store.Postpone{Members: q.item.refs()}); err != nil {
			return err
		}
	}
	return nil
}

// fetch asks for the state of one record. The errors are halves of sentences for a reviewer; they name
// neither the address nor the token.
func (w *chunk) fetch(ctx context.Context, from *config.Reextract, id string) ([]byte, error) {
	address, err := from.Address(id)
	if err != nil {
		return nil, errors.New("its ID cannot stand in an address")
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("its address cannot be asked")
	}
	req.Header.Set("Accept", "application/json")
	if token := from.Token.Reveal(); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := w.senders.Do(req)
	if err != nil {
		w.Logger.WarnContext(ctx, "ask sender", "target", w.target.Name, "error", telemetry.WithoutURL(err))
		return nil, errors.New("it did not answer")
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone:
		return nil, errors.New("it does not have the record any more")
	case resp.StatusCode/100 == 3:
		return nil, errors.New("it pointed to another address, which is not followed")
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answered HTTP %d", resp.StatusCode)
	}
	state, err := io.ReadAll(io.LimitReader(resp.Body, deadletter.MaxPayload+1))
	switch {
	case err != nil:
		return nil, errors.New("its answer broke off")
	case len(state) > deadletter.MaxPayload:
		return nil, errors.New("its answer is larger than 1 MiB")
	}
	return state, nil
}

// newSenders is the client for senders: it goes to the configured address and nowhere else.
func newSenders() *http.Client {
	return &http.Client{Timeout: fetchTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}
