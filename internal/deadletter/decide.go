package deadletter

import (
	"cmp"
	"slices"
	"strings"
)

// Decide says what one record's waiting members change on it, and what becomes of each of them
// (mission C, O, B3). It is a pure function: the same case, its members in any order, gives the same
// plan, and nothing of the case is changed. The steps, each closing the members that it decides:
//
//  1. a member's own problem: Replay Failed (mission P3);
//  2. open siblings: Replay Failed for every entry (mission P4);
//  3. several matches: Replay Failed; an append-only target that has the key: Superseded (C6, C7);
//  4. the sender check, member by member (C1, C5, B3 step 1), then what the reviewer saw (R11);
//  5. no match: a creation, where one of the rest may create (C6);
//  6. the rest merged oldest to newest, and the shared-field check once over the merged fields,
//     against the oldest First Attempt At among them (C2, C3, B3 steps 2 and 3).
func Decide(c Case) Plan {
	d := newDecision(c)
	d.failProblems()
	d.refuseSiblings(c.Siblings)
	if d.match(c.Matches, c.Mark) {
		d.checkSenders()
		d.checkExpected()
		d.create()
		d.conclude()
	}
	return d.plan()
}

// decision is the working state of one Decide.
type decision struct {
	rules   Rules
	record  *Record // nil: nothing matched
	mark    Mark    // zero where it speaks of another record
	version Version // the record's version as far as we know: its own or the highest we landed
	// incomparable says that the record's version field cannot be compared with anything.
	incomparable bool
	items        []*item // oldest to newest
	merged       merged
	write        []string // the fields to write, sorted
	target       Version  // the version that the record is to carry; zero: left alone
}

// item is a member on its way to a verdict.
type item struct {
	*Member
	position int // in Case.Members
	fates    map[string]fate
	// doubt is set where the sender check did not clear the member but a reviewer insists on the
	// unchanged fields: then only fields whose guard exists and has not moved may be written.
	doubt   Reason
	closed  bool
	outcome Outcome
	reason  Reason
	note    string
	why     string // the reason in words for fields without a fate of their own
	merged  bool
}

func newDecision(c Case) *decision {
	d := &decision{rules: c.Rules}
	for i := range c.Members {
		d.items = append(d.items, &item{Member: &c.Members[i], position: i, fates: map[string]fate{}})
	}
	slices.SortFunc(d.items, oldestFirst)
	return d
}

// oldestFirst orders items by version, then by order of filing or acceptance.
func oldestFirst(a, b *item) int {
	c, _ := a.Version.Compare(b.Version)
	return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Version.kind, b.Version.kind), c,
		cmp.Compare(a.Order, b.Order), strings.Compare(a.ID, b.ID))
}

// rank puts items without a version first, so that they never win over a known version, and the
// sender's current state last.
func (it *item) rank() int {
	switch {
	case !it.Version.IsZero():
		return 1
	case it.Reextracted:
		return 2
	}
	return 0
}

func (d *decision) open() []*item {
	return slices.DeleteFunc(slices.Clone(d.items), func(it *item) bool { return it.closed })
}

// close settles an item. why is its reason as half a sentence, for the field-by-field account.
func (it *item) close(outcome Outcome, reason Reason, note, why string) {
	it.closed, it.outcome, it.reason, it.note, it.why = true, outcome, reason, note, why
}

func (it *item) isEntry() bool { return it.Kind != MemberWrite }

// mode is the member's mode; live writes have none, and an unknown one is the strictest.
func (it *item) mode() Mode {
	known := it.Mode == UnchangedFields || it.Mode == ChosenFields || it.Mode == Overwrite
	if it.isEntry() && known {
		return it.Mode
	}
	return Checked
}

// reviewed tells whether a reviewer has looked at the fields and answers for them (R11).
func (it *item) reviewed() bool { return it.mode() == ChosenFields || it.mode() == Overwrite }

// guarded tells whether the shared-field check applies to the item (C2, R6).
func (it *item) guarded() bool { return (it.isEntry() || it.Waited) && !it.reviewed() }

// fieldNames are the names of the member's fields, sorted.
func (it *item) fieldNames() []string { return sortedKeys(it.Fields) }

// wants tells whether the item asks for the field at all: a reviewer may have named others.
func (it *item) wants(name string) bool {
	return it.mode() != ChosenFields || slices.Contains(it.Chosen, name)
}

func sortedKeys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (d *decision) current(name string) any {
	if d.record == nil {
		return nil
	}
	return d.record.Fields[name]
}

// equals tells whether the record's cell already is the value.
func (d *decision) equals(name string, value any) bool {
	return Equal(d.rules.Fields[name].Kind, d.current(name), value)
}
