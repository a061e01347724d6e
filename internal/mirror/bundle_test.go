package mirror_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/config"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/mirror"
	"airtable-replay/internal/pacing"
	"airtable-replay/internal/sandbox"
	"airtable-replay/internal/store"
	"airtable-replay/internal/store/storetest"

	"github.com/stretchr/testify/require"
)

const (
	baseID    = "appOrdersSandbox01"
	tableName = "Dead Letter Queue"
	token     = "patMirror.secretsecret"
)

var retry = config.Retry{Attempts: 5, BaseDelay: 2 * time.Second, RateLimitWait: 30 * time.Second, RequestTimeout: 20 * time.Second, LandingBound: time.Minute}

// bundle is a mirror between a database and a sandbox, both on clocks that the test moves.
type bundle struct {
	t      *testing.T
	store  *store.Store
	db     *storetest.DB
	box    *sandbox.Sandbox
	pacer  *pacing.Pacer
	mirror *mirror.Mirror
	config mirror.Config
	server *httptest.Server
	log    *syncBuffer
	before func(*http.Request) // called before the sandbox sees a request
}

// syncBuffer is a log that may be written and read at once.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String is the log, quotes in it as they were meant.
func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.ReplaceAll(b.b.String(), `\`, "")
}

type setting struct {
	table  func(*sandbox.SeedTable)
	retry  func(*config.Retry)
	button string // URL that the base's automation posts to
	rate   float64
}

func setup(t *testing.T, change setting) *bundle {
	t.Helper()
	b := &bundle{t: t, db: storetest.NewDB(t), log: &syncBuffer{}}
	b.db.SimulateClock(t)
	b.store = store.New(b.db.Pool, "orders")
	require.NoError(t, b.store.EnsureBases(t.Context(), []string{"orders"}, []string{"owner"}))
	b.serve(change)
	waits := retry
	if change.retry != nil {
		change.retry(&waits)
	}
	client := airtable.New(airtable.Config{BaseURL: b.server.URL, Token: token, RequestTimeout: waits.RequestTimeout})
	t.Cleanup(client.CloseIdleConnections)
	b.pacer = pacing.New(b.store, []pacing.Base{{Name: "orders", Owner: "owner", Rate: cmp.Or(change.rate, 1000), Lease: waits.RequestTimeout + 15*time.Second}})
	b.config = mirror.Config{
		Store: b.store, Pacer: b.pacer, Client: client, BaseName: "orders", BaseID: baseID, Table: tableName, Retry: waits,
		Logger: slog.New(slog.NewTextHandler(b.log, nil)), ConsoleURL: "https://replay.example",
	}
	b.mirror = mirror.New(b.config)
	return b
}

// serve starts a sandbox whose dead letter table is as setup would make it.
func (b *bundle) serve(change setting) {
	b.t.Helper()
	table := sandbox.SeedTable{Name: tableName}
	for _, f := range mirror.Columns() {
		field := sandbox.SeedField{Name: f.Name, Type: f.Type}
		for _, c := range f.Options.Choices {
			field.Choices = append(field.Choices, c.Name)
		}
		table.Fields = append(table.Fields, field)
	}
	if change.table != nil {
		change.table(&table)
	}
	seed := sandbox.Seed{Bases: []sandbox.SeedBase{{ID: baseID, Name: "Orders", Tokens: []sandbox.SeedToken{{Token: token}}, Tables: []sandbox.SeedTable{table}}}}
	if change.button != "" {
		seed.Automations = []sandbox.SeedAutomation{{Base: baseID, Table: tableName, Checkbox: "Replay Requested", Post: change.button, Token: "button"}}
	}
	var err error
	b.box, err = sandbox.New(seed, sandbox.Config{Penalty: 30 * time.Second})
	require.NoError(b.t, err)
	handler := b.box.Handler()
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.before != nil {
			b.before(r)
		}
		handler.ServeHTTP(w, r)
	}))
	b.t.Cleanup(func() {
		b.box.Close()
		b.server.Close()
	})
}

// restart is another process that takes over.
func (b *bundle) restart() { b.mirror = mirror.New(b.config) }

// without removes a column from the seed.
func without(names ...string) func(*sandbox.SeedTable) {
	return func(t *sandbox.SeedTable) {
		var kept []sandbox.SeedField
		for _, f := range t.Fields {
			if !strings.Contains(strings.Join(names, "|"), f.Name) {
				kept = append(kept, f)
			}
		}
		t.Fields = kept
	}
}

// column changes one column of the seed.
func column(name string, change func(*sandbox.SeedField)) func(*sandbox.SeedTable) {
	return func(t *sandbox.SeedTable) {
		for i := range t.Fields {
			if t.Fields[i].Name == name {
				change(&t.Fields[i])
			}
		}
	}
}

var failedAt = time.Date(2026, 10, 1, 9, 0, 0, 123_000_000, time.UTC)

func (b *bundle) file(id string, change ...func(*store.Filing)) deadletter.Entry {
	b.t.Helper()
	f := store.Filing{
		FilingKey: sha256.Sum256([]byte(id)), SourceSystem: "order-system", Base: "orders", TargetTable: "Orders", TargetID: id,
		Operation: deadletter.Update, RawPayload: []byte(`{"order":{"id":"` + id + `"}}`), ReasonCode: deadletter.ReasonTransientExhausted,
		ErrorDetail: "Airtable answered HTTP 503", StatusCode: 503, Attempts: 5, FirstAttemptAt: failedAt, Actor: "test",
	}
	for _, c := range change {
		c(&f)
	}
	e, created, err := b.store.FileEntry(b.t.Context(), f)
	require.NoError(b.t, err)
	require.True(b.t, created)
	return e
}

func (b *bundle) fileMany(n int) []deadletter.Entry {
	b.t.Helper()
	var out []deadletter.Entry
	for i := range n {
		out = append(out, b.file(fmt.Sprintf("O-%d", i+1)))
	}
	return out
}

// press claims entries as a press of Replay does.
func (b *bundle) press(by string, ids ...string) store.Claimed {
	b.t.Helper()
	c, err := b.store.ClaimEntries(b.t.Context(), store.Claim{
		Run:    deadletter.Run{Kind: deadletter.RunPress, RequestedBy: by, Mode: deadletter.Checked},
		Filter: store.Filter{IDs: ids}, Routes: []store.Route{{Source: "order-system", Target: "Orders", Base: "orders"}},
	})
	require.NoError(b.t, err)
	require.Equal(b.t, len(ids), c.Count)
	return c
}

// settle gives a claimed entry an outcome, as the pass does.
func (b *bundle) settle(id string, v deadletter.Verdict, before map[string]any) {
	b.t.Helper()
	e := b.show(id)
	v.Member = id
	hold := b.acquire()
	defer b.release(hold)
	require.NoError(b.t, b.store.Settle(b.t.Context(), hold.Lease, []store.Settlement{{
		MemberRef: store.MemberRef{Kind: deadletter.MemberEntry, ID: id, Claim: e.Claim}, Verdict: v, ValuesBefore: before,
		RecordID: "recOrder000000001", Effect: deadletter.EffectUpdated, Tries: 1, StatusCode: 200,
	}}))
}

func (b *bundle) show(id string) deadletter.Entry {
	b.t.Helper()
	e, err := b.store.ShowEntry(b.t.Context(), id)
	require.NoError(b.t, err)
	return e
}

func (b *bundle) acquire() *pacing.Hold {
	b.t.Helper()
	hold, ok, err := b.pacer.Acquire(b.t.Context(), "orders", "test")
	require.NoError(b.t, err)
	require.True(b.t, ok, "the base has something to do")
	return hold
}

func (b *bundle) release(hold *pacing.Hold) {
	b.t.Helper()
	require.NoError(b.t, b.store.ReleaseLease(b.t.Context(), hold.Lease, noWake))
}

// pass does what a pass over the base does with its mirror rows, and tells whether there was anything.
func (b *bundle) pass() bool {
	b.t.Helper()
	ctx := b.t.Context()
	hold, ok, err := b.pacer.Acquire(ctx, "orders", "test")
	require.NoError(b.t, err)
	if !ok {
		return false
	}
	defer b.release(hold)
	for {
		due, _, err := b.store.MirrorState(ctx, "orders")
		require.NoError(b.t, err)
		if !due {
			return true
		}
		sent, err := b.mirror.MirrorEntries(ctx, hold)
		require.NoError(b.t, err)
		if !sent {
			due, _, err = b.store.MirrorState(ctx, "orders")
			require.NoError(b.t, err)
			require.False(b.t, due, "rows that are not sent must wait, or the pass would turn in circles")
			return true
		}
	}
}

// advance moves both clocks.
func (b *bundle) advance(d time.Duration) {
	b.t.Helper()
	b.db.Advance(b.t, d)
	b.box.Advance(d)
}

// calm lets time go by until nothing is left to mirror.
func (b *bundle) calm() {
	b.t.Helper()
	for range 60 {
		b.pass()
		if b.waiting() == 0 {
			return
		}
		b.advance(time.Minute)
	}
	require.Zero(b.t, b.waiting(), "rows that wait after an hour; %s", b.log)
}

func (b *bundle) waiting() int {
	b.t.Helper()
	s, err := b.store.FindBase(b.t.Context(), "orders")
	require.NoError(b.t, err)
	return s.WaitingMirror
}

func (b *bundle) halted() bool {
	b.t.Helper()
	s, err := b.store.FindBase(b.t.Context(), "orders")
	require.NoError(b.t, err)
	return s.Halted
}

func (b *bundle) rows() []sandbox.Record {
	b.t.Helper()
	rows, err := b.box.Records(baseID, tableName)
	require.NoError(b.t, err)
	return rows
}

// row is the only row of an entry.
func (b *bundle) row(id string) sandbox.Record {
	b.t.Helper()
	var found []sandbox.Record
	for _, r := range b.rows() {
		if r.Fields[mirror.KeyField] == id {
			found = append(found, r)
		}
	}
	require.Len(b.t, found, 1)
	return found[0]
}

// requests counts the requests to the API by method.
func (b *bundle) requests(method string) []sandbox.Request {
	b.t.Helper()
	var out []sandbox.Request
	for _, r := range b.box.Requests() {
		if r.Method == method {
			out = append(out, r)
		}
	}
	return out
}

func (b *bundle) fault(f sandbox.Fault) {
	b.t.Helper()
	_, err := b.box.AddFault(f)
	require.NoError(b.t, err)
}

// by is who edits by hand.
func (b *bundle) edit(record string, fields map[string]any) string {
	b.t.Helper()
	id, err := b.box.Edit(sandbox.Edit{Base: baseID, Table: tableName, Record: record, Fields: fields, By: "ann"})
	require.NoError(b.t, err)
	return id
}
