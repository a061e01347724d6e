package deadletter_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"airtable-replay/internal/deadletter"
)

// The properties are named for the promise that they hold Decide to.

// members pairs each member of a case with its verdict.
func members(c deadletter.Case, p deadletter.Plan, visit func(deadletter.Member, deadletter.Verdict)) {
	for i, m := range c.Members {
		visit(m, p.Verdicts[i])
	}
}

// knownVersions are the versions that must not be undercut: the record's, and what we know to have landed.
func knownVersions(c deadletter.Case) []deadletter.Version {
	var known []deadletter.Version
	if len(c.Matches) == 1 && !c.Rules.AppendOnly {
		if v := c.Matches[0].Version; !v.IsZero() {
			known = append(known, v)
		}
		if c.Mark.RecordID == c.Matches[0].ID && !c.Mark.Highest.IsZero() {
			known = append(known, c.Mark.Highest)
		}
	}
	return known
}

// newerThanKnown tells whether the member's version is newer than everything known of the record.
func newerThanKnown(c deadletter.Case, m deadletter.Member) bool {
	for _, v := range knownVersions(c) {
		if n, ok := m.Version.Compare(v); !ok || n <= 0 {
			return false
		}
	}
	return true
}

// unmoved tells whether the field's guard has not moved since the instant.
func unmoved(c deadletter.Case, name string, since time.Time) bool {
	v := c.Matches[0].Fields[c.Rules.Fields[name].Guard]
	if v == nil {
		return true
	}
	at, err := time.Parse(time.RFC3339, v.(string))
	return err == nil && at.Before(since)
}

// leftByUs tells whether the field is as our last write left it.
func leftByUs(c deadletter.Case, name string) bool {
	r, left := c.Matches[0], c.Mark.Guards[name]
	return c.Mark.RecordID == r.ID && left.Stamp != "" && r.Fields[c.Rules.Fields[name].Guard] == left.Stamp &&
		deadletter.Equal(c.Rules.Fields[name].Kind, r.Fields[name], left.Value)
}

func TestEveryPlanIsSound(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, limits{bothKinds, allModes})
		requireSound(t, c, deadletter.Decide(c))
	})
}

// TestNeverWritesOverANewerVersion: without a reviewer's word, whoever takes part in a write is newer
// than the record, or the rules allow the lack of a version; and what a reviewer wants of a stale
// change is limited to fields that show themselves unchanged.
func TestNeverWritesOverANewerVersion(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, limits{bothKinds, allModes})
		p := deadletter.Decide(c)
		if p.Action != deadletter.ActionUpdate {
			return
		}
		members(c, p, func(m deadletter.Member, v deadletter.Verdict) {
			if !v.InWrite() || m.Mode == deadletter.Overwrite && m.Kind == deadletter.MemberEntry {
				return
			}
			versioned := !m.Version.IsZero() && newerThanKnown(c, m) && !c.Matches[0].VersionUnreadable
			blank := len(knownVersions(c)) == 0
			cleared := m.Reextracted && m.Version.IsZero() || versioned && (!blank || c.Rules.AllowBlankVersion || m.Reextracted)
			switch {
			case m.Kind == deadletter.MemberWrite:
				require.True(t, versioned || m.Versionless)
			case m.Mode == deadletter.Checked:
				require.True(t, cleared)
			case m.Mode == deadletter.ChosenFields:
				require.True(t, m.Version.IsZero() || versioned || m.Sends == deadletter.SendsChangedFields)
			case !cleared:
				for name := range v.Fields {
					if _, written := p.Fields[name]; written && !carriedByAnother(c, p, m, name) {
						require.NotEmpty(t, c.Rules.Fields[name].Guard)
						require.True(t, unmoved(c, name, m.FirstAttemptAt.Add(-c.Rules.Margin)))
					}
				}
			}
		})
	})
}

// carriedByAnother tells whether another member of the write asked for the field too.
func carriedByAnother(c deadletter.Case, p deadletter.Plan, m deadletter.Member, name string) bool {
	found := false
	members(c, p, func(other deadletter.Member, v deadletter.Verdict) {
		if _, ok := v.Fields[name]; ok && other.ID != m.ID {
			found = true
		}
	})
	return found
}

// TestNeverWritesOverANewerEdit: a shared field that changed after the oldest first attempt of the
// write is overwritten only where we changed it ourselves, where a fresh live write says so, or where
// a reviewer saw the value.
func TestNeverWritesOverANewerEdit(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, limits{bothKinds, allModes})
		p := deadletter.Decide(c)
		if p.Action != deadletter.ActionUpdate {
			return
		}
		oldest := failure.Add(time.Hour)
		members(c, p, func(m deadletter.Member, v deadletter.Verdict) {
			if v.InWrite() && (m.Kind == deadletter.MemberEntry || m.Waited) && m.FirstAttemptAt.Before(oldest) {
				oldest = m.FirstAttemptAt
			}
		})
		for name := range p.Fields {
			if c.Rules.Fields[name].Guard == "" || unmoved(c, name, oldest.Add(-c.Rules.Margin)) || leftByUs(c, name) {
				continue
			}
			answered := false
			members(c, p, func(m deadletter.Member, v deadletter.Verdict) {
				if _, carries := v.Fields[name]; carries {
					entry := m.Kind == deadletter.MemberEntry
					answered = answered || !entry && !m.Waited || entry && (m.Mode == deadletter.ChosenFields || m.Mode == deadletter.Overwrite)
				}
			})
			require.True(t, answered, "%s was changed after the failure and is overwritten", name)
		}
	})
}

// TestAReviewersOrderHitsOnlyWhatWasSeen: the order is carried out only where each field still holds
// what the reviewer saw, or already the payload's value (R11).
func TestAReviewersOrderHitsOnlyWhatWasSeen(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, limits{entriesOnly, []deadletter.Mode{deadletter.ChosenFields, deadletter.Overwrite}})
		p := deadletter.Decide(c)
		members(c, p, func(m deadletter.Member, v deadletter.Verdict) {
			for name, value := range v.Fields {
				var current any
				if p.Action != deadletter.ActionCreate {
					current = c.Matches[0].Fields[name]
				}
				kind := c.Rules.Fields[name].Kind
				require.True(t, deadletter.Equal(kind, current, value) || deadletter.Equal(kind, current, m.Expect[name]))
				if m.Mode == deadletter.ChosenFields {
					require.Contains(t, m.Chosen, name)
				}
			}
		})
	})
}

// TestTheRecordsVersionIsNeverLowered is mission P6.
func TestTheRecordsVersionIsNeverLowered(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, limits{bothKinds, allModes})
		p := deadletter.Decide(c)
		if p.Version.IsZero() {
			return
		}
		for _, known := range knownVersions(c) {
			n, ok := p.Version.Compare(known)
			require.True(t, ok && n >= 0, "%s after %s", p.Version, known)
		}
		newest := deadletter.Version{}
		members(c, p, func(m deadletter.Member, v deadletter.Verdict) {
			if v.InWrite() {
				newest = deadletter.Later(newest, m.Version)
			}
		})
		if n, ok := newest.Compare(p.Version); ok {
			require.LessOrEqual(t, n, 0, "the version of whoever was written is on the record")
		}
	})
}

// TestAReviewPlanWritesNothing: under review one changed field stops the whole record.
func TestAReviewPlanWritesNothing(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, limits{entriesOnly, checkedOnly})
		c.Rules.OnSharedChange = deadletter.Review
		p := deadletter.Decide(c)
		for _, v := range p.Verdicts {
			if v.Outcome == deadletter.NeedsReview && v.Reason == deadletter.ReasonSharedFieldChanged {
				require.False(t, p.Writes())
				for _, other := range p.Verdicts {
					require.False(t, other.InWrite())
				}
			}
			require.NotEqual(t, deadletter.PartiallyReplayed, v.Outcome, "nobody asked for a part")
		}
	})
}

// TestOrderOfMembersDoesNotMatter: neither theirs nor that of the matches.
func TestOrderOfMembersDoesNotMatter(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, limits{bothKinds, allModes})
		shuffled := c
		shuffled.Members = rapid.Permutation(c.Members).Draw(t, "shuffled members")
		shuffled.Matches = rapid.Permutation(c.Matches).Draw(t, "shuffled matches")
		byMember := cmpopts.SortSlices(func(a, b deadletter.Verdict) bool { return a.Member < b.Member })
		require.Empty(t, cmp.Diff(deadletter.Decide(c), deadletter.Decide(shuffled), byMember))
	})
}

// TestDecideMutatesNothing: it may be asked again, and answers the same.
func TestDecideMutatesNothing(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, limits{bothKinds, allModes})
		before, err := json.Marshal(c)
		require.NoError(t, err)
		first := deadletter.Decide(c)
		after, err := json.Marshal(c)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after))
		require.Empty(t, cmp.Diff(first, deadletter.Decide(c)))
	})
}

// TestApplyThenDecideSaysAlreadyApplied: once a plan is carried out, the same members write nothing.
func TestApplyThenDecideSaysAlreadyApplied(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		c := drawCase(t, limits{bothKinds, checkedOnly})
		p := deadletter.Decide(c)
		done := carryOut(c, p, failure.Add(time.Minute))
		if !p.Writes() {
			return
		}
		done.Members, done.Siblings = nil, nil
		members(c, p, func(m deadletter.Member, v deadletter.Verdict) {
			if v.InWrite() {
				done.Members = append(done.Members, m)
			}
		})
		require.False(t, deadletter.Decide(done).Writes(), "all of them again")

		members(c, p, func(m deadletter.Member, v deadletter.Verdict) {
			if !v.InWrite() {
				return
			}
			if m.Version.IsZero() && len(done.Members) > 1 {
				return // without a version a part of a merged write cannot be told from a new one
			}
			alone := done
			alone.Members = []deadletter.Member{m}
			require.False(t, deadletter.Decide(alone).Writes(), "%s again", m.ID)
			if n, _ := m.Version.Compare(p.Version); n == 0 && v.Merged {
				return // of two payloads with one version, neither is the newer once their write is done
			}
			m.Wrote = p.Version
			alone.Members = []deadletter.Member{m}
			require.False(t, deadletter.Decide(alone).Writes(), "%s again, knowing what was written", m.ID)
		})
	})
}

// TestMergeEqualsApplyingInOrder: without foreign changes, one merged write leaves the record as
// writing the members one after the other would; our own writes are no conflicts (C3).
func TestMergeEqualsApplyingInOrder(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		c := deadletter.Case{Rules: orders()}
		if rapid.Bool().Draw(t, "exists") {
			r := drawRecord(t, "recA")
			r.Version, r.VersionUnreadable = parse(t, numbers, "1", ""), false
			delete(r.Fields, "Delivery Date Changed At")
			delete(r.Fields, "Notes Changed At")
			c.Matches = []deadletter.Record{r}
		}
		for i := range rapid.IntRange(1, 5).Draw(t, "members") {
			m := drawMember(t, i, deadletter.MemberEntry, checkedOnly, nil)
			m.Version = parse(t, numbers, strconv.Itoa(i+2), "")
			m.Reextracted, m.Problem, m.Operation = false, nil, deadletter.Upsert
			if len(m.Fields) == 0 {
				m.Fields["Status"] = "Shipped"
			}
			c.Members = append(c.Members, m)
		}

		plan := deadletter.Decide(c)
		merged := carryOut(c, plan, failure.Add(time.Minute))
		oneByOne := c
		for i, m := range c.Members {
			oneByOne.Members = []deadletter.Member{m}
			step := deadletter.Decide(oneByOne)
			require.Equal(t, deadletter.Replayed, step.Verdicts[0].Outcome)
			oneByOne = carryOut(oneByOne, step, failure.Add(time.Minute+time.Duration(i)*time.Second))
		}
		want, got := oneByOne.Matches[0], merged.Matches[0]
		require.Equal(t, want.Version, got.Version)
		for _, name := range poolFields {
			require.Equal(t, want.Fields[name], got.Fields[name], name)
		}
	})
}
