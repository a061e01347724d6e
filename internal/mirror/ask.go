package mirror

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
)

// asksAtOnce is how many rows one request reads: a page of Airtable's (case B126).
const asksAtOnce = 100

// asks are the rows that are waited for. Whoever finds nobody reading starts to read; all that ask
// until the request goes out share it.
type asks struct {
	mu      sync.Mutex
	reading bool
	waiting map[string][]chan answer
}

type answer struct {
	record airtable.Record
	found  bool
	err    error
}

// readRow reads one row, with those of everybody else who asks meanwhile.
func (m *Mirror) readRow(ctx context.Context, id string) (airtable.Record, bool, error) {
	told := make(chan answer, 1)
	if m.asks.join(id, told) {
		go m.readAll(context.WithoutCancel(ctx))
	}
	select {
	case a := <-told:
		return a.record, a.found, a.err
	case <-ctx.Done():
		return airtable.Record{}, false, fmt.Errorf("read row: %w", ctx.Err())
	}
}

// join adds somebody who waits; true when nobody is reading yet.
func (a *asks) join(id string, told chan answer) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting[id] = append(a.waiting[id], told)
	first := !a.reading
	a.reading = true
	return first
}

// next takes those of up to a page of rows; none ends the reading.
func (a *asks) next() map[string][]chan answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := map[string][]chan answer{}
	for id, told := range a.waiting {
		if len(out) == asksAtOnce {
			break
		}
		out[id] = told
		delete(a.waiting, id)
	}
	a.reading = len(out) > 0
	return out
}

// readAll reads until nobody waits any more.
func (m *Mirror) readAll(ctx context.Context) {
	for {
		err := m.slot(ctx)
		asked := m.asks.next()
		if len(asked) == 0 {
			return
		}
		var found map[string]airtable.Record
		if err == nil {
			found, err = m.readRows(ctx, asked)
		}
		for id, told := range asked {
			record, ok := found[id]
			for _, t := range told {
				t <- answer{record, ok, err}
			}
		}
	}
}

func (m *Mirror) readRows(ctx context.Context, asked map[string][]chan answer) (map[string]airtable.Record, error) {
	ids := make([]string, 0, len(asked))
	for id := range asked {
		ids = append(ids, id)
	}
	records, _, err := m.Client.ListPage(ctx, airtable.ListRequest{
		Base: m.BaseID, Table: m.Table, Formula: airtable.RecordIDIn(ids), PageSize: asksAtOnce,
	}, "")
	if err != nil {
		return nil, m.explain(ctx, err)
	}
	found := map[string]airtable.Record{}
	for _, r := range records {
		found[r.ID] = r
	}
	return found, nil
}

// slot is open, with a bound on the wait: nobody who asks waits for ever.
func (m *Mirror) slot(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, m.Retry.RequestTimeout)
	defer cancel()
	return m.open(ctx)
}

// open books a request outside of a pass; a base that is paused or halted is left alone (W3, W7).
func (m *Mirror) open(ctx context.Context) error {
	b, err := m.Store.FindBase(ctx, m.BaseName)
	if err != nil {
		return err
	}
	if b.Halted {
		return deadletter.Errorf(deadletter.CodeConflict, "base-halted", "base %s is halted, the dead letter table was not read: %s", m.BaseName, b.Reason)
	}
	if !b.PausedUntil.IsZero() {
		now, err := m.Store.Now(ctx)
		if err != nil {
			return err
		}
		return unavailable(b.PausedUntil.Sub(now), "base "+m.BaseName+" is paused: "+b.Reason)
	}
	return m.Pacer.Wait(ctx, m.BaseName, 1)
}

func unavailable(wait time.Duration, why string) error {
	err := deadletter.Errorf(deadletter.CodeUnavailable, "", "%s. Press again later.", why)
	err.RetryAfter = max(wait, time.Second)
	return err
}

// explain is a failure of Airtable's for whoever pressed.
func (m *Mirror) explain(ctx context.Context, err error) error {
	e, ok := errors.AsType[*airtable.Error](err)
	if !ok {
		return err
	}
	out := deadletter.Errorf(deadletter.CodeUpstream, "", "Airtable refused the request to the dead letter table: %s", e.Reason())
	switch airtable.Classify(e) {
	case airtable.Wait:
		if err := m.pause(ctx, e); err != nil {
			return err
		}
		return unavailable(m.Retry.RateLimitWait, "Airtable's rate limit was met")
	case airtable.Retry:
		out = deadletter.Errorf(deadletter.CodeUpstream, "", "Airtable did not answer for the dead letter table. Press again later.")
		out.RetryAfter = m.Retry.BaseDelay
	case airtable.Halt, airtable.Permanent, airtable.Done:
	}
	out.Err = e
	return out
}
