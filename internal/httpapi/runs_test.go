package httpapi_test

import (
	"testing"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/replay"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func TestRunIsHandedOnInFull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.call(t, request{method: "POST", path: "/v1/runs", body: `{
		"selector": {"ids": ["` + entryID + `", "recDeadLetter0001"], "reason": "no_match", "outcome": "needs_review", "source": "s", "target": "t", "run": "` + runID + `",
			"owner": "o", "first_attempt_from": "2026-10-04T10:00:00+02:00", "first_attempt_to": "2026-10-04T09:00:00Z"},
		"mode": "chosen_fields", "fields": ["A"], "expect": {"` + entryID + `": {"A": 1}, "recDeadLetter0001": {"A": null}},
		"with_siblings": true, "limit": 7, "dry_run": true, "requested_by": "ada", "note": "n"
	}`})
	require.Equal(t, 202, a.status, a.body)
	require.Equal(t, "/v1/runs/"+runID, a.header.Get("Location"))
	got := b.calls[0].(replay.RunRequest)
	require.Equal(t, "1", got.Expect[entryID]["A"].(interface{ String() string }).String())
	got.Expect[entryID]["A"] = "seen"
	require.Empty(t, cmp.Diff(replay.RunRequest{
		Selector: deadletter.Selector{
			IDs: []string{entryID, "recDeadLetter0001"}, Reason: deadletter.ReasonNoMatch, Outcome: deadletter.NeedsReview, Source: "s", Target: "t", Run: runID,
			Owner: "o", FirstAttemptFrom: at(8), FirstAttemptTo: at(9),
		},
		Mode: deadletter.ChosenFields, Fields: []string{"A"}, Expect: map[string]map[string]any{entryID: {"A": "seen"}, "recDeadLetter0001": {"A": nil}},
		WithSiblings: true, Limit: 7, DryRun: true, RequestedBy: "ada", Note: "n", Admin: true,
	}, got))
}

func TestRunDefaults(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, 202, b.call(t, request{method: "POST", path: "/v1/runs", token: "replay", body: `{"selector": {"owner": "o", "ids": []}}`}).status)
	require.Empty(t, cmp.Diff([]any{replay.RunRequest{
		Selector: deadletter.Selector{Owner: "o"}, Mode: deadletter.Checked, RequestedBy: "replay-token",
	}}, b.calls))
}

// TestEmptySelector is mission B1: a selector of nothing would take everything.
func TestEmptySelector(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `{"selector": {}}`, `{"selector": {"ids": []}}`, `{"selector": {"source": "", "run": "", "first_attempt_from": null}}`} {
		b := setup(t)
		a := b.call(t, request{method: "POST", path: "/v1/runs", body: body})
		require.Equal(t, 422, a.status, body)
		require.Equal(t, "/problems/empty-selection", a.problem(t).Type)
		require.Equal(t, []string{"selector required"}, a.problem(t).rules())
		require.Empty(t, b.calls)
	}
}

func TestFaultyRuns(t *testing.T) {
	t.Parallel()
	const one = `"selector": {"ids": ["` + entryID + `"]}, `
	for body, rules := range map[string][]string{
		`{"selector": {"ids": ["` + entryID + `", "x", ""]}}`: {"selector.ids[1] id", "selector.ids[2] id"},
		`{"selector": {"reason": "x", "outcome": "", "run": "y", "first_attempt_to": "z"}}`: {
			"selector.reason one_of", "selector.outcome one_of", "selector.run id", "selector.first_attempt_to rfc3339",
		},
		`{` + one + `"limit": 0}`:                                                  {"limit minimum"},
		`{` + one + `"limit": -1}`:                                                 {"limit minimum"},
		`{` + one + `"mode": "x"}`:                                                 {"mode one_of"},
		`{` + one + `"fields": ["A"]}`:                                             {"fields mode"},
		`{` + one + `"expect": {"x": {}}}`:                                         {"expect mode"},
		`{` + one + `"mode": "chosen_fields", "fields": ["A"]}`:                    {"expect required"},
		`{` + one + `"mode": "overwrite", "expect": {}}`:                           {"expect required", "note required"},
		`{` + one + `"mode": "overwrite", "note": "n", "expect": {"x": {"A": 1}}}`: {"expect.x id", "expect." + entryID + " required"},
		`{` + one + `"mode": "chosen_fields", "fields": ["A"], "expect": {"` + entryID + `": {"B": 1}}}`: {
			"expect." + entryID + ".A required",
		},
	} {
		b := setup(t)
		a := b.call(t, request{method: "POST", path: "/v1/runs", body: body})
		require.Equal(t, 422, a.status, body)
		require.ElementsMatch(t, rules, a.problem(t).rules(), body)
		require.Empty(t, b.calls)
	}
}
