package mirror

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/store"
	"airtable-replay/internal/telemetry"
)

const (
	// holdAfterRefusal is the wait of all rows after an answer about the token, the quota or the table.
	holdAfterRefusal = time.Minute
	// maxHold bounds the wait of all rows while Airtable does not answer.
	maxHold = time.Minute
	// maxWait bounds the wait of one row that Airtable refuses.
	maxWait = 10 * time.Minute
)

// failed lets the rows of a request wait, by what its failure means (W1). It never halts the base:
// the next request for data will, if it must.
func (m *Mirror) failed(ctx context.Context, s *send, err error) error {
	if fault, ok := errors.AsType[*tableError](err); ok {
		m.warnOnce(ctx, fault.text)
		return m.holdAll(ctx, s, holdAfterRefusal, fault.text)
	}
	e, ok := errors.AsType[*airtable.Error](err)
	if !ok {
		return err
	}
	switch airtable.Classify(e) {
	case airtable.Wait:
		if err := m.pause(ctx, e); err != nil {
			return err
		}
		return m.giveBack(ctx, s, 0, e.Reason())
	case airtable.Halt:
		if m.firstUnder(s.hold.Token) {
			m.Logger.ErrorContext(ctx, "mirror refused", telemetry.KeyBase, m.BaseName, telemetry.KeyStatus, e.Status, telemetry.KeyReason, e.Reason())
		}
		return m.holdAll(ctx, s, holdAfterRefusal, e.Reason())
	case airtable.Retry:
		return m.unanswered(ctx, s, e)
	case airtable.Permanent, airtable.Done:
	}
	return m.refused(ctx, s, e)
}

// pause makes the whole base wait after a 429 (W3).
func (m *Mirror) pause(ctx context.Context, e *airtable.Error) error {
	wait := m.Retry.RateLimitWait + rand.N(m.Retry.RateLimitWait/6+1)
	return m.Store.PauseBase(ctx, m.BaseName, max(wait, e.RetryAfterCapped()), e.Reason())
}

// unanswered is for requests that may have been applied or that never got through: all rows wait a
// while, those of the request a little longer, so that a row which is itself the cause falls back.
func (m *Mirror) unanswered(ctx context.Context, s *send, e *airtable.Error) error {
	m.mu.Lock()
	m.failures++
	wait := min(ladder(m.Retry.BaseDelay, m.failures), maxHold)
	m.mu.Unlock()
	wait = max(wait, e.RetryAfterCapped())
	if e.Status == 0 && e.Fate == airtable.FateUnknown {
		wait = max(wait, m.Retry.RequestTimeout-time.Since(s.begun)) // R9
	}
	m.Logger.WarnContext(ctx, "mirror not answered", telemetry.KeyBase, m.BaseName, telemetry.KeyStatus, e.Status, telemetry.KeyReason, e.Reason())
	if err := m.holdRows(ctx, s, wait, e.Reason()); err != nil {
		return err
	}
	var delays []store.MirrorDelay
	for _, r := range s.rows {
		d := store.MirrorDelay{EntryID: r.Entry.ID, Tries: r.Tries, Problem: e.Reason(), Wait: wait}
		if e.Fate == airtable.FateUnknown {
			d.Tries++
			d.Wait = min(wait+ladder(m.Retry.BaseDelay, d.Tries), maxWait)
		}
		delays = append(delays, d)
	}
	return m.postpone(ctx, s, delays)
}

// refused is for an answer about what was sent. Where the table may have changed, its schema is read
// again and the same rows are sent once more; then a batch is taken apart (W6), so that only the row
// at fault waits, longer each time.
func (m *Mirror) refused(ctx context.Context, s *send, e *airtable.Error) error {
	if s.rows == nil || e.Status == http.StatusNotFound && !e.IsRecordGone() {
		m.learn(nil)
		m.warnOnce(ctx, e.Reason())
		return m.holdAll(ctx, s, holdAfterRefusal, e.Reason())
	}
	if e.IsRecordGone() {
		if at := missing(s.rows, e); at >= 0 {
			return m.forget(ctx, s, at, e)
		}
	}
	if aboutSchema(e) && !s.table.fresh {
		m.learn(nil)
		if s.firstSend() {
			return m.countOn(ctx, s, 1, e)
		}
	}
	if len(s.rows) > 1 {
		return m.countOn(ctx, s, aloneFrom, e)
	}
	return m.refusedAlone(ctx, s, e)
}

// firstSend tells whether no row of the request had a send that was not settled.
func (s *send) firstSend() bool {
	return !slices.ContainsFunc(s.rows, func(r store.MirrorRow) bool { return r.Tries > 0 })
}

// countOn sends the rows again at once, as having been sent that often.
func (m *Mirror) countOn(ctx context.Context, s *send, tries int, e *airtable.Error) error {
	delays := s.delays(0, e.Reason())
	for i := range delays {
		delays[i].Tries = max(delays[i].Tries, tries)
	}
	return m.postpone(ctx, s, delays)
}

// aboutSchema tells answers that a change of the table would explain.
func aboutSchema(e *airtable.Error) bool {
	return e.IsUnknownField() || e.Type == airtable.TypeInvalidValue || e.Type == airtable.TypeInvalidOption
}

// missing finds the row that an answer says is gone.
func missing(rows []store.MirrorRow, e *airtable.Error) int {
	for i, r := range rows {
		if id := r.Entry.DLQRecordID; id != "" && (len(rows) == 1 || strings.Contains(e.Message, id)) {
			return i
		}
	}
	return -1
}

// forget drops the record ID of a row that somebody deleted; the next request makes it anew, or finds
// its copy.
func (m *Mirror) forget(ctx context.Context, s *send, at int, e *airtable.Error) error {
	delays := s.delays(0, e.Reason())
	delays[at].Lost = true
	return m.postpone(ctx, s, delays)
}

// refusedAlone keeps a row due that Airtable will not take, ever more seldom, and tries what may help.
func (m *Mirror) refusedAlone(ctx context.Context, s *send, e *airtable.Error) error {
	r := s.rows[0]
	tries := max(r.Tries+1, aloneFrom)
	wait := min(ladder(m.Retry.BaseDelay, tries), maxWait)
	m.Logger.WarnContext(ctx, "mirror row refused", telemetry.KeyEntryID, r.Entry.ID, telemetry.KeyStatus, e.Status, telemetry.KeyReason, e.Reason())
	if e.Status == http.StatusRequestEntityTooLarge && !m.isSmall(r.Entry.ID) {
		m.mu.Lock()
		m.small[r.Entry.ID] = true
		m.mu.Unlock()
		wait = 0
	}
	err := m.postpone(ctx, s, []store.MirrorDelay{{EntryID: r.Entry.ID, Tries: tries, Wait: wait, Problem: e.Reason()}})
	if err != nil || r.Entry.DLQRecordID != "" || aboutSchema(e) || wait == 0 {
		return err
	}
	return m.adopt(ctx, s, tries)
}

// adopt gives an entry the oldest of the rows that carry its ID: with several, as after two creations
// that both went unanswered, or where somebody duplicated a row, the merge key finds none of them.
func (m *Mirror) adopt(ctx context.Context, s *send, tries int) error {
	id := s.rows[0].Entry.ID
	if err := m.Pacer.Wait(ctx, m.BaseName, 1); err != nil {
		return err
	}
	found, _, err := m.Client.ListPage(ctx, airtable.ListRequest{
		Base: m.BaseID, Table: m.Table, Fields: []string{KeyField}, Formula: airtable.EqualsAny(KeyField, []string{id}),
	}, "")
	if err != nil {
		return m.failed(ctx, &send{hold: s.hold, begun: time.Now()}, err)
	}
	var oldest airtable.Record
	for _, rec := range found {
		if oldest.ID == "" || rec.CreatedTime.Before(oldest.CreatedTime) {
			oldest = rec
		}
	}
	if oldest.ID == "" {
		return nil
	}
	if err := m.Store.NameMirrorRow(ctx, id, oldest.ID); err != nil {
		return err
	}
	return m.postpone(ctx, s, []store.MirrorDelay{{EntryID: id, Tries: tries}})
}

// holdAll puts all rows off, those of the request with them.
func (m *Mirror) holdAll(ctx context.Context, s *send, wait time.Duration, problem string) error {
	if err := m.holdRows(ctx, s, wait, problem); err != nil {
		return err
	}
	return m.giveBack(ctx, s, wait, problem)
}

// holdRows puts all rows of the base off.
func (m *Mirror) holdRows(ctx context.Context, s *send, wait time.Duration, problem string) error {
	return s.hold.Renewing(func() error { return m.Store.HoldMirror(ctx, s.hold.Lease, wait, problem) })
}

// giveBack lets the rows of a request that was not applied wait, as if it had not been sent.
func (m *Mirror) giveBack(ctx context.Context, s *send, wait time.Duration, problem string) error {
	return m.postpone(ctx, s, s.delays(wait, problem))
}

func (s *send) delays(wait time.Duration, problem string) []store.MirrorDelay {
	delays := make([]store.MirrorDelay, len(s.rows))
	for i, r := range s.rows {
		delays[i] = store.MirrorDelay{EntryID: r.Entry.ID, Tries: r.Tries, Wait: wait, Problem: problem}
	}
	return delays
}

func (m *Mirror) postpone(ctx context.Context, s *send, delays []store.MirrorDelay) error {
	if len(delays) == 0 {
		return nil
	}
	return s.hold.Renewing(func() error { return m.Store.PostponeMirror(ctx, s.hold.Lease, delays) })
}

// firstUnder tells whether this is the first refusal of the token under a hold.
func (m *Mirror) firstUnder(token int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := m.hold != token
	m.hold = token
	return first
}

// ladder is the wait after the nth failure in a row: doubled each time, and lengthened by up to its
// double (W2).
func ladder(base time.Duration, n int) time.Duration {
	wait := min(base<<min(max(n-1, 0), 16), maxWait)
	return wait + rand.N(wait+1)
}
