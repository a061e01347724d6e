package store_test

import (
	"fmt"
	"testing"

	"airtable-replay/internal/deadletter"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// What an entry was filed with cannot be changed by any statement (E1).
func TestFilingNeverChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := b.file(t, "a")
	before := b.state(t)
	for column, value := range map[string]string{
		"reason_code": "'no_match'", "error_detail": "'x'", "status_code": "500", "attempts": "7", "first_attempt_at": "now()", "source_system": "'x'",
		"operation": "'upsert'", "filing_key": "'x'", "created_at": "now()", "id": "gen_random_uuid()",
	} {
		_, err := b.db.Pool.Exec(t.Context(), fmt.Sprintf(`UPDATE entry SET %s = %s WHERE id = '%s'`, column, value, e.ID))
		require.ErrorContains(t, err, "what an entry was filed with never changes", column)
	}
	_, err := b.db.Pool.Exec(t.Context(), `UPDATE entry SET seq = DEFAULT`)
	require.ErrorContains(t, err, "what an entry was filed with never changes")
	require.Empty(t, cmp.Diff(before, b.state(t)))
	b.exec(t, `UPDATE entry SET reason_code = reason_code, assigned_owner = 'ada', target_id = 'b'`)
}

// History and payloads are only ever added to, and an entry is never deleted (E1, A1).
func TestHistoryAndPayloadsAreAppendOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.file(t, "a")
	before := b.state(t)
	for _, sql := range []string{
		`UPDATE entry_history SET note = 'x'`, `DELETE FROM entry_history`, `TRUNCATE entry_history`,
		`UPDATE entry_payload SET raw_payload = 'x'`, `DELETE FROM entry_payload`, `TRUNCATE entry_payload`, `TRUNCATE entry CASCADE`,
	} {
		_, err := b.db.Pool.Exec(t.Context(), sql)
		require.ErrorContains(t, err, "is append-only", sql)
	}
	_, err := b.db.Pool.Exec(t.Context(), `DELETE FROM entry`)
	require.ErrorContains(t, err, "an entry is never deleted")
	require.Empty(t, cmp.Diff(before, b.state(t)))
}

// The schema itself lets an entry go the ways of the diagram and no other (E2).
func TestSchemaKnowsTheEdges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	allowed := map[[2]deadletter.Status]bool{}
	for _, e := range deadletter.Edges() {
		allowed[[2]deadletter.Status{e.From, e.To}] = true
	}
	statuses := []deadletter.Status{deadletter.PendingReview, deadletter.Replaying, deadletter.Resolved, deadletter.Ignored}
	for _, from := range statuses {
		for _, to := range statuses {
			e := b.file(t, fmt.Sprint(from, to))
			b.exec(t, `ALTER TABLE entry DISABLE TRIGGER entry_keeps_transitions`)
			b.exec(t, `UPDATE entry SET status = $2 WHERE id = $1`, e.ID, from)
			b.exec(t, `ALTER TABLE entry ENABLE TRIGGER entry_keeps_transitions`)
			_, err := b.db.Pool.Exec(t.Context(), `UPDATE entry SET status = $2 WHERE id = $1`, e.ID, to)
			if from == to || allowed[[2]deadletter.Status{from, to}] {
				require.NoError(t, err)
				continue
			}
			require.ErrorContains(t, err, fmt.Sprintf("an entry does not go from %s to %s", from, to))
		}
	}
	_, err := b.db.Pool.Exec(t.Context(), `UPDATE entry SET status = 'done'`)
	require.ErrorContains(t, err, "does not go from")
}
