package store_test

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
	"airtable-replay/internal/store/storetest"

	"github.com/stretchr/testify/require"
)

// bundle is a store on a database of its own with one base.
type bundle struct {
	store *store.Store
	db    *storetest.DB
}

func setup(t *testing.T) *bundle {
	t.Helper()
	db := storetest.NewDB(t)
	s := store.New(db.Pool, "orders")
	require.NoError(t, s.EnsureBases(t.Context(), []string{"orders"}, []string{"owner"}))
	return &bundle{store: s, db: db}
}

func (b *bundle) file(t *testing.T, id string) deadletter.Entry {
	t.Helper()
	at := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
	e, created, err := b.store.FileEntry(t.Context(), store.Filing{
		FilingKey: sha256.Sum256([]byte(id)), SourceSystem: "order-system", Base: "orders", TargetTable: "Orders", TargetID: id,
		Operation: deadletter.Update, RawPayload: []byte("{\x00\xff"), ReasonCode: deadletter.ReasonOther, FirstAttemptAt: at, Actor: "test",
	})
	require.NoError(t, err)
	require.True(t, created)
	return e
}

func (b *bundle) claim(t *testing.T, ids ...string) store.Claimed {
	t.Helper()
	c, err := b.store.ClaimEntries(t.Context(), store.Claim{
		Run:    deadletter.Run{Kind: deadletter.RunPress, RequestedBy: "ann", Mode: deadletter.Checked},
		Filter: store.Filter{IDs: ids},
		Routes: []store.Route{{Source: "order-system", Target: "Orders", Base: "orders"}},
	})
	require.NoError(t, err)
	return c
}

func TestPressToOutcome(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	e := b.file(t, "O-1")
	require.Equal(t, []byte("{\x00\xff"), e.RawPayload)
	c := b.claim(t, e.ID)
	require.Equal(t, []string{e.ID}, c.IDs)
	require.Empty(t, b.claim(t, e.ID).IDs, "a second press claims nothing")

	l, ok, err := b.store.AcquireLease(ctx, "orders", "p1", time.Minute)
	require.NoError(t, err)
	require.True(t, ok)
	_, again, err := b.store.AcquireLease(ctx, "orders", "p2", time.Minute)
	require.NoError(t, err)
	require.False(t, again)

	chunk, err := b.store.TakeChunk(ctx, l)
	require.NoError(t, err)
	require.Len(t, chunk.Items, 1)
	m := chunk.Items[0].Members[0]
	require.Equal(t, e.ID, m.ID)
	plan := deadletter.Plan{Action: deadletter.ActionUpdate, RecordID: "rec1", Fields: map[string]any{"Status": "Done"}, Before: map[string]any{"Status": nil}}
	verdict := deadletter.Verdict{Member: e.ID, Outcome: deadletter.Replayed, Fields: plan.Fields}
	ids, err := b.store.StoreIntents(ctx, l, []store.Intend{{
		Ref: chunk.Items[0].Ref, Plan: plan, Clock: "Source Updated At", Members: []store.IntentMember{{MemberRef: m.MemberRef, Verdict: verdict}},
	}}, nil, store.Bounds{SendWithin: time.Second, RequestTimeout: time.Second, LandingBound: time.Second}, 250*time.Millisecond)
	require.NoError(t, err)
	require.NotEmpty(t, ids[0])
	in, err := b.store.FindIntent(ctx, ids[0])
	require.NoError(t, err)
	require.True(t, in.Members[0].Held)
	require.Equal(t, plan.Fields, in.Fields)

	require.NoError(t, b.store.SettleLandings(ctx, l, []store.Landing{{
		Intent: in, Ref: chunk.Items[0].Ref, Mark: store.Mark{RecordID: "rec1"}, Certain: true,
		Settlements: []store.Settlement{{MemberRef: m.MemberRef, Verdict: verdict, ValuesBefore: plan.Before, RecordID: "rec1", Effect: deadletter.EffectUpdated, Tries: 1, StatusCode: 200}},
	}}, nil))
	got, err := b.store.ShowEntry(ctx, e.ID)
	require.NoError(t, err)
	require.Equal(t, deadletter.Resolved, got.Status)
	require.Equal(t, deadletter.Replayed, got.Replay.Outcome)
	run, err := b.store.ShowRun(ctx, c.RunID)
	require.NoError(t, err)
	require.Equal(t, deadletter.RunCompleted, run.Status)
	require.True(t, run.Reconciliation.Balanced)
	require.NoError(t, b.store.ReleaseLease(ctx, l, func(context.Context) error { return nil }))
	lines, err := b.store.ListEntryHistory(ctx, e.ID)
	require.NoError(t, err)
	require.Len(t, lines, 3)
	_, _, err = b.store.ListEntries(ctx, store.Filter{Status: deadletter.Resolved, Run: c.RunID, Q: "O-"}, store.Page{Limit: 10})
	require.NoError(t, err)
	_, err = b.store.SummarizeEntries(ctx, store.Filter{})
	require.NoError(t, err)
	_, err = b.store.ListBases(ctx)
	require.NoError(t, err)
}
