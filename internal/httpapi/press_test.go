package httpapi_test

import (
	"testing"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/replay"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

const pressPath = "/v1/entries/" + entryID + "/replay"

func TestPressNeedsNoBody(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "{}", `{"requested_by": "", "fields": null, "expect": null}`} {
		b := setup(t)
		a := b.call(t, request{method: "POST", path: pressPath, token: "replay", body: body})
		require.Equal(t, 202, a.status, body)
		require.Empty(t, cmp.Diff([]any{replay.Press{EntryID: entryID, RequestedBy: "replay-token", Mode: deadletter.Checked}}, b.calls))
	}
}

func TestPressIsHandedOnInFull(t *testing.T) {
	t.Parallel()
	b := setup(t)
	a := b.call(t, request{method: "POST", path: pressPath, body: `{
		"requested_by": "ada", "mode": "overwrite", "expect": {"Status": null, "Tags": ["a"]}, "reason": "asked by sales", "with_siblings": true
	}`})
	require.Equal(t, 202, a.status, a.body)
	require.Empty(t, cmp.Diff([]any{replay.Press{
		EntryID: entryID, RequestedBy: "ada", Mode: deadletter.Overwrite, Expect: map[string]any{"Status": nil, "Tags": []any{"a"}},
		Reason: "asked by sales", WithSiblings: true, Admin: true,
	}}, b.calls))
}

func TestFaultyPresses(t *testing.T) {
	t.Parallel()
	for body, rules := range map[string][]string{
		`{"mode": "forced"}`:                                                        {"mode one_of"},
		`{"mode": "chosen_fields"}`:                                                 {"fields required", "expect required"},
		`{"mode": "chosen_fields", "fields": ["A"]}`:                                {"expect required"},
		`{"mode": "chosen_fields", "fields": ["A", "B"], "expect": {"A": 1}}`:       {"expect.B required"},
		`{"mode": "chosen_fields", "fields": [" "], "expect": {" ": 1}}`:            {"fields[0] required"},
		`{"mode": "overwrite"}`:                                                     {"reason required", "expect required"},
		`{"mode": "overwrite", "expect": {}, "reason": " "}`:                        {"reason required", "expect required"},
		`{"mode": "overwrite", "expect": {"A": 1}, "reason": "r", "fields": ["A"]}`: {"fields mode"},
		`{"fields": ["A"]}`:                                                         {"fields mode"},
		`{"mode": "unchanged_fields", "expect": {"A": 1}}`:                          {"expect mode"},
	} {
		b := setup(t)
		a := b.call(t, request{method: "POST", path: pressPath, body: body})
		require.Equal(t, 422, a.status, body)
		require.ElementsMatch(t, rules, a.problem(t).rules(), body)
		require.Empty(t, b.calls)
	}
}

func TestOverwriteNeedsAdmin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, body := range map[string]string{
		pressPath:  `{"mode": "overwrite", "expect": {"A": 1}, "reason": "r"}`,
		"/v1/runs": `{"mode": "overwrite", "expect": {"` + entryID + `": {"A": 1}}, "note": "r", "selector": {"ids": ["` + entryID + `"]}}`,
	} {
		a := b.call(t, request{method: "POST", path: path, token: "replay", body: body})
		require.Equal(t, 403, a.status)
		require.Contains(t, a.problem(t).Detail, "the scope admin,")
		require.Empty(t, b.calls)
	}
}

func TestPreviewAsksForAMode(t *testing.T) {
	t.Parallel()
	const path = "/v1/entries/recDeadLetter0001/preview"
	b := setup(t)
	require.Equal(t, 200, b.call(t, request{method: "GET", path: path}).status)
	require.Equal(t, 200, b.call(t, request{method: "GET", path: path + "?mode=chosen_fields&fields=A,B&fields=C"}).status)
	require.Empty(t, cmp.Diff([]any{
		replay.PreviewRequest{EntryID: "recDeadLetter0001", Mode: deadletter.Checked},
		replay.PreviewRequest{EntryID: "recDeadLetter0001", Mode: deadletter.ChosenFields, Fields: []string{"A,B", "C"}},
	}, b.calls))
	for query, rules := range map[string][]string{"mode=x": {"mode one_of"}, "mode=chosen_fields": {"fields required"}, "fields=A": {"fields mode"}} {
		a := b.call(t, request{method: "GET", path: path + "?" + query})
		require.Equal(t, 400, a.status)
		require.Equal(t, rules, a.problem(t).rules())
	}
}

func TestOrdersOnEntries(t *testing.T) {
	t.Parallel()
	for verb, token := range map[string]string{"reset": "admin", "ignore": "replay", "reopen": "admin"} {
		b := setup(t)
		a := b.call(t, request{method: "POST", path: "/v1/entries/" + entryID + "/" + verb, token: token, body: `{"reason": "because"}`})
		require.Equal(t, 200, a.status)
		require.Equal(t, []any{verb, replay.Order{EntryID: entryID, Actor: token + "-token", Reason: "because"}}, b.calls)
	}
}

func TestReopenNeedsAReason(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "{}", `{"reason": "  "}`} {
		b := setup(t)
		a := b.call(t, request{method: "POST", path: "/v1/entries/" + entryID + "/reopen", body: body})
		require.Equal(t, 422, a.status)
		require.Equal(t, []string{"reason required"}, a.problem(t).rules())
		require.Empty(t, b.calls)
	}
}

func TestStuckResets(t *testing.T) {
	t.Parallel()
	for body, ids := range map[string][]string{"": nil, "{}": nil, `{"ids": []}`: nil, `{"ids": ["` + entryID + `", "recDeadLetter0001"]}`: {entryID, "recDeadLetter0001"}} {
		b := setup(t)
		b.reset = 2
		a := b.call(t, request{method: "POST", path: "/v1/stuck/reset", body: body})
		require.JSONEq(t, `{"reset": 2}`, a.body)
		require.Equal(t, []any{ids, "admin-token"}, b.calls)
	}
}

func TestBasesAreNamedAsTheyAre(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Equal(t, 200, b.call(t, request{method: "POST", path: "/v1/bases/Q4%2F2026%20%231/halt", body: `{"reason": "why"}`}).status)
	require.Equal(t, 200, b.call(t, request{method: "POST", path: "/v1/bases/orders/resume"}).status)
	require.Equal(t, []any{"Q4/2026 #1", "why", "admin-token", "orders", "admin-token"}, b.calls)
}
