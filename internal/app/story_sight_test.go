package app_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// What the stories look at.

// requireCounts holds some members of an object of numbers to their values.
func requireCounts(t *testing.T, got apptest.Doc, want map[string]int) {
	t.Helper()
	for name, n := range want {
		require.Equal(t, fmt.Sprint(n), fmt.Sprint(got[name]), "%s of %v", name, got)
	}
}

// skippedBy is the reason of every field that an entry's replay left out.
func skippedBy(e apptest.Doc) map[string]any {
	reasons := map[string]any{}
	skipped, _ := apptest.Outcome(e)["fields_skipped"].([]any)
	for _, s := range skipped {
		reasons[s.(apptest.Doc)["field"].(string)] = s.(apptest.Doc)["reason"]
	}
	return reasons
}

// number is a cell of the sandbox as its digits.
func number(cell any) string { return fmt.Sprint(cell) }

// sent is one record of a write request's body as it went over the wire, member by member.
func sent(t *testing.T, r sandbox.Request) []map[string]json.RawMessage {
	t.Helper()
	var body struct {
		Records []map[string]json.RawMessage `json:"records"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.Body), &body), r.Body)
	return body.Records
}
