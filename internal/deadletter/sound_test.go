package deadletter_test

import (
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/deadletter"
)

// requireSound holds a plan against the promises that every plan keeps, whatever its case.
func requireSound(t require.TestingT, c deadletter.Case, p deadletter.Plan) {
	require.Len(t, p.Verdicts, len(c.Members), "one verdict per member")
	writing, carriers := 0, 0
	for i, v := range p.Verdicts {
		require.Equal(t, c.Members[i].ID, v.Member, "verdicts stand in the order of the members")
		require.Contains(t, deadletter.Outcomes(), v.Outcome)
		require.NotEmpty(t, v.Note, "every outcome is explained")
		require.Equal(t, v.Outcome == deadletter.Replayed, v.Reason == "", "every refusal and skip has a reason code")
		if v.Reason != "" {
			require.Contains(t, deadletter.Reasons(), v.Reason)
		}
		requireAccounted(t, c.Members[i], v)
		if v.InWrite() {
			writing++
			if !v.Merged {
				carriers++
			}
		} else {
			require.Empty(t, v.Fields, "who takes no part in the write has no fields in it")
			require.False(t, v.Merged)
		}
	}
	require.Equal(t, min(writing, 1), carriers, "one member carries the write, the others are merged into it")
	if p.Writes() {
		require.NotZero(t, writing, "no write without a member that asked for it")
	} else {
		require.Empty(t, p.Fields)
		require.True(t, p.Version.IsZero(), "a plan that writes nothing leaves the version alone")
	}
	requireBefore(t, c, p)
	requireCarried(t, c, p)
}

// requireAccounted: every field of a settled member stands in Fields or in Skipped, once; every field
// of every member stands in Checks, once, in order.
func requireAccounted(t require.TestingT, m deadletter.Member, v deadletter.Verdict) {
	var names, checked, settled []string
	for name := range m.Fields {
		names = append(names, name)
	}
	for name, value := range v.Fields {
		require.Equal(t, m.Fields[name], value)
		settled = append(settled, name)
	}
	for _, skip := range v.Skipped {
		require.NotEmpty(t, skip.Reason, "every skipped field has a reason")
		require.Equal(t, m.Fields[skip.Field], skip.Incoming)
		settled = append(settled, skip.Field)
	}
	for _, check := range v.Checks {
		require.NotEmpty(t, check.Why)
		if !v.InWrite() {
			require.NotEqual(t, deadletter.FieldWrite, check.Action)
		}
		checked = append(checked, check.Field)
	}
	slices.Sort(names)
	slices.Sort(settled)
	require.Equal(t, names, checked)
	if v.Outcome.StatusAfter() == deadletter.Resolved {
		require.Equal(t, names, settled)
	} else {
		require.Equal(t, settled, slices.Compact(slices.Clone(settled)))
	}
}

// requireBefore: Values Before holds exactly the fields that are written, as the record has them.
func requireBefore(t require.TestingT, c deadletter.Case, p deadletter.Plan) {
	require.Len(t, p.Before, len(p.Fields))
	for name := range p.Fields {
		before, ok := p.Before[name]
		require.True(t, ok)
		if p.Action == deadletter.ActionCreate {
			require.Nil(t, before)
			continue
		}
		require.Equal(t, c.Matches[0].Fields[name], before)
	}
}

// requireCarried: what is written is some writing member's value, and every value that a member is
// told of is then on the record.
func requireCarried(t require.TestingT, c deadletter.Case, p deadletter.Plan) {
	asked := map[string]bool{}
	for _, v := range p.Verdicts {
		for name, value := range v.Fields {
			after, written := p.Fields[name]
			if !written && p.Action != deadletter.ActionCreate {
				after = c.Matches[0].Fields[name]
			}
			same := cmp.Equal(after, value) || deadletter.Equal(c.Rules.Fields[name].Kind, after, value)
			require.True(t, same, "%s holds %v for %s", name, after, v.Member)
			asked[name] = true
		}
	}
	for name := range p.Fields {
		require.True(t, asked[name], "%s is written for nobody", name)
	}
}
