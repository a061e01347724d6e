package store

import (
	"context"
	"time"
)

// Pace is how fast requests may go to one base and for one token owner (W4).
type Pace struct {
	Owner    string
	Interval time.Duration // between requests to the base: 250 ms at 4/s
	Burst    int           // at most so many departures within Window
	Window   time.Duration // 1.1 s
	// OwnerInterval is the time between requests of one token owner over all bases: 20 ms at 50/s.
	OwnerInterval time.Duration
}

// ReserveSlots books n requests that go back to back and returns how long to wait before the first.
// It judges departures: never more than Burst within Window, and on average one per Interval.
func (s *Store) ReserveSlots(ctx context.Context, base string, n int, p Pace) (wait time.Duration, err error) {
	err = s.InTx(ctx, func(ctx context.Context) error {
		var now, next time.Time
		var nextSlot instant
		var departures []time.Time
		const slotState = `SELECT replay_now(), next_slot_at, departures FROM base WHERE name = $1 FOR NO KEY UPDATE`
		if err := s.db(ctx).QueryRow(ctx, slotState, base).Scan(&now, &nextSlot, &departures); err != nil {
			return err
		}
		start := latest(now, nextSlot.Time, burstFree(departures, n, p))
		ownerStart, err := s.reserveOwner(ctx, start, n, p)
		if err != nil {
			return err
		}
		start = latest(start, ownerStart)
		next = start.Add(time.Duration(n) * p.Interval)
		for range n {
			departures = append(departures, start)
		}
		if extra := len(departures) - p.Burst; extra > 0 {
			departures = departures[extra:]
		}
		wait = start.Sub(now)
		const reserveSlots = `UPDATE base SET next_slot_at = $2, departures = $3 WHERE name = $1`
		_, err = s.db(ctx).Exec(ctx, reserveSlots, base, next, departures)
		return err
	})
	return wait, interpretError("reserve slots", err)
}

// burstFree is the earliest instant at which n more departures keep within the burst.
func burstFree(departures []time.Time, n int, p Pace) time.Time {
	if over := len(departures) + n - p.Burst; over > 0 && over <= len(departures) {
		return departures[over-1].Add(p.Window)
	}
	return time.Time{}
}

func (s *Store) reserveOwner(ctx context.Context, start time.Time, n int, p Pace) (time.Time, error) {
	const reserveOwner = `
		UPDATE token_budget SET next_slot_at = greatest(next_slot_at, @start) + @length::interval WHERE owner = @owner
		RETURNING next_slot_at - @length::interval`
	var at time.Time
	err := s.db(ctx).QueryRow(ctx, reserveOwner, names{"start": start, "length": time.Duration(n) * p.OwnerInterval, "owner": p.Owner}).Scan(&at)
	return at, err
}

func latest(times ...time.Time) time.Time {
	var t time.Time
	for _, u := range times {
		if u.After(t) {
			t = u
		}
	}
	return t
}

// departNow moves the last booked departure of a base to now: a request that leaves later than
// booked moves the slots behind it.
func (s *Store) departNow(ctx context.Context, base string, interval time.Duration) error {
	const departNow = `
		UPDATE base SET departures[cardinality(departures)] = greatest(departures[cardinality(departures)], replay_now()),
			next_slot_at = greatest(next_slot_at, replay_now() + $2::interval)
		WHERE name = $1 AND cardinality(departures) > 0`
	_, err := s.db(ctx).Exec(ctx, departNow, base, interval)
	return err
}
