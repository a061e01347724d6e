package pacing_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pacing"
	"airtable-replay/internal/store"
	"airtable-replay/internal/store/storetest"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { os.Exit(storetest.Main(m)) }

type bundle struct {
	db    *storetest.DB
	store *store.Store
	pacer *pacing.Pacer
}

func setup(t *testing.T, base pacing.Base) *bundle {
	t.Helper()
	db := storetest.NewDB(t)
	s := store.New(db.Pool, "")
	base.Name, base.Owner = "orders", "owner"
	require.NoError(t, s.EnsureBases(t.Context(), []string{"orders"}, []string{"owner"}))
	return &bundle{db: db, store: s, pacer: pacing.New(s, []pacing.Base{base})}
}

func (b *bundle) accept(t *testing.T) {
	t.Helper()
	_, err := b.store.AcceptWrites(t.Context(), []store.Incoming{{
		SourceSystem: "s", Base: "orders", TargetTable: "Orders", TargetID: "O-1", Operation: deadletter.Upsert, RawPayload: []byte("{}"),
	}})
	require.NoError(t, err)
}

// Up to Airtable's own rate no window of 1.1 s holds more departures than a second of Airtable's takes.
func TestPaceByRate(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for rate, want := range map[float64]store.Pace{
		0.5:  {Interval: 2000 * ms, Burst: 2, Window: 1100 * ms, OwnerInterval: 20 * ms},
		1:    {Interval: 1000 * ms, Burst: 2, Window: 1100 * ms, OwnerInterval: 20 * ms},
		3:    {Interval: time.Second / 3, Burst: 3, Window: 1100 * ms, OwnerInterval: 20 * ms},
		4:    {Interval: 250 * ms, Burst: 5, Window: 1100 * ms, OwnerInterval: 20 * ms},
		5:    {Interval: 200 * ms, Burst: 5, Window: 1100 * ms, OwnerInterval: 20 * ms},
		10:   {Interval: 100 * ms, Burst: 12, Window: 1100 * ms, OwnerInterval: 20 * ms},
		40:   {Interval: 25 * ms, Burst: 50, Window: 1100 * ms, OwnerInterval: 20 * ms},
		1000: {Interval: ms, Burst: 2, OwnerInterval: ms},
	} {
		want.Owner = "owner"
		require.Equal(t, want, pacing.PaceOf(pacing.Base{Owner: "owner", Rate: rate}), "%v", rate)
	}
}

func TestUnknownBaseIsAnError(t *testing.T) {
	t.Parallel()
	p := pacing.New(nil, nil)
	require.EqualError(t, p.Wait(t.Context(), "x", 1), `pace base "x": not configured`)
	_, _, err := p.Acquire(t.Context(), "x", "me")
	require.EqualError(t, err, `lease base "x": not configured`)
}

func TestWaitBooksAndWaits(t *testing.T) {
	t.Parallel()
	b := setup(t, pacing.Base{Rate: 4})
	b.db.FreezeClock(t, time.Date(2026, 10, 5, 8, 0, 0, 0, time.UTC))
	require.NoError(t, b.pacer.Wait(t.Context(), "orders", 1), "the first leaves at once")
	require.NoError(t, b.pacer.Wait(t.Context(), "orders", 1))
	wait, err := b.store.ReserveSlots(t.Context(), "orders", 1, pacing.PaceOf(pacing.Base{Owner: "owner", Rate: 4}))
	require.NoError(t, err)
	require.Equal(t, 500*time.Millisecond, wait, "two were booked before, on a clock that stands still")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, b.pacer.Wait(gone, "orders", 1), context.Canceled)
}

// A request that leaves later than booked says so, and the slots behind it move.
func TestLateDepartureIsNoted(t *testing.T) {
	t.Parallel()
	b := setup(t, pacing.Base{Rate: 4})
	// Each look at the clock finds it a minute later.
	_, err := b.db.Pool.Exec(t.Context(), `CREATE SEQUENCE look`)
	require.NoError(t, err)
	_, err = b.db.Pool.Exec(t.Context(), `CREATE OR REPLACE FUNCTION replay_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS
		$$SELECT timestamptz '2026-10-05 08:00+00' + nextval('look') * interval '1 minute'$$`)
	require.NoError(t, err)
	lock, err := b.db.Pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = lock.Exec(t.Context(), `SELECT 1 FROM base WHERE name = 'orders' FOR UPDATE`)
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- b.pacer.Wait(t.Context(), "orders", 2) }()
	require.Eventually(t, func() bool {
		var waiting int
		err := b.db.Pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting)
		return err == nil && waiting > 0
	}, time.Minute, time.Millisecond)
	<-time.After(30 * time.Millisecond) // longer than what goes without a word
	require.NoError(t, lock.Rollback(t.Context()))
	require.NoError(t, <-done)
	var departures []time.Time
	require.NoError(t, b.db.Pool.QueryRow(t.Context(), `SELECT departures FROM base WHERE name = 'orders'`).Scan(&departures))
	require.Len(t, departures, 2)
	require.True(t, departures[0].Equal(departures[1]), "still a pair")
	var looks int
	require.NoError(t, b.db.Pool.QueryRow(t.Context(), `SELECT last_value FROM look`).Scan(&looks))
	require.Equal(t, looks, departures[0].UTC().Minute(), "noted at the last look, not booked at the one before")
}

func TestAcquireTellsWhetherThereIsWork(t *testing.T) {
	t.Parallel()
	b := setup(t, pacing.Base{Rate: 4, Lease: time.Hour})
	_, ok, err := b.pacer.Acquire(t.Context(), "orders", "me")
	require.NoError(t, err)
	require.False(t, ok, "nothing is due")
	b.accept(t)
	h, ok, err := b.pacer.Acquire(t.Context(), "orders", "me")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, store.Lease{Base: "orders", Token: h.Token, Length: time.Hour}, h.Lease)
	require.True(t, h.Lives(time.Minute))
	require.False(t, h.Lives(time.Hour), "it counts from before it was asked for")
	_, ok, err = b.pacer.Acquire(t.Context(), "orders", "other")
	require.NoError(t, err)
	require.False(t, ok)
}

// A holder judges its lease by its own clock, from before the last renewal was sent; what fails renews
// nothing (R4).
func TestHoldIsCountedFromBeforeTheRenewal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := pacing.NewHold(store.Lease{Length: 35 * time.Second}, time.Now())
		<-time.After(15 * time.Second)
		require.True(t, h.Lives(20*time.Second-1))
		require.False(t, h.Lives(20*time.Second))
		require.NoError(t, h.Renewing(func() error {
			<-time.After(5 * time.Second) // the transaction takes its time
			return nil
		}))
		require.True(t, h.Lives(30*time.Second-1))
		require.False(t, h.Lives(30*time.Second))
		lost := errors.New("lost")
		require.ErrorIs(t, h.Renewing(func() error { return lost }), lost)
		require.False(t, h.Lives(30*time.Second))
		<-time.After(30 * time.Second)
		require.False(t, h.Lives(0), "at its end it is over")
		require.Equal(t, 50*time.Second, h.Held())
	})
}
