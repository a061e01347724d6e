package store_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
	"airtable-replay/internal/store/storetest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// Claiming 100,000 entries by a selector, and the bare UPDATE … RETURNING of the same rows beside it
// (design: budgets, at most 3).
func BenchmarkClaimSelector(b *testing.B) {
	s := unmirrored(b)
	s.fill(b, 200_000)
	c := runOf(store.Filter{Reason: deadletter.ReasonOther})
	var bare, claimed time.Duration
	for b.Loop() {
		b.StopTimer()
		bare += s.bareUpdate(b)
		s.exec(b, `VACUUM ANALYZE entry`)
		b.StartTimer()
		began := time.Now()
		require.Equal(b, 100_000, s.claim(b, c).Count)
		claimed += time.Since(began)
		b.StopTimer()
		s.exec(b, `UPDATE entry SET status = 'pending_review' WHERE status = 'replaying'`)
		s.exec(b, `VACUUM ANALYZE entry`)
		b.StartTimer()
	}
	storetest.Budget{Unit: "claim/bare-update", Figure: claimed.Seconds() / bare.Seconds(), Target: 3, Floor: 1}.Report(b)
}

func (b *bundle) bareUpdate(t testing.TB) time.Duration {
	t.Helper()
	tx, err := b.db.Pool.Begin(t.Context())
	require.NoError(t, err)
	began := time.Now()
	rows, err := tx.Query(t.Context(), `UPDATE entry SET status = 'replaying', claim = claim + 1 WHERE status = 'pending_review' AND reason_code = 'other' RETURNING id::text`)
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Len(t, ids, 100_000)
	took := time.Since(began)
	require.NoError(t, tx.Rollback(t.Context()))
	return took
}

// A page of the list among a million entries, against the same among ten thousand: the slowest of several
// filters, at its beginning and in its middle (design: budgets, at most 1.3).
func BenchmarkListPage(b *testing.B) {
	few, many := unmirrored(b), unmirrored(b)
	few.fill(b, 10_000)
	many.fill(b, 1_000_000)
	worst := 0.0
	for b.Loop() {
		for _, f := range []store.Filter{{}, {Status: deadletter.PendingReview}, {Reason: deadletter.ReasonOther}, {Source: sourceOf(orders)}} {
			for _, middle := range []bool{false, true} {
				worst = max(worst, pageRatio(b, f, middle, many, few))
			}
		}
	}
	storetest.Budget{Unit: "page-of-1000000/of-10000", Figure: worst, Target: 1.3, Floor: 1}.Report(b)
}

// pageRatio is the median time of a page of one over that of another, read in turns, warm.
func pageRatio(t testing.TB, f store.Filter, middle bool, many, few *bundle) float64 {
	t.Helper()
	manyPage, fewPage := store.Page{Limit: 50}, store.Page{Limit: 50}
	if middle {
		manyPage.Cursor, fewPage.Cursor = many.middle(t, 1_000_000), few.middle(t, 10_000)
	}
	var manyTook, fewTook []float64
	for range 201 {
		manyTook = append(manyTook, many.pageTime(t, f, manyPage))
		fewTook = append(fewTook, few.pageTime(t, f, fewPage))
	}
	slices.Sort(manyTook)
	slices.Sort(fewTook)
	return manyTook[100] / fewTook[100]
}

func (b *bundle) middle(t testing.TB, size int) string {
	t.Helper()
	_, cursor, err := b.store.ListEntries(t.Context(), store.Filter{FirstAttemptTo: failed.Add(time.Duration(size/2) * time.Second)}, store.Page{Limit: 1})
	require.NoError(t, err)
	return cursor
}

// pageTime is the time of a page, in seconds.
func (b *bundle) pageTime(t testing.TB, f store.Filter, page store.Page) float64 {
	t.Helper()
	began := time.Now()
	es, _, err := b.store.ListEntries(t.Context(), f, page)
	took := time.Since(began).Seconds()
	require.NoError(t, err)
	require.Len(t, es, 50)
	return took
}

// Taking the next chunk while 100,000 entries wait.
func BenchmarkTakeChunk(b *testing.B) {
	s := unmirrored(b)
	s.fill(b, 200_000)
	s.claim(b, runOf(store.Filter{Reason: deadletter.ReasonOther}))
	s.exec(b, `INSERT INTO record_mark (target_table, record_key, rest_until) SELECT target_table, record_key, CASE WHEN random() < 0.1 THEN replay_now() + interval '1 hour' END FROM entry`)
	s.exec(b, `VACUUM ANALYZE`)
	l := s.lease(b, orders)
	for b.Loop() {
		require.Len(b, s.take(b, l).Items, 10)
	}
}

// Accepting a press while 100,000 entries wait for the same base.
func BenchmarkPress(b *testing.B) {
	s := unmirrored(b)
	s.fill(b, 200_000)
	s.claim(b, runOf(store.Filter{Reason: deadletter.ReasonOther}))
	s.exec(b, `VACUUM ANALYZE`)
	ids := s.listed(b, store.Filter{Status: deadletter.PendingReview}, 200, nil)
	for i := 0; b.Loop(); i++ {
		require.Equal(b, 1, s.claim(b, press(ids[i%len(ids)])).Count)
	}
}

// tracer collects the queries of a pool.
type tracer struct{ queries []pgx.TraceQueryStartData }

// TraceQueryStart implements pgx.QueryTracer.
func (q *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	q.queries = append(q.queries, data)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (*tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// The queries of every press, pass and page find what they need by an index, among 200,000 entries.
func BenchmarkPlans(b *testing.B) {
	s := unmirrored(b)
	s.fill(b, 200_000)
	run := s.claim(b, runOf(store.Filter{Reason: deadletter.ReasonOther})).RunID
	s.exec(b, `INSERT INTO record_mark (target_table, record_key) SELECT target_table, record_key FROM entry`)
	s.exec(b, `VACUUM ANALYZE`)
	l, _, err := s.store.AcquireLease(b.Context(), orders, "bench", time.Hour)
	require.NoError(b, err)
	cfg, err := pgxpool.ParseConfig(s.db.URL)
	require.NoError(b, err)
	q := &tracer{}
	cfg.ConnConfig.Tracer = q
	pool, err := pgxpool.NewWithConfig(b.Context(), cfg)
	require.NoError(b, err)
	defer pool.Close()
	s.store = store.New(pool, "")
	pending := s.listed(b, store.Filter{Status: deadletter.PendingReview, FirstAttemptTo: failed.Add(time.Minute)}, 10, nil)
	q.queries = nil
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"take chunk", func() { s.take(b, l) }},
		{"press", func() { s.claim(b, press(pending[0])) }},
		{"siblings", func() {
			_, err := s.store.OpenSiblings(b.Context(), pending[1])
			require.NoError(b, err)
			group(b, s, pending[1])
		}},
		{"lists", func() { s.pages(b, run) }},
		{"find base", func() { _, err := s.store.FindBase(b.Context(), orders); require.NoError(b, err) }},
		{"release", func() { s.release(b, l) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.do()
			}
			for _, query := range q.queries {
				s.requireIndexed(b, query)
			}
			q.queries = nil
		})
	}
}

// pages lists a page by each filter.
func (b *bundle) pages(t testing.TB, run string) {
	t.Helper()
	for _, f := range []store.Filter{
		{}, {Status: deadletter.PendingReview}, {Outcome: deadletter.NeedsReview}, {Reason: deadletter.ReasonOther}, {Source: sourceOf(orders)},
		{Target: targetOf(orders)}, {TargetID: "O-7"}, {Run: run}, {Owner: "nobody"}, {FirstAttemptFrom: failed, FirstAttemptTo: failed.Add(time.Hour)},
		{Run: run, Status: deadletter.Replaying}, {Status: deadletter.PendingReview, Reason: deadletter.ReasonNoMatch},
	} {
		_, _, err := b.store.ListEntries(t.Context(), f, store.Page{Limit: 50})
		require.NoError(t, err)
	}
}

// big are the tables of which no query of a press, pass or page may read all.
var big = []string{"entry", "run_entry", "entry_history", "entry_payload", "record_mark"}

// requireIndexed explains a query that was run, and refuses a plan that reads all of a big table.
func (b *bundle) requireIndexed(t testing.TB, query pgx.TraceQueryStartData) {
	t.Helper()
	word := strings.Fields(query.SQL)[0]
	if !slices.Contains([]string{"SELECT", "WITH", "UPDATE", "INSERT", "(SELECT"}, word) {
		return
	}
	tx, err := b.db.Pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	var plan []byte
	require.NoError(t, tx.QueryRow(t.Context(), "EXPLAIN (FORMAT JSON) "+query.SQL, query.Args...).Scan(&plan), "%s", query.SQL)
	var root []struct{ Plan node }
	require.NoError(t, json.Unmarshal(plan, &root))
	for _, n := range root[0].Plan.all() {
		if strings.HasSuffix(n.Type, "Seq Scan") && slices.Contains(big, n.Relation) {
			t.Errorf("%s reads all of %s:\n%s", word, n.Relation, query.SQL)
		}
	}
}

// node is a step of a plan.
type node struct {
	Type     string `json:"Node Type"`
	Relation string `json:"Relation Name"`
	Plans    []node
}

func (n node) all() []node {
	out := []node{n}
	for _, p := range n.Plans {
		out = append(out, p.all()...)
	}
	return out
}
