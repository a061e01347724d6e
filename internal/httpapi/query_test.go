package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/replay"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestLimit is case B96: nothing is clamped without a word.
func TestLimit(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1/entries", "/v1/runs"} {
		for query, used := range map[string]int{"": 50, "?limit=1": 1, "?limit=200": 200, "?limit=201": 200, "?limit=1000000": 200} {
			b := setup(t)
			a := b.call(t, request{method: "GET", path: path + query})
			require.Equal(t, 200, a.status)
			require.EqualValues(t, used, gjson.Get(a.body, "limit").Int(), "the answer tells the limit that was used")
			require.Equal(t, replay.Page{Limit: used}, b.calls[len(b.calls)-1])
		}
		for _, bad := range []string{"-1", "0", "abc", "", "1.5", "1&limit=2"} {
			b := setup(t)
			a := b.call(t, request{method: "GET", path: path + "?limit=" + bad})
			require.Equal(t, 400, a.status, bad)
			p := a.problem(t)
			require.Equal(t, "limit", p.Errors[0].Field)
			require.Contains(t, p.Errors[0].Detail, "1 or more")
			require.Empty(t, b.calls)
		}
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	const query = "?status=resolved&outcome=superseded&reason=no_match&source=s&target=Orders&target_id=O%2F1&run=0199A0C4-0000-7000-8000-000000000002" +
		"&owner=ada&first_attempt_from=2026-10-04T10:00:00%2B02:00&first_attempt_to=2026-10-04T09:00:00Z&q=%C3%A4"
	want := replay.Filter{
		Status: deadletter.Resolved, Outcome: deadletter.Superseded, Reason: deadletter.ReasonNoMatch, Source: "s", Target: "Orders", TargetID: "O/1",
		Run: runID, Owner: "ada", FirstAttemptFrom: at(8), FirstAttemptTo: at(9), Q: "ä",
	}
	b := setup(t)
	require.Equal(t, 200, b.call(t, request{method: "GET", path: "/v1/entries" + query + "&cursor=abc&limit=7"}).status)
	require.Equal(t, 200, b.call(t, request{method: "GET", path: "/v1/entries/summary" + query}).status)
	require.Empty(t, cmp.Diff([]any{want, replay.Page{Limit: 7, Cursor: "abc"}, want}, b.calls))
}

func TestFaultyQueries(t *testing.T) {
	t.Parallel()
	for query, rules := range map[string][]string{
		"status=open":                            {"status one_of"},
		"status=":                                {"status one_of"},
		"outcome=x":                              {"outcome one_of"},
		"reason=x":                               {"reason one_of"},
		"run=7":                                  {"run id"},
		"q=%00":                                  {"q no_nul"},
		"source=%ff":                             {"source utf8"},
		"statuss=x&z=1":                          {"statuss unknown", "z unknown"},
		"first_attempt_from=2026-10-04":          {"first_attempt_from rfc3339"},
		"first_attempt_from=2026-10-04T08:00:00": {"first_attempt_from rfc3339"},
		"first_attempt_to=yesterday&limit=0&outcome=x": {"outcome one_of", "first_attempt_to rfc3339", "limit minimum"},
		"status=resolved&status=ignored":               {"status format"},
		"q=" + strings.Repeat("x", 201):                {"q max_length"},
		"cursor=" + strings.Repeat("x", 1001):          {"cursor max_length"},
	} {
		b := setup(t)
		a := b.call(t, request{method: "GET", path: "/v1/entries?" + query})
		require.Equal(t, 400, a.status, query)
		require.Equal(t, "/problems/malformed-request", a.problem(t).Type)
		require.Equal(t, rules, a.problem(t).rules(), query)
		require.Empty(t, b.calls)
	}
	b := setup(t)
	require.Equal(t, 400, b.call(t, request{method: "GET", path: "/v1/entries?q=%zz"}).status)
	require.Equal(t, []string{"status unknown"}, b.call(t, request{method: "GET", path: "/v1/bases?status=halted"}).problem(t).rules())
	require.Equal(t, []string{"dry_run unknown"}, b.call(t, request{method: "POST", path: "/v1/runs?dry_run=true", body: bodies["StartRun"]}).problem(t).rules())
	require.Empty(t, b.calls)
}

func TestPlusInATimeIsExplained(t *testing.T) {
	t.Parallel()
	a := setup(t).call(t, request{method: "GET", path: "/v1/entries?first_attempt_from=2026-10-04T10:00:00+02:00"})
	require.Equal(t, 400, a.status)
	require.Contains(t, a.problem(t).Detail, "%2B")
}

func TestNextCursorIsNullAtTheEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, path := range []string{"/v1/entries", "/v1/runs"} {
		b.next = ""
		require.Equal(t, "null", gjson.Get(b.call(t, request{method: "GET", path: path}).body, "next_cursor").Raw)
		b.next = "abc"
		require.Equal(t, "abc", gjson.Get(b.call(t, request{method: "GET", path: path}).body, "next_cursor").String())
	}
}

func TestPathsTakeBothKindsOfEntryID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, id := range []string{entryID, strings.ToUpper(entryID), "recDeadLetter0001"} {
		require.Equal(t, 200, b.call(t, request{method: "GET", path: "/v1/entries/" + id}).status)
	}
	require.Equal(t, []any{entryID, entryID, "recDeadLetter0001"}, b.calls)
}

func TestHeadIsAnsweredAsGet(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for path, status := range map[string]int{"/healthz": 200, "/v1/entries/" + entryID: 200, "/v1/entries/x": 404} {
		require.Equal(t, status, b.call(t, request{method: http.MethodHead, path: path}).status, path)
	}
	require.Equal(t, 401, b.call(t, request{method: http.MethodHead, path: "/v1/entries", token: "-"}).status)
}
