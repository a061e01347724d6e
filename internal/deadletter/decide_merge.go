package deadletter

import (
	"slices"
	"time"
)

// share is one field of the merged payload: the newest item that carries it wins.
type share struct {
	winner *item
	value  any
	state  shareState
	at     time.Time // the guard's time, where it decided
	// sure is false where the field counts as changed only because its guard could not be read.
	sure bool
	own  bool // the guard moved by our own last write (C3)
}

type shareState int

const (
	shareWrite shareState = iota
	shareSame
	shareChanged // somebody else gave the shared field another value after the failure
)

// merged is the one payload that the open items make together (mission B3 step 2).
type merged struct {
	shares map[string]share
	first  time.Time // the oldest First Attempt At, from which a change counts
}

// merge lays the open items over each other, oldest to newest, and checks the shared fields of the
// result once.
func (d *decision) merge(open []*item) merged {
	m := merged{shares: map[string]share{}, first: oldestAttempt(open)}
	for _, it := range open {
		for name, value := range it.Fields {
			if d.carries(it, name) {
				m.shares[name] = share{winner: it, value: value}
			}
		}
	}
	since := m.first.Add(-d.rules.Margin)
	for name, s := range m.shares {
		m.shares[name] = d.check(name, s, since)
	}
	return m
}

// oldestAttempt is the oldest First Attempt At among the items that any check counts from.
func oldestAttempt(open []*item) time.Time {
	var attempts []time.Time
	for _, it := range open {
		if it.isEntry() || it.Waited {
			attempts = append(attempts, it.FirstAttemptAt)
		}
	}
	if len(attempts) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(attempts, time.Time.Compare)
}

// carries tells whether the item may bring the field into the write.
func (d *decision) carries(it *item, name string) bool {
	return it.wants(name) && !d.doubtful(it, name)
}

// doubtful tells whether nothing shows that the field is as it was when the item failed: the sender
// check did not clear the item, and no guard watches the field.
func (d *decision) doubtful(it *item, name string) bool {
	return it.doubt != "" && d.record != nil && d.rules.Fields[name].Guard == ""
}

// check is the shared-field check of one merged field (mission C2, C3).
func (d *decision) check(name string, s share, since time.Time) share {
	if d.equals(name, s.value) {
		s.state = shareSame
		return s
	}
	if !s.winner.guarded() {
		return s
	}
	at, readable := d.guardTime(name)
	if readable && at.Before(since) {
		return s
	}
	if s.winner.doubt == "" && d.ours(name) {
		s.own = true
		return s
	}
	s.state, s.at, s.sure = shareChanged, at, readable
	return s
}

// guardTime is when the field's guard says that it last changed. A field without a guard, and one
// whose guard is empty, never changed: the zero time. An unreadable guard answers false.
func (d *decision) guardTime(name string) (at time.Time, readable bool) {
	guard := d.rules.Fields[name].Guard
	if guard == "" || Empty(d.current(guard)) {
		return time.Time{}, true
	}
	text, ok := d.current(guard).(string)
	if !ok {
		return time.Time{}, false
	}
	at, err := parseInstant(text)
	return at, err == nil
}

// ours tells whether the field is exactly as our last write left it: then nobody else touched it.
func (d *decision) ours(name string) bool {
	left, ok := d.mark.Guards[name]
	field := d.rules.Fields[name]
	return ok && left.Stamp != "" && d.current(field.Guard) == any(left.Stamp) &&
		sameRead(field.Kind, d.current(name), left.Value)
}

// changed lists the merged fields that somebody else changed, sorted.
func (m merged) changed() []string { return m.in(shareChanged) }

func (m merged) in(state shareState) []string {
	var names []string
	for _, name := range sortedKeys(m.shares) {
		if m.shares[name].state == state {
			names = append(names, name)
		}
	}
	return names
}

// wholly tells whether every field of the merged payload certainly changed, and nothing was left out
// of it for another reason.
func (d *decision) wholly(open []*item, m merged) bool {
	for _, s := range m.shares {
		if s.state != shareChanged || !s.sure {
			return false
		}
	}
	for _, it := range open {
		for name := range it.Fields {
			if !d.carries(it, name) {
				return false
			}
		}
	}
	return true
}
