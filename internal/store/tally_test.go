package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/stretchr/testify/require"
)

// tallied is what the tally says in each grain, and counted what the entries themselves say.
const (
	tallied = `SELECT coalesce(string_agg(line, ' ' ORDER BY line), '') FROM (SELECT concat_ws('|', grain, status, reason_code, source_system, target_table, nullif(hour, '-infinity') AT TIME ZONE 'UTC', sum(entries)) AS line
		FROM entry_tally GROUP BY grain, status, reason_code, source_system, target_table, hour HAVING sum(entries) <> 0) x`
	counted = `WITH e AS (SELECT *, date_trunc('hour', first_attempt_at, 'UTC') AT TIME ZONE 'UTC' AS hour FROM entry)
		SELECT coalesce(string_agg(line, ' ' ORDER BY line), '') FROM (
			SELECT concat_ws('|', 0, status, reason_code, source_system, target_table, hour, count(*)) AS line FROM e GROUP BY status, reason_code, source_system, target_table, hour
			UNION ALL SELECT concat_ws('|', 1, status, reason_code, source_system, target_table, count(*)) FROM e GROUP BY status, reason_code, source_system, target_table
			UNION ALL SELECT concat_ws('|', 2, status, '', '', '', hour, count(*)) FROM e GROUP BY status, hour) x`
)

func TestTallyIsWhatTheEntriesSay(t *testing.T) {
	t.Parallel()
	b := unmirrored(t)
	same := func() {
		t.Helper()
		require.Equal(t, b.value(t, counted), b.value(t, tallied))
	}
	b.fill(t, 300)
	same()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { require.NoError(t, b.store.SumTally(b.ctx)) })
	}
	all.Go(func() { b.exec(t, `UPDATE entry SET status = 'replaying' WHERE seq % 2 = 0`) })
	all.Go(func() { b.exec(t, `UPDATE entry SET status = 'ignored' WHERE seq % 2 = 1 AND seq % 3 = 0`) })
	all.Wait()
	same()
	b.exec(t, `UPDATE entry SET notes = 'x'`)
	b.exec(t, `UPDATE entry SET status = 'resolved', target_table = 'elsewhere' WHERE status = 'replaying'`)
	same()
	require.NoError(t, b.store.SumTally(b.ctx))
	same()
	require.Equal(t, "0", b.value(t, `SELECT count(*) FROM (SELECT 1 FROM entry_tally GROUP BY grain, status, reason_code, source_system, target_table, hour HAVING count(*) > 1 OR sum(entries) = 0) x`))
}

func TestCountsByGroupHourAndStatus(t *testing.T) {
	t.Parallel()
	b := unmirrored(t)
	file := func(reason deadletter.Reason, at time.Time) string {
		t.Helper()
		name := fmt.Sprint("C-", b.next())
		f := filing(orders, name, name)
		f.ReasonCode, f.FirstAttemptAt = reason, at
		e := b.fileAs(t, f)
		return e.ID
	}
	at := func(hour, minute int) time.Time { return time.Date(2026, 10, 1, hour, minute, 0, 0, time.UTC) }
	file(deadletter.ReasonNoMatch, at(3, 10))
	file(deadletter.ReasonNoMatch, at(3, 50))
	file(deadletter.ReasonNoMatch, at(9, 5))
	closed := file(deadletter.ReasonNoMatch, at(11, 0))
	file(deadletter.ReasonOther, at(9, 59))
	require.NoError(t, b.store.IgnoreEntry(b.ctx, closed, "ann", ""))

	waiting := store.TallyFilter{Status: deadletter.PendingReview}
	groups, err := b.store.CountGroups(b.ctx, waiting)
	require.NoError(t, err)
	require.Len(t, groups, 2)
	require.Equal(t, deadletter.ReasonNoMatch, groups[0].Reason)
	require.Equal(t, 3, groups[0].Entries)
	spans, err := b.store.SpansOf(b.ctx, waiting, []deadletter.Reason{deadletter.ReasonNoMatch, deadletter.ReasonOther, deadletter.ReasonCrashed})
	require.NoError(t, err)
	require.Equal(t, map[deadletter.Reason]store.Span{
		deadletter.ReasonNoMatch: {First: at(3, 10), Last: at(9, 5)}, deadletter.ReasonOther: {First: at(9, 59), Last: at(9, 59)},
	}, spans)
	require.Equal(t, 1, groups[1].Entries)

	hours, err := b.store.CountHours(b.ctx, waiting)
	require.NoError(t, err)
	require.Equal(t, []store.Hour{{At: at(3, 0), Entries: 2}, {At: at(9, 0), Entries: 2}}, hours)

	waiting.From, waiting.To = at(9, 0), at(10, 0)
	groups, err = b.store.CountGroups(b.ctx, waiting)
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{groups[0].Entries, groups[1].Entries})

	statuses, err := b.store.CountStatuses(b.ctx)
	require.NoError(t, err)
	require.Equal(t, map[deadletter.Status]int{deadletter.PendingReview: 4, deadletter.Ignored: 1}, statuses)

	for bound, want := range map[int]int{2: 2, 100: 3} {
		n, err := b.store.CountEntries(b.ctx, store.Filter{Status: deadletter.PendingReview, Reason: deadletter.ReasonNoMatch}, bound)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
}
