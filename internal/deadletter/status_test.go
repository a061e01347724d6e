package deadletter_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/deadletter"
)

// TestDiagramShowsTheEdges holds README.md's diagram and Edges together.
func TestDiagramShowsTheEdges(t *testing.T) {
	t.Parallel()

	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var drawn []deadletter.Edge
	for _, m := range regexp.MustCompile(`(?m)^ *(\S+) --> (\S+): (\S+)$`).FindAllStringSubmatch(string(readme), -1) {
		from := deadletter.Status(m[1])
		if from == "[*]" {
			from = ""
		}
		drawn = append(drawn, deadletter.Edge{Transition: deadletter.Transition(m[3]), From: from, To: deadletter.Status(m[2])})
	}
	require.Equal(t, deadletter.Edges(), drawn)
}

// TestOutcomesLeadToTheStatusOfTheTable is the last column of the outcome table (mission O).
func TestOutcomesLeadToTheStatusOfTheTable(t *testing.T) {
	t.Parallel()

	want := map[deadletter.Outcome]deadletter.Status{
		deadletter.Replayed:          deadletter.Resolved,
		deadletter.PartiallyReplayed: deadletter.Resolved,
		deadletter.Superseded:        deadletter.Resolved,
		deadletter.NeedsReview:       deadletter.PendingReview,
		deadletter.ReplayFailed:      deadletter.PendingReview,
	}
	require.Len(t, deadletter.Outcomes(), len(want))
	for _, outcome := range deadletter.Outcomes() {
		require.Equal(t, want[outcome], outcome.StatusAfter(), outcome)
	}
}

// TestOwnFaults are the reasons that count towards the attempt cap, and no others (mission O3).
func TestOwnFaults(t *testing.T) {
	t.Parallel()

	var counted []deadletter.Reason
	seen := map[deadletter.Reason]bool{}
	for _, reason := range deadletter.Reasons() {
		require.Regexp(t, `^[a-z]+(_[a-z]+)*$`, string(reason))
		require.False(t, seen[reason], "%s stands twice", reason)
		seen[reason] = true
		if reason.OwnFault() {
			counted = append(counted, reason)
		}
	}
	require.ElementsMatch(t, []deadletter.Reason{
		"validation_failed", "unparseable_payload", "invalid_value", "invalid_option", "computed_field",
		"no_match", "multiple_matches", "payload_too_large", "bad_request",
	}, counted)
}
