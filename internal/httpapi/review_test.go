package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"airtable-replay/internal/replay"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// What a person orders reaches the services in full, under the token's name.
func TestOrdersOfReviewersAreHandedOn(t *testing.T) {
	t.Parallel()
	one := 1
	for name, c := range map[string]struct {
		request
		want []any
	}{
		"edit": {
			request{method: "PUT", path: entryPath + "/payload", body: `{"raw_payload": "a\u0000<b>", "reason": "mended", "expect_revision": 1}`},
			[]any{replay.PayloadEdit{EntryID: entryID, Raw: []byte("a\x00<b>"), By: "admin-token", Reason: "mended", ExpectRevision: &one}},
		},
		"edit to nothing": {
			request{method: "PUT", path: "/v1/entries/recDeadLetter0001/payload", body: `{"raw_payload_base64": "", "reason": "mended", "expect_revision": null}`},
			[]any{replay.PayloadEdit{EntryID: "recDeadLetter0001", Raw: []byte{}, By: "admin-token", Reason: "mended"}},
		},
		"assign": {request{method: "POST", path: entryPath + "/owner", body: `{"assigned_owner": "ada"}`}, []any{entryID, "ada", "admin-token"}},
		"ignore many": {
			request{method: "POST", path: "/v1/entries/ignore", body: `{"ids": ["` + strings.ToUpper(entryID) + `", "recDeadLetter0001"]}`},
			[]any{"ignore", replay.BulkOrder{IDs: []string{entryID, "recDeadLetter0001"}, Actor: "admin-token"}},
		},
		"reopen many": {
			request{method: "POST", path: "/v1/entries/reopen", body: `{"ids": ["` + entryID + `"], "reason": "again"}`},
			[]any{"reopen", replay.BulkOrder{IDs: []string{entryID}, Actor: "admin-token", Reason: "again"}},
		},
		"assign many to nobody": {
			request{method: "POST", path: "/v1/entries/owner", body: `{"ids": ["` + entryID + `"], "assigned_owner": ""}`},
			[]any{[]string{entryID}, "", "admin-token"},
		},
		"restore": {
			request{method: "POST", path: entryPath + "/restore", body: `{"requested_by": "ada", "reason": "a wrong feed"}`},
			[]any{replay.RestoreRequest{EntryID: entryID, RequestedBy: "ada", Reason: "a wrong feed"}},
		},
		"restore for the token": {request{method: "POST", path: entryPath + "/restore"}, []any{replay.RestoreRequest{EntryID: entryID, RequestedBy: "admin-token"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			a := b.call(t, c.request)
			require.Less(t, a.status, 300, a.body)
			require.Empty(t, cmp.Diff(c.want, b.calls))
		})
	}
}

// A fault is named with its field and rule, and changes nothing.
func TestFaultsOfReviewersOrders(t *testing.T) {
	t.Parallel()
	many := strings.TrimSuffix(strings.Repeat(`"`+entryID+`",`, 1001), ",")
	for _, c := range []struct{ method, path, body, field, rule string }{
		{"PUT", entryPath + "/payload", `{"raw_payload": "{}"}`, "reason", "required"},
		{"PUT", entryPath + "/payload", `{"raw_payload": "{}", "reason": " "}`, "reason", "required"},
		{"PUT", entryPath + "/payload", `{"reason": "r"}`, "raw_payload", "required"},
		{"PUT", entryPath + "/payload", `{"raw_payload": "{}", "raw_payload_base64": "", "reason": "r"}`, "raw_payload_base64", "excluded"},
		{"PUT", entryPath + "/payload", `{"raw_payload_base64": "?", "reason": "r"}`, "raw_payload_base64", "base64"},
		{"PUT", entryPath + "/payload", `{"raw_payload": "{}", "reason": "r", "expect_revision": -1}`, "expect_revision", "minimum"},
		{"PUT", entryPath + "/payload", `{"raw_payload": {"id": 1}, "reason": "r"}`, "raw_payload", "type"},
		{"POST", entryPath + "/owner", `{}`, "assigned_owner", "required"},
		{"POST", entryPath + "/owner", `{"assigned_owner": "` + strings.Repeat("x", 201) + `"}`, "assigned_owner", "max_length"},
		{"POST", entryPath + "/owner", `{"owner": "ada"}`, "owner", "unknown"},
		{"POST", "/v1/entries/owner", `{"ids": ["` + entryID + `"]}`, "assigned_owner", "required"},
		{"POST", "/v1/entries/ignore", `{}`, "ids", "size"},
		{"POST", "/v1/entries/ignore", `{"ids": []}`, "ids", "size"},
		{"POST", "/v1/entries/ignore", `{"ids": [` + many + `]}`, "ids", "size"},
		{"POST", "/v1/entries/ignore", `{"ids": ["nonsense"]}`, "ids[0]", "id"},
		{"POST", "/v1/entries/reopen", `{"ids": ["` + entryID + `"]}`, "reason", "required"},
		{"POST", entryPath + "/restore", `{"reason": "` + strings.Repeat("x", 2001) + `"}`, "reason", "max_length"},
	} {
		t.Run(fmt.Sprintf("%s of %s", c.rule, c.field), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			a := b.call(t, request{method: c.method, path: c.path, body: c.body})
			require.Equal(t, 422, a.status, a.body)
			p := a.problem(t)
			require.Equal(t, c.field, p.Errors[0].Field, a.body)
			require.Equal(t, c.rule, p.Errors[0].Rule)
			require.Empty(t, b.calls)
		})
	}
}

// A restore is a creation: the same key gets the first answer again.
func TestRestoreHonoursIdempotencyKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	q := request{method: "POST", path: entryPath + "/restore", header: map[string]string{"Idempotency-Key": "k"}}
	first, again := b.call(t, q), b.call(t, q)
	require.Equal(t, 202, first.status)
	require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
	require.Equal(t, first.body, again.body)
	require.Len(t, b.calls, 1)
	require.True(t, b.inTx)
}
