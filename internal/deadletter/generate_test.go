package deadletter_test

import (
	"fmt"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"airtable-replay/internal/deadletter"
)

// failure is about when the generated members failed; guards move in the seconds around it.
var failure = time.Date(2026, 10, 5, 8, 0, 0, 0, time.UTC)

// pool holds few values per field, so that equal and different ones meet often; nil is an empty cell.
var pool = map[string][]any{
	"Status":        {nil, "Pending", "Shipped", "Delivered"},
	"Paid":          {nil, false, true},
	"Delivery Date": {nil, "2026-10-07", "2026-10-08", "2026-10-09"},
	"Notes":         {nil, "", "call first", "leave at door"},
}

var poolFields = []string{"Status", "Paid", "Delivery Date", "Notes"}

// limits narrow what drawCase draws.
type limits struct {
	kinds []deadletter.MemberKind
	modes []deadletter.Mode
}

var (
	entriesOnly = []deadletter.MemberKind{deadletter.MemberEntry}
	bothKinds   = []deadletter.MemberKind{deadletter.MemberEntry, deadletter.MemberWrite}
	checkedOnly = []deadletter.Mode{deadletter.Checked}
	allModes    = []deadletter.Mode{deadletter.Checked, deadletter.UnchangedFields, deadletter.ChosenFields, deadletter.Overwrite}
)

func drawCase(t *rapid.T, l limits) deadletter.Case {
	c := deadletter.Case{Rules: orders()}
	c.Rules.OnSharedChange = rapid.SampledFrom([]deadletter.OnSharedChange{deadletter.Review, deadletter.Partial}).Draw(t, "on_shared_change")
	c.Rules.AllowBlankVersion = rapid.Bool().Draw(t, "allow_blank_version")
	c.Rules.AppendOnly = seldom(t, "append_only")
	for i := range rapid.SampledFrom([]int{0, 1, 1, 1, 1, 1, 2}).Draw(t, "matches") {
		c.Matches = append(c.Matches, drawRecord(t, fmt.Sprintf("rec%d", i)))
	}
	c.Mark = drawMark(t, c.Matches)
	if seldom(t, "siblings") {
		c.Siblings = []string{"E-other"}
	}
	kind := rapid.SampledFrom(l.kinds).Draw(t, "kind")
	versionless := seldom(t, "versionless")
	for i := range rapid.IntRange(1, 4).Draw(t, "members") {
		m := drawMember(t, i, kind, l.modes, c.Matches)
		if versionless {
			m.Version, m.Versionless = deadletter.Version{}, true
		}
		c.Members = append(c.Members, m)
	}
	return c
}

func seldom(t *rapid.T, label string) bool { return rapid.IntRange(0, 9).Draw(t, label) == 9 }

func drawVersion(t *rapid.T, label string) deadletter.Version {
	n := rapid.IntRange(0, 5).Draw(t, label)
	if n == 0 {
		return deadletter.Version{}
	}
	return parse(t, numbers, strconv.Itoa(n), "")
}

func drawValue(t *rapid.T, label, field string) any {
	return rapid.SampledFrom(pool[field]).Draw(t, label+" "+field)
}

func drawRecord(t *rapid.T, id string) deadletter.Record {
	r := deadletter.Record{ID: id, Fields: map[string]any{}, Version: drawVersion(t, "record version")}
	if seldom(t, "unreadable version") {
		r.Version, r.VersionUnreadable = deadletter.Version{}, true
	}
	for _, name := range poolFields {
		if v := drawValue(t, "record", name); !deadletter.Empty(v) {
			r.Fields[name] = v
		}
		guard := orders().Fields[name].Guard
		if guard == "" || rapid.Bool().Draw(t, name+" never changed") {
			continue
		}
		r.Fields[guard] = stamp(failure.Add(time.Duration(rapid.IntRange(-14, 4).Draw(t, guard)) * time.Second))
		if seldom(t, guard+" unreadable") {
			r.Fields[guard] = "?"
		}
	}
	return r
}

func stamp(at time.Time) string { return at.Format("2006-01-02T15:04:05.000Z") }

func drawMark(t *rapid.T, matches []deadletter.Record) deadletter.Mark {
	if len(matches) == 0 || rapid.Bool().Draw(t, "no mark") {
		return deadletter.Mark{}
	}
	r := matches[0]
	m := deadletter.Mark{RecordID: r.ID, Highest: drawVersion(t, "highest"), Guards: map[string]deadletter.GuardMark{}, Restored: seldom(t, "restored")}
	m.Stored = m.Highest
	if seldom(t, "another record") {
		m.RecordID = "recGone"
	}
	for _, name := range poolFields {
		if text, ok := r.Fields[orders().Fields[name].Guard].(string); ok && rapid.Bool().Draw(t, "ours "+name) {
			m.Guards[name] = deadletter.GuardMark{Stamp: text, Value: drawValue(t, "left", name)}
		}
	}
	return m
}

func drawMember(t *rapid.T, i int, kind deadletter.MemberKind, modes []deadletter.Mode, matches []deadletter.Record) deadletter.Member {
	m := deadletter.Member{
		ID: fmt.Sprintf("M%d", i), Kind: kind, Fields: map[string]any{}, Order: int64(i), Expect: map[string]any{},
		Operation:      rapid.SampledFrom([]deadletter.Operation{deadletter.Update, deadletter.Upsert}).Draw(t, "operation"),
		Sends:          rapid.SampledFrom([]deadletter.Sends{deadletter.SendsFull, deadletter.SendsChangedFields}).Draw(t, "sends"),
		Version:        drawVersion(t, "version"),
		FirstAttemptAt: failure.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "first attempt")) * time.Second),
		Mode:           rapid.SampledFrom(modes).Draw(t, "mode"),
		Waited:         kind == deadletter.MemberWrite && rapid.Bool().Draw(t, "waited"),
		Reextracted:    seldom(t, "reextracted"),
	}
	for _, name := range poolFields {
		if rapid.Bool().Draw(t, "has "+name) {
			m.Fields[name] = drawValue(t, "member", name)
			if rapid.Bool().Draw(t, "chosen "+name) {
				m.Chosen = append(m.Chosen, name)
			}
		}
		if len(matches) > 0 && rapid.IntRange(0, 3).Draw(t, "saw "+name) > 0 {
			m.Expect[name] = matches[0].Fields[name]
		}
	}
	if seldom(t, "problem") {
		m.Problem = &deadletter.Problem{Reason: deadletter.ReasonDependencyMissing, Detail: "Account A-1 is not there."}
	}
	return m
}

// carryOut does to a case what its plan's write would do in Airtable and to the mark: cells are set,
// empty ones vanish, guards of changed cells move to now, and we remember what we left.
func carryOut(c deadletter.Case, p deadletter.Plan, now time.Time) deadletter.Case {
	if !p.Writes() {
		return c
	}
	r := deadletter.Record{ID: "recNew", Fields: map[string]any{}}
	if p.Action == deadletter.ActionUpdate {
		r.ID, r.Version = c.Matches[0].ID, c.Matches[0].Version
		for name, v := range c.Matches[0].Fields {
			r.Fields[name] = v
		}
	}
	mark := deadletter.Mark{RecordID: r.ID, Guards: map[string]deadletter.GuardMark{}}
	if c.Mark.RecordID == r.ID {
		mark.Highest, mark.Stored = c.Mark.Highest, c.Mark.Stored
		for name, g := range c.Mark.Guards {
			mark.Guards[name] = g
		}
	}
	for name, v := range p.Fields {
		r.Fields[name] = v
		if deadletter.Empty(v) {
			delete(r.Fields, name)
		}
		if guard := c.Rules.Fields[name].Guard; guard != "" {
			r.Fields[guard] = stamp(now)
			mark.Guards[name] = deadletter.GuardMark{Stamp: stamp(now), Value: r.Fields[name]}
		}
	}
	if !p.Version.IsZero() {
		r.Version, mark.Highest, mark.Stored = p.Version, p.Version, p.Version
	}
	c.Matches, c.Mark = []deadletter.Record{r}, mark
	return c
}
