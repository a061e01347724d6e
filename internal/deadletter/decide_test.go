package deadletter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/deadletter"
)

// TestMembersOfUnlikeKindsAreNotCompared: members of one case share a version field, so a mixture is
// a fault somewhere; nothing is guessed from it.
func TestMembersOfUnlikeKindsAreNotCompared(t *testing.T) {
	t.Parallel()

	c := deadletter.Case{
		Rules:   orders(),
		Matches: []deadletter.Record{{ID: "recA", Fields: map[string]any{}}},
		Members: []deadletter.Member{
			{ID: "W1", Kind: deadletter.MemberWrite, Version: parse(t, numbers, "7", ""), Fields: map[string]any{"Status": "Shipped"}},
			{ID: "W2", Kind: deadletter.MemberWrite, Version: parse(t, timestamps, "2026-10-05T09:00:00Z", ""), Fields: map[string]any{"Status": "Delivered"}},
		},
	}
	p := deadletter.Decide(c)
	requireSound(t, c, p)
	for _, v := range p.Verdicts {
		require.Equal(t, deadletter.NeedsReview, v.Outcome)
		require.Equal(t, deadletter.ReasonVersionKindMismatch, v.Reason)
	}
}

// TestUnsetRulesAreTheStrictOnes: a target whose rules were left empty sends conflicts to review, and
// a member whose mode or kind was left empty passes both checks as an entry.
func TestUnsetRulesAreTheStrictOnes(t *testing.T) {
	t.Parallel()

	rules := orders()
	rules.OnSharedChange = ""
	c := deadletter.Case{
		Rules: rules,
		Matches: []deadletter.Record{{
			ID: "recA", Version: parse(t, numbers, "1", ""),
			Fields: map[string]any{"Notes": "call first", "Notes Changed At": "2026-10-05T09:00:00.000Z"},
		}},
		Members: []deadletter.Member{{
			ID: "E1", Version: parse(t, numbers, "2", ""), FirstAttemptAt: failure,
			Fields: map[string]any{"Status": "Shipped", "Notes": "leave at door"},
		}},
	}
	p := deadletter.Decide(c)
	requireSound(t, c, p)
	require.Equal(t, deadletter.NeedsReview, p.Verdicts[0].Outcome)
	require.Equal(t, deadletter.ReasonSharedFieldChanged, p.Verdicts[0].Reason)
}

// TestNothingWaits: a record for which nothing waits gets an empty plan.
func TestNothingWaits(t *testing.T) {
	t.Parallel()

	p := deadletter.Decide(deadletter.Case{Rules: orders()})
	require.Equal(t, deadletter.ActionNone, p.Action)
	require.Empty(t, p.Verdicts)
}
