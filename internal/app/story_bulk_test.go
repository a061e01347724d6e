package app_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"airtable-replay/internal/app/apptest"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// A person's word on many entries at once: each that may not be changed is named with why.

func bulk(t *testing.T, w *apptest.World, verb string, body apptest.Doc) apptest.Doc {
	t.Helper()
	status, answer := w.Call(t, 0, http.MethodPost, "/v1/entries/"+verb, body)
	require.Equal(t, http.StatusOK, status, "%v", answer)
	return answer
}

// refusals are the refused IDs with their problems.
func refusals(answer apptest.Doc) map[string]string {
	out := map[string]string{}
	for _, r := range answer["refused"].([]any) {
		out[r.(apptest.Doc)["id"].(string)] = r.(apptest.Doc)["problem"].(string)
	}
	return out
}

func TestStoryBulk(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	var pending []string
	for i := range 3 {
		pending = append(pending, w.File(t, apptest.Order(fmt.Sprintf("X-%d", i), second, shipped), nil))
	}
	row := w.File(t, apptest.Order("X-9", second, shipped), apptest.Doc{"dlq_record_id": "recDeadLetter0001"})
	resolved := w.File(t, apptest.Order("O-3", second, shipped), nil)
	require.Equal(t, "resolved", w.Replay(t, resolved, nil)["status"])
	const nobody, noRow = "0199a0c4-0000-7000-8000-00000000dead", "recNoSuchRow00001"
	ids := append(slices.Clone(pending), "recDeadLetter0001", row, resolved, nobody, noRow, pending[0])

	answer := bulk(t, w, "ignore", apptest.Doc{"ids": ids, "reason": "test data"})
	require.ElementsMatch(t, append(slices.Clone(pending), row), answer["changed"])
	require.Equal(t, map[string]string{
		resolved: "/problems/entry-not-pending", nobody: "/problems/entry-not-found", noRow: "/problems/entry-not-found",
	}, refusals(answer))
	for _, id := range append(slices.Clone(pending), row) {
		require.Equal(t, "ignored", w.Entry(t, id)["status"])
		line := lastLine(t, w, id)
		require.Equal(t, []any{"ignored", "pending_review", "ignored", "tester", "test data"},
			[]any{line["event"], line["from_status"], line["to_status"], line["actor"], line["note"]})
	}
	require.Equal(t, "resolved", w.Entry(t, resolved)["status"])

	answer = bulk(t, w, "reopen", apptest.Doc{"ids": []string{pending[0], resolved, pending[0]}, "reason": "not test data"})
	require.ElementsMatch(t, []any{pending[0], resolved}, answer["changed"])
	require.Empty(t, answer["refused"])
	answer = bulk(t, w, "reopen", apptest.Doc{"ids": []string{pending[0], pending[1]}, "reason": "again"})
	require.Equal(t, []any{pending[1]}, answer["changed"])
	require.Equal(t, map[string]string{pending[0]: "/problems/entry-not-closed"}, refusals(answer))

	answer = bulk(t, w, "owner", apptest.Doc{"ids": ids, "assigned_owner": "ada"})
	require.Len(t, answer["changed"], 5)
	require.Equal(t, map[string]string{nobody: "/problems/entry-not-found", noRow: "/problems/entry-not-found"}, refusals(answer))
	require.Len(t, w.Read(t, "/v1/entries?owner=ada")["entries"], 5)
	bulk(t, w, "owner", apptest.Doc{"ids": []string{row}, "assigned_owner": "ada"})
	require.Equal(t, []string{"filed", "ignored", "assigned"}, events(t, w, row), "who has it already gets no second line")
	require.Equal(t, apptest.Doc{"assigned_owner": "ada", "before": ""}, lastLine(t, w, row)["detail"])
	bulk(t, w, "owner", apptest.Doc{"ids": []string{row}, "assigned_owner": ""})
	require.Equal(t, "", w.Entry(t, row)["assigned_owner"])
	require.Equal(t, "ignored", w.Entry(t, row)["status"], "any status can be given to somebody")
}

// A thousand at once is one transaction of few statements.
func TestStoryBulkOfAThousand(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{NoStart: true})
	rows, err := w.DB.Pool.Query(t.Context(), `
		INSERT INTO entry (id, filing_key, source_system, base, target_table, target_id, operation, raw_payload, reason_code, first_attempt_at)
		SELECT gen_random_uuid(), decode(md5(n::text), 'hex'), 'order-system', 'orders', 'Orders', 'X-' || n, 'update', '{}', 'other', now() FROM generate_series(1, 1000) n
		RETURNING id::text`)
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	answer := bulk(t, w, "ignore", apptest.Doc{"ids": ids, "reason": "all of them"})
	require.Len(t, answer["changed"], 1000)
	require.Empty(t, answer["refused"])
	require.Equal(t, "ignored", w.Entry(t, ids[999])["status"])
	require.Len(t, bulk(t, w, "reopen", apptest.Doc{"ids": ids, "reason": "all of them"})["changed"], 1000)
	require.Len(t, bulk(t, w, "owner", apptest.Doc{"ids": ids, "assigned_owner": "ada"})["changed"], 1000)
}
