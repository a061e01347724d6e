package store_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// listed are the IDs of all pages of a list, in order.
func (b *bundle) listed(t require.TestingT, f store.Filter, limit int, between func()) []string {
	var ids []string
	page := store.Page{Limit: limit}
	for {
		es, next, err := b.store.ListEntries(b.ctx, f, page)
		require.NoError(t, err)
		require.LessOrEqual(t, len(es), limit)
		for _, e := range es {
			ids = append(ids, e.ID)
		}
		if next == "" {
			return ids
		}
		require.Len(t, es, limit, "only the last page is short")
		page.Cursor = next
		if between != nil {
			between()
		}
	}
}

// Each filter alone, and all of them together, select what they say (E3).
func TestListFilters(t *testing.T) {
	t.Parallel()
	b := setup(t, "other")
	f := filing(orders, "wanted", "O-7")
	f.ReasonCode, f.AssignedOwner, f.ErrorDetail, f.FirstAttemptAt = deadletter.ReasonInvalidOption, "ada", "Delivered is no option", failed.Add(time.Hour)
	wanted := b.fileAs(t, f).ID
	plain := b.file(t, "plain").ID
	other := b.fileAs(t, filing("other", "other", "X-1")).ID
	run := b.claim(t, press(wanted)).RunID
	l := b.lease(t, orders)
	m := b.take(t, l).Items[0].Members[0]
	require.NoError(t, b.store.Settle(t.Context(), l, []store.Settlement{outcome(m, deadletter.NeedsReview, deadletter.ReasonSharedFieldChanged)}))
	require.NoError(t, b.store.IgnoreEntry(t.Context(), plain, "ann", ""))

	all := store.Filter{
		IDs: []string{wanted, plain}, Status: deadletter.PendingReview, Outcome: deadletter.NeedsReview, Reason: deadletter.ReasonInvalidOption,
		Source: sourceOf(orders), Target: targetOf(orders), TargetID: "O-7", Run: run, Owner: "ada",
		FirstAttemptFrom: failed.Add(time.Hour), FirstAttemptTo: failed.Add(time.Hour + time.Microsecond), Q: "DELIVERED IS",
	}
	for name, c := range map[string]struct {
		filter store.Filter
		want   []string
	}{
		"none":                 {store.Filter{}, []string{wanted, other, plain}},
		"IDs":                  {store.Filter{IDs: all.IDs}, []string{wanted, plain}},
		"status":               {store.Filter{Status: deadletter.Ignored}, []string{plain}},
		"outcome":              {store.Filter{Outcome: all.Outcome}, []string{wanted}},
		"reason":               {store.Filter{Reason: all.Reason}, []string{wanted}},
		"source":               {store.Filter{Source: sourceOf("other")}, []string{other}},
		"target":               {store.Filter{Target: targetOf(orders)}, []string{wanted, plain}},
		"target ID":            {store.Filter{TargetID: "X-1"}, []string{other}},
		"run":                  {store.Filter{Run: run}, []string{wanted}},
		"owner":                {store.Filter{Owner: "ada"}, []string{wanted}},
		"from, inclusive":      {store.Filter{FirstAttemptFrom: failed.Add(time.Hour)}, []string{wanted}},
		"to, exclusive":        {store.Filter{FirstAttemptTo: failed.Add(time.Hour)}, []string{other, plain}},
		"text of the error":    {store.Filter{Q: "is no OPTION"}, []string{wanted}},
		"text of the ID":       {store.Filter{Q: "x-"}, []string{other}},
		"text of the notes":    {store.Filter{Q: "because"}, []string{wanted}},
		"text with a pattern":  {store.Filter{Q: "%"}, nil},
		"all of them":          {all, []string{wanted}},
		"a run of nobody":      {store.Filter{Run: "0197c0de-0000-7000-8000-000000000000"}, nil},
		"status and owner":     {store.Filter{Status: deadletter.Ignored, Owner: "ada"}, nil},
		"run and status":       {store.Filter{Run: run, Status: deadletter.PendingReview}, []string{wanted}},
		"run and other status": {store.Filter{Run: run, Status: deadletter.Resolved}, nil},
	} {
		require.ElementsMatch(t, c.want, b.listed(t, c.filter, 2, nil), name)
		sum, err := b.store.SummarizeEntries(t.Context(), c.filter)
		require.NoError(t, err)
		n := 0
		for _, of := range sum.ByStatus {
			n += of
		}
		require.Equal(t, len(c.want), n, name)
	}
}

// The union of the pages is the whole list, each entry once, the newest first attempt first, whatever
// is filed in between (E3).
func TestPagesAddUp(t *testing.T) {
	t.Parallel()
	b := setup(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		owner := fmt.Sprint("owner ", n)
		file := func(at int) string {
			f := filing(orders, fmt.Sprint(owner, " ", b.next()), "r")
			f.AssignedOwner, f.FirstAttemptAt = owner, failed.Add(time.Duration(at)*time.Microsecond)
			return b.fileAs(t, f).ID
		}
		var before []string
		for _, at := range rapid.SliceOfN(rapid.IntRange(0, 3), 0, 12).Draw(rt, "instants") {
			before = append(before, file(at))
		}
		filter := store.Filter{Owner: owner}
		if rapid.Bool().Draw(rt, "by run") && len(before) > 0 {
			filter = store.Filter{Run: b.claim(t, runOf(store.Filter{Owner: owner})).RunID}
		}
		late := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 3).Draw(rt, "filed between the pages")
		ids := b.listed(rt, filter, rapid.IntRange(1, 5).Draw(rt, "limit"), func() {
			if len(late) > 0 {
				file(late[0])
				late = late[1:]
			}
		})
		seen := map[string]bool{}
		last := deadletter.Entry{}
		for i, id := range ids {
			require.False(rt, seen[id], "twice in the list")
			seen[id] = true
			e := b.show(t, id)
			require.True(rt, i == 0 || e.FirstAttemptAt.Before(last.FirstAttemptAt) || e.FirstAttemptAt.Equal(last.FirstAttemptAt) && e.ID < last.ID, "in order")
			last = e
		}
		for _, id := range before {
			require.True(rt, seen[id], "not in the list")
		}
	})
}

func TestCursorsAreOurs(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 3 {
		b.claim(t, press(b.file(t, fmt.Sprint(i)).ID))
	}
	_, ofEntries, err := b.store.ListEntries(t.Context(), store.Filter{}, store.Page{Limit: 1})
	require.NoError(t, err)
	_, ofRuns, err := b.store.ListRuns(t.Context(), store.Page{Limit: 1})
	require.NoError(t, err)
	encode := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	garbage := []string{
		"x", "%%%", encode("null"), encode("{}"), encode("[]"), encode(`{"i":"x"}`), encode(`{"a":"x","i":"1"}`), encode(`{"i":1}`), "\x00",
		encode(`{"i":"urn:uuid:0197c0de-0000-7000-8000-000000000000"}`), encode(`{"i":"99999999999999999999"}`),
	}
	for _, cursor := range append(slices.Clone(garbage), ofRuns) {
		_, _, err := b.store.ListEntries(t.Context(), store.Filter{}, store.Page{Limit: 1, Cursor: cursor})
		requireInvalidCursor(t, err)
	}
	for _, cursor := range append(slices.Clone(garbage), ofEntries) {
		_, _, err := b.store.ListRuns(t.Context(), store.Page{Limit: 1, Cursor: cursor})
		requireInvalidCursor(t, err)
	}
}

func requireInvalidCursor(t *testing.T, err error) {
	t.Helper()
	d := problem(t, err)
	require.Equal(t, deadletter.CodeInvalid, d.Code)
	require.Equal(t, "invalid-cursor", d.Problem)
	require.Equal(t, "cursor", d.Fields[0].Field)
}

func TestFiltersThatCannotBe(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for field, f := range map[string]store.Filter{"ids": {IDs: []string{"recX"}}, "run": {Run: "x"}} {
		_, _, err := b.store.ListEntries(t.Context(), f, store.Page{Limit: 1})
		require.Equal(t, field, problem(t, err).Fields[0].Field)
		_, err = b.store.SummarizeEntries(t.Context(), f)
		require.Equal(t, field, problem(t, err).Fields[0].Field)
		_, err = b.store.ClaimEntries(t.Context(), runOf(f))
		require.Equal(t, field, problem(t, err).Fields[0].Field)
	}
	_, _, err := b.store.ListEntries(t.Context(), store.Filter{Q: "a\x00"}, store.Page{Limit: 1})
	require.Equal(t, deadletter.CodeInvalid, problem(t, err).Code)
	es, next, err := b.store.ListEntries(t.Context(), store.Filter{}, store.Page{})
	require.NoError(t, err)
	require.Empty(t, es)
	require.Empty(t, next)
}

func TestSummaryCountsByEach(t *testing.T) {
	t.Parallel()
	b := setup(t, "other")
	for i := range 3 {
		f := filing(orders, fmt.Sprint(i), "r")
		f.FirstAttemptAt = failed.Add(time.Duration(i) * 40 * time.Minute)
		b.fileAs(t, f)
	}
	f := filing("other", "x", "x")
	f.ReasonCode, f.TargetTable = deadletter.ReasonNoMatch, ""
	require.NoError(t, b.store.IgnoreEntry(t.Context(), b.fileAs(t, f).ID, "ann", ""))
	sum, err := b.store.SummarizeEntries(t.Context(), store.Filter{})
	require.NoError(t, err)
	require.Equal(t, store.Summary{
		ByStatus: map[string]int{"pending_review": 3, "ignored": 1}, ByReason: map[string]int{"other": 3, "no_match": 1},
		BySource: map[string]int{sourceOf(orders): 3, sourceOf("other"): 1}, ByTarget: map[string]int{targetOf(orders): 3, "": 1},
		ByHour: map[time.Time]int{failed: 3, failed.Add(time.Hour): 1},
	}, sum)
}

func TestRunsAreListedTheNewestFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var want []string
	for i := range 5 {
		want = append([]string{b.claim(t, press(b.file(t, fmt.Sprint(i)).ID)).RunID}, want...)
	}
	var got []string
	page := store.Page{Limit: 2}
	for {
		runs, next, err := b.store.ListRuns(t.Context(), page)
		require.NoError(t, err)
		for _, r := range runs {
			require.Equal(t, 1, r.Counts.Claimed)
			got = append(got, r.ID)
		}
		if page.Cursor = next; next == "" {
			break
		}
	}
	require.Equal(t, want, got)
	_, err := b.store.ShowRun(t.Context(), "0197c0de-0000-7000-8000-000000000000")
	require.Equal(t, "run-not-found", problem(t, err).Problem)
	_, err = b.store.ShowRun(t.Context(), "x")
	require.Equal(t, "run-not-found", problem(t, err).Problem)
}
