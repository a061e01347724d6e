package store_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
	"airtable-replay/internal/store/storetest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// orders is the base of most tests. The source, target and route of a base are named after it.
const orders = "orders"

var (
	morning = time.Date(2026, 10, 5, 8, 0, 0, 0, time.UTC) // where frozen clocks stand
	failed  = time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC) // First Attempt At unless said otherwise
	bounds  = store.Bounds{SendWithin: 5 * time.Second, RequestTimeout: 20 * time.Second, LandingBound: time.Minute}
)

// unanswered is how long after storing it a write of these bounds may land.
const unanswered = 85 * time.Second

// bundle is a store on a database of its own, which also is the mirror's.
type bundle struct {
	store *store.Store
	db    *storetest.DB
	ctx   context.Context
	count atomic.Int64
}

// next is a number that no other call gets.
func (b *bundle) next() int64 { return b.count.Add(1) }

func setup(t testing.TB, bases ...string) *bundle {
	t.Helper()
	db := storetest.NewDB(t)
	b := &bundle{store: store.New(db.Pool, orders), db: db, ctx: t.Context()}
	require.NoError(t, b.store.EnsureBases(t.Context(), append(bases, orders), []string{"owner"}))
	return b
}

// unmirrored is a bundle without a dead letter table, whose rows would be work too.
func unmirrored(t testing.TB, bases ...string) *bundle {
	t.Helper()
	b := setup(t, bases...)
	b.store = store.New(b.db.Pool, "")
	return b
}

// frozen is a bundle whose clock moves only by advance.
func frozen(t testing.TB, bases ...string) *bundle {
	t.Helper()
	b := setup(t, bases...)
	b.db.FreezeClock(t, morning)
	return b
}

func (b *bundle) advance(t testing.TB, by time.Duration) { b.db.Advance(t, by) }

// pool is a second pool on the same database with more connections, for races.
func (b *bundle) pool(t testing.TB, connections int32) *pgxpool.Pool {
	t.Helper()
	cfg, err := pgxpool.ParseConfig(b.db.LeanURL(t))
	require.NoError(t, err)
	cfg.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// wide is a second store on the same database with more connections.
func (b *bundle) wide(t testing.TB, connections int32) *store.Store {
	t.Helper()
	return store.New(b.pool(t, connections), orders)
}

func sourceOf(base string) string { return base + "-system" }
func targetOf(base string) string { return "Table of " + base }

func routes(bases ...string) []store.Route {
	var out []store.Route
	for _, base := range bases {
		out = append(out, store.Route{Source: sourceOf(base), Target: targetOf(base), Base: base})
	}
	return out
}

// filing is a dead letter about one record of a base; name tells it from others.
func filing(base, name, record string) store.Filing {
	return store.Filing{
		FilingKey: sha256.Sum256([]byte(name)), SourceSystem: sourceOf(base), Base: base, TargetTable: targetOf(base), TargetID: record,
		Operation: deadletter.Update, RawPayload: []byte(`{"name": "` + name + `"}`), ReasonCode: deadletter.ReasonOther, FirstAttemptAt: failed, Actor: "tester",
	}
}

func (b *bundle) fileAs(t testing.TB, f store.Filing) deadletter.Entry {
	t.Helper()
	e, created, err := b.store.FileEntry(t.Context(), f)
	require.NoError(t, err)
	require.True(t, created)
	return e
}

// file files an entry for a record of its own.
func (b *bundle) file(t testing.TB, name string) deadletter.Entry {
	t.Helper()
	return b.fileAs(t, filing(orders, name, name))
}

// fileIDs files one entry for each name.
func (b *bundle) fileIDs(t testing.TB, names ...string) []string {
	t.Helper()
	var ids []string
	for _, name := range names {
		ids = append(ids, b.file(t, name).ID)
	}
	return ids
}

// fileMany files entries, each about a record of its own.
func (b *bundle) fileMany(t testing.TB, n int) []string {
	t.Helper()
	var ids []string
	for i := range n {
		ids = append(ids, b.file(t, fmt.Sprint("entry ", i)).ID)
	}
	return ids
}

// press is a claim of entries by ID.
func press(ids ...string) store.Claim {
	return store.Claim{
		Run:    deadletter.Run{Kind: deadletter.RunPress, RequestedBy: "ann", Mode: deadletter.Checked, Selector: deadletter.Selector{IDs: ids}},
		Filter: store.Filter{IDs: ids}, Routes: routes(orders),
	}
}

// runOf is a claim by a filter.
func runOf(f store.Filter, bases ...string) store.Claim {
	return store.Claim{
		Run:    deadletter.Run{Kind: deadletter.RunMany, RequestedBy: "bob", Mode: deadletter.Checked, Note: "all of them"},
		Filter: f, Routes: routes(append(bases, orders)...),
	}
}

func (b *bundle) claim(t testing.TB, c store.Claim) store.Claimed {
	t.Helper()
	claimed, err := b.store.ClaimEntries(t.Context(), c)
	require.NoError(t, err)
	return claimed
}

// taken claims entries and returns which, in no order.
func (b *bundle) taken(t testing.TB, c store.Claim) []string {
	t.Helper()
	return b.claimedIDs(t, b.claim(t, c))
}

func (b *bundle) claimedIDs(t testing.TB, c store.Claimed) []string {
	t.Helper()
	if c.RunID == "" {
		return nil
	}
	rows, err := b.db.Pool.Query(t.Context(), `SELECT entry_id::text FROM run_entry WHERE run_id = $1`, c.RunID)
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Len(t, ids, c.Count)
	return ids
}

// lease takes the lease of a base with due work.
func (b *bundle) lease(t testing.TB, base string) store.Lease {
	t.Helper()
	l, ok, err := b.store.AcquireLease(t.Context(), base, "tester", 35*time.Second)
	require.NoError(t, err)
	require.True(t, ok, "the lease of %s", base)
	return l
}

func (b *bundle) release(t testing.TB, l store.Lease) (woken bool) {
	t.Helper()
	require.NoError(t, b.store.ReleaseLease(t.Context(), l, func(context.Context) error {
		woken = true
		return nil
	}))
	return woken
}

func (b *bundle) take(t testing.TB, l store.Lease) store.Chunk {
	t.Helper()
	c, err := b.store.TakeChunk(t.Context(), l)
	require.NoError(t, err)
	return c
}

func (b *bundle) show(t testing.TB, id string) deadletter.Entry {
	t.Helper()
	e, err := b.store.ShowEntry(t.Context(), id)
	require.NoError(t, err)
	return e
}

func (b *bundle) run(t testing.TB, id string) deadletter.Run {
	t.Helper()
	r, err := b.store.ShowRun(t.Context(), id)
	require.NoError(t, err)
	return r
}

func (b *bundle) history(t testing.TB, id string) []deadletter.HistoryLine {
	t.Helper()
	lines, err := b.store.ListEntryHistory(t.Context(), id)
	require.NoError(t, err)
	return lines
}

func (b *bundle) lastLine(t testing.TB, id string) deadletter.HistoryLine {
	t.Helper()
	lines := b.history(t, id)
	return lines[len(lines)-1]
}

// accept accepts one live write for a record and returns its ID.
func (b *bundle) accept(t testing.TB, base, record, payload string) string {
	t.Helper()
	ids, err := b.store.AcceptWrites(t.Context(), []store.Incoming{incoming(base, record, payload)})
	require.NoError(t, err)
	return ids[0]
}

func incoming(base, record, payload string) store.Incoming {
	return store.Incoming{
		SourceSystem: sourceOf(base), Base: base, TargetTable: targetOf(base), TargetID: record, Operation: deadletter.Upsert, RawPayload: []byte(payload),
	}
}

// work claims one entry and takes it under a lease.
func (b *bundle) work(t testing.TB, id string) (store.Lease, store.Item) {
	t.Helper()
	b.claim(t, press(id))
	l := b.lease(t, orders)
	for _, it := range b.take(t, l).Items {
		for _, m := range it.Members {
			if m.ID == id {
				return l, it
			}
		}
	}
	require.Fail(t, "the entry was not taken")
	return l, store.Item{}
}

// outcome settles a member.
func outcome(m store.Member, o deadletter.Outcome, reason deadletter.Reason) store.Settlement {
	s := store.Settlement{MemberRef: m.MemberRef, Verdict: deadletter.Verdict{Member: m.ID, Outcome: o, Reason: reason, Note: "because"}, Tries: m.Tries}
	if s.Verdict.InWrite() {
		s.Effect = deadletter.EffectUpdated
	}
	if m.Kind == deadletter.MemberWrite {
		f := filing(orders, "write "+m.ID, "")
		f.ReasonCode = reason
		s.Filing = &f
	}
	return s
}

// writeOf is the write of an item with all its members in it.
func writeOf(it store.Item) store.Intend {
	in := store.Intend{
		Ref: it.Ref, Clock: "Source Updated At",
		Plan: deadletter.Plan{
			Action: deadletter.ActionUpdate, RecordID: "rec" + it.TargetID, Fields: map[string]any{"Status": "Done"}, Before: map[string]any{"Status": "Pending"},
			Version: version(5),
		},
		VersionBefore: version(4),
	}
	for _, m := range it.Members {
		in.Members = append(in.Members, store.IntentMember{
			MemberRef: m.MemberRef, Verdict: deadletter.Verdict{Member: m.ID, Outcome: deadletter.Replayed, Fields: in.Plan.Fields},
		})
	}
	return in
}

func version(n int64) deadletter.Version {
	v, err := deadletter.ParseVersion(deadletter.VersionSpec{Kind: deadletter.VersionNumber}, strconv.FormatInt(n, 10), nil)
	if err != nil {
		panic(err)
	}
	return v
}

// intend stores the write of an item.
func (b *bundle) intend(t testing.TB, l store.Lease, in store.Intend) store.OpenIntent {
	t.Helper()
	ids, err := b.store.StoreIntents(t.Context(), l, []store.Intend{in}, nil, bounds)
	require.NoError(t, err)
	require.NotEmpty(t, ids[0])
	return b.intent(t, ids[0])
}

func (b *bundle) intent(t testing.TB, id string) store.OpenIntent {
	t.Helper()
	in, err := b.store.FindIntent(t.Context(), id)
	require.NoError(t, err)
	return in
}

// landed is the landing of an intent that settles all its members.
func landed(in store.OpenIntent, ref store.RecordRef) store.Landing {
	d := store.Landing{
		Intent: in, Ref: ref, Certain: true,
		Mark: store.Mark{RecordID: in.RecordID, Clocks: map[string]store.ClockMark{in.Clock: {Highest: in.Version, Stored: in.Version}}},
	}
	for _, m := range in.Members {
		d.Settlements = append(d.Settlements, store.Settlement{
			MemberRef: m.MemberRef, Verdict: m.Verdict, ValuesBefore: in.Before, RecordID: in.RecordID, Effect: deadletter.EffectUpdated,
			Wrote: in.Version, Tries: 1, StatusCode: 200,
		})
	}
	return d
}

// state is the whole content of the database, to be compared.
func (b *bundle) state(t testing.TB) map[string]string {
	t.Helper()
	tables := strings.Fields(`base token_budget run entry entry_payload entry_history run_entry write intent intent_member record_mark mirror_row
		notification api_token idempotency_key`)
	out := map[string]string{}
	for _, table := range tables {
		var rows string
		err := b.db.Pool.QueryRow(t.Context(), `SELECT coalesce(string_agg(t::text, E'\n' ORDER BY t::text), '') FROM `+table+` t`).Scan(&rows)
		require.NoError(t, err)
		out[table] = rows
	}
	return out
}

func (b *bundle) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	_, err := b.db.Pool.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// value reads one value as text.
func (b *bundle) value(t testing.TB, sql string, args ...any) string {
	t.Helper()
	var v *string
	require.NoError(t, b.db.Pool.QueryRow(t.Context(), sql, args...).Scan(&v))
	if v == nil {
		return "null"
	}
	return *v
}

// problem is the domain's error in err.
func problem(t testing.TB, err error) *deadletter.Error {
	t.Helper()
	require.Error(t, err)
	d, ok := errors.AsType[*deadletter.Error](err)
	require.True(t, ok, "%v", err)
	return d
}

func noWake(context.Context) error { return nil }
