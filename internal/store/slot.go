package store

import (
	"context"
	"slices"
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

// half is half the time that n requests take up. A booking takes up that much before it and as much
// behind it: so a single request between two pairs leaves in their middle, which alone lets a read, its
// write and a mirror row go at the full pace without ever crowding a window.
func (p Pace) half(n int) time.Duration { return time.Duration(n) * p.Interval / 2 }

// ReserveSlots books n requests that go back to back and returns how long to wait before the first.
// It judges departures: never more than Burst within Window, and on average one per Interval.
func (s *Store) ReserveSlots(ctx context.Context, base string, n int, p Pace) (wait time.Duration, err error) {
	err = s.InTx(ctx, func(ctx context.Context) error {
		var now time.Time
		var nextSlot instant
		var departures []time.Time
		const slotState = `SELECT replay_now(), next_slot_at, departures FROM base WHERE name = $1 FOR NO KEY UPDATE`
		if err := s.db(ctx).QueryRow(ctx, slotState, base).Scan(&now, &nextSlot, &departures); err != nil {
			return err
		}
		start := latest(now, nextSlot.Add(p.half(n)), burstFree(departures, n, p))
		if start, err = s.reserveOwner(ctx, now, start, n, p); err != nil {
			return err
		}
		for range n {
			departures = append(departures, start)
		}
		if extra := len(departures) - p.Burst; extra > 0 {
			departures = departures[extra:]
		}
		wait = start.Sub(now)
		const reserveSlots = `UPDATE base SET next_slot_at = $2, departures = $3 WHERE name = $1`
		_, err = s.db(ctx).Exec(ctx, reserveSlots, base, start.Add(p.half(n)), departures)
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

// reserveOwner books the owner's budget at the first span from start on that no other base has taken,
// so that a base which waits for a late slot keeps none of the others waiting.
func (s *Store) reserveOwner(ctx context.Context, now, start time.Time, n int, p Pace) (time.Time, error) {
	const ownerState = `SELECT booked FROM token_budget WHERE owner = $1 FOR NO KEY UPDATE`
	var booked []time.Time
	if err := s.db(ctx).QueryRow(ctx, ownerState, p.Owner).Scan(&booked); err != nil {
		return time.Time{}, err
	}
	at, booked := bookSpan(booked, now, start, time.Duration(n)*p.OwnerInterval)
	const reserveOwner = `UPDATE token_budget SET booked = $2 WHERE owner = $1`
	_, err := s.db(ctx).Exec(ctx, reserveOwner, p.Owner, booked)
	return at, err
}

// bookSpan finds the first free span of a length that begins at start or later, and returns the
// bookings with it. Bookings are pairs of from and to, in order and apart; those that are over are
// dropped.
func bookSpan(booked []time.Time, now, start time.Time, length time.Duration) (time.Time, []time.Time) {
	for len(booked) > 1 && !booked[1].After(now) {
		booked = booked[2:]
	}
	at, i := start, 0
	for ; i < len(booked); i += 2 {
		if !at.Add(length).After(booked[i]) {
			break
		}
		at = latest(at, booked[i+1])
	}
	before, after := slices.Clone(booked[:i]), booked[i:]
	from, to := at, at.Add(length)
	if len(before) > 0 && before[i-1].Equal(from) {
		from, before = before[i-2], before[:i-2]
	}
	if len(after) > 0 && after[0].Equal(to) {
		to, after = after[1], after[2:]
	}
	return at, slices.Concat(before, []time.Time{from, to}, after)
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

// NoteDeparture tells that n requests which were booked together can leave only now, later than
// booked: the slots behind them move.
func (s *Store) NoteDeparture(ctx context.Context, base string, n int, interval time.Duration) error {
	err := s.InTx(ctx, func(ctx context.Context) error {
		return s.departNow(ctx, base, Pace{Interval: interval}.half(n), moved{of: n, n: n})
	})
	return interpretError("note departure", err)
}

// departNow moves departures of a base that were booked earlier to now. No slot is then nearer than
// behind.
func (s *Store) departNow(ctx context.Context, base string, behind time.Duration, m moved) error {
	const departureState = `SELECT replay_now(), departures FROM base WHERE name = $1 FOR NO KEY UPDATE`
	var now time.Time
	var departures []time.Time
	if err := s.db(ctx).QueryRow(ctx, departureState, base).Scan(&now, &departures); err != nil {
		return err
	}
	const departNow = `UPDATE base SET departures = $2, next_slot_at = greatest(next_slot_at, $3::timestamptz) WHERE name = $1`
	_, err := s.db(ctx).Exec(ctx, departNow, base, m.to(now, departures), now.Add(behind))
	return err
}

// moved are the last n of a booking of so many requests for one instant.
type moved struct{ of, n int }

// writeOfPair is the write that leaves behind the read with which it was booked.
var writeOfPair = moved{of: 2, n: 1}

// to moves them within the departures of a base to now. Others may have booked since, as a preview
// does, so it is the last booking of that size that is due; where there is none left, they are added.
func (m moved) to(now time.Time, departures []time.Time) []time.Time {
	var kept []time.Time
	for end := len(departures); end > 0; {
		begin := end - 1
		for begin > 0 && departures[begin-1].Equal(departures[end-1]) {
			begin--
		}
		if end-begin == m.of && !departures[begin].After(now) {
			kept = slices.Delete(slices.Clone(departures), end-m.n, end)
			break
		}
		end = begin
	}
	if kept == nil {
		kept = slices.Clone(departures)
	}
	for range m.n {
		kept = append(kept, now)
	}
	slices.SortFunc(kept, time.Time.Compare)
	return kept
}
