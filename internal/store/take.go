package store

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// TakeChunk takes what is to be worked on next under a lease: records with an intent to look at come
// first, then live writes before entries about four to one. An empty chunk: nothing is due, or the base
// is halted and only its mirror goes on. The
// records stand in base.taking until their intents are stored or the next chunk is taken, so that a
// death on the way is charged to them (R7).
func (s *Store) TakeChunk(ctx context.Context, l Lease) (c Chunk, err error) {
	err = s.fenced(ctx, l, func(ctx context.Context) error {
		c = Chunk{}
		var now time.Time
		var turn int64
		var since time.Duration
		const openBase = `SELECT replay_now(), turn, least(replay_now() - greatest(resumed_at, replay_now() - interval '1 day'), interval '1 day'), NOT (` + open + `), halted_at IS NOT NULL FROM base WHERE name = $1`
		if err := s.db(ctx).QueryRow(ctx, openBase, l.Base).Scan(&now, &turn, &since, &c.Closed, &c.Halted); err != nil || c.Closed {
			return err
		}
		if c.Halted {
			return s.noteTaken(ctx, l.Base, c)
		}
		entriesFirst := turn%5 == 4
		refs, err := s.pickRecords(ctx, l.Base, entriesFirst)
		if err != nil {
			return err
		}
		if len(refs) > 0 {
			if c, err = s.loadChunk(ctx, l.Base, refs, entriesFirst); err != nil {
				return err
			}
			c.Now, c.SinceResume = now.UTC(), since
		}
		return s.noteTaken(ctx, l.Base, c)
	})
	return c, interpretError("take chunk", err)
}

// noteTaken names the records of a chunk until it is known what becomes of them, and starts their runs.
func (s *Store) noteTaken(ctx context.Context, base string, c Chunk) error {
	refs, runs := []RecordRef{}, []string{}
	for _, it := range c.Items {
		refs = append(refs, it.Ref)
		for _, m := range it.Members {
			runs = append(runs, m.RunID)
		}
	}
	taking, err := doc(refs)
	if err != nil {
		return err
	}
	const noteTaken = `UPDATE base SET taking = $2, turn = turn + 1 WHERE name = $1`
	if _, err := s.db(ctx).Exec(ctx, noteTaken, base, taking); err != nil {
		return err
	}
	return s.beginRuns(ctx, distinct(runs))
}

// candidate is a record that could be in the next chunk.
type candidate struct {
	Target string
	Key    string
	Alone  bool // to be worked on by itself: taken apart after a refused batch, or after two deaths
}

const (
	dueIntents = `
		SELECT i.target_table, i.record_key, coalesce(m.deaths, 0) >= 2 FROM intent i LEFT JOIN record_mark m USING (target_table, record_key)
		WHERE i.base = @base AND i.state = 'open' AND i.look_at <= ` + sqlNow + ` ORDER BY i.look_at LIMIT 50`
	dueWrites = `
		SELECT w.target_table, w.record_key, w.alone OR coalesce(m.deaths, 0) >= 2 FROM write w LEFT JOIN record_mark m USING (target_table, record_key)
		WHERE w.base = @base AND w.status = 'queued' AND w.due_at <= ` + sqlNow + ` AND ` + notResting + ` ORDER BY ` + writeOrder + ` LIMIT 200`
	duePresses = `
		SELECT w.target_table, w.record_key, w.alone OR coalesce(m.deaths, 0) >= 2 ` + dueEntry + ` AND w.priority = 0 ORDER BY ` + entryOrder + ` LIMIT 200`
	dueOfRun = `
		SELECT w.target_table, w.record_key, w.alone OR coalesce(m.deaths, 0) >= 2 ` + dueEntry + ` AND w.priority = 1
			AND w.run_id = (SELECT run_in_turn FROM base WHERE name = @base) ORDER BY ` + runOrder + ` LIMIT 200`
	dueEntry = `FROM entry w LEFT JOIN record_mark m USING (target_table, record_key)
		WHERE w.base = @base AND w.status = 'replaying' AND w.due_at <= ` + sqlNow + ` AND ` + notResting
)

// turnRuns makes the next run that has due entries the one in turn, so that none waits behind a larger
// one (R8). Presses have no turns: they go before all runs.
func (s *Store) turnRuns(ctx context.Context, base string) error {
	const turnRuns = `
		UPDATE base SET run_in_turn = coalesce(
			(SELECT w.run_id ` + dueEntry + ` AND w.priority = 1 AND w.run_id > run_in_turn ORDER BY w.run_id LIMIT 1),
			(SELECT w.run_id ` + dueEntry + ` AND w.priority = 1 ORDER BY w.run_id LIMIT 1))
		WHERE name = @base`
	_, err := s.db(ctx).Exec(ctx, turnRuns, names{"base": base})
	return err
}

func (s *Store) pickRecords(ctx context.Context, base string, entriesFirst bool) ([]RecordRef, error) {
	if err := s.turnRuns(ctx, base); err != nil {
		return nil, err
	}
	queries := []string{dueIntents, dueWrites, dueRestores, duePresses, dueOfRun}
	if entriesFirst {
		queries = []string{dueIntents, dueRestores, duePresses, dueOfRun, dueWrites}
	}
	var all []candidate
	for _, q := range queries {
		rows, err := s.db(ctx).Query(ctx, q, names{"base": base})
		if err != nil {
			return nil, err
		}
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[candidate])
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return chooseRecords(all), nil
}

// chooseRecords keeps the first candidate's target and up to ten distinct records of it; one of which
// anything must be alone comes alone.
func chooseRecords(all []candidate) []RecordRef {
	alone := map[RecordRef]bool{}
	for _, c := range all {
		ref := RecordRef{Target: c.Target, Key: c.Key}
		alone[ref] = alone[ref] || c.Alone
	}
	var refs []RecordRef
	for _, c := range all {
		ref := RecordRef{Target: c.Target, Key: c.Key}
		if len(refs) == 0 && alone[ref] {
			return []RecordRef{ref}
		}
		if len(refs) > 0 && refs[0].Target != c.Target || alone[ref] || slices.Contains(refs, ref) {
			continue
		}
		if refs = append(refs, ref); len(refs) == chunkRecords {
			break
		}
	}
	return refs
}

// OpenWork tells whether a record has an entry under replay or a live write that has no outcome yet
// (R8).
func (s *Store) OpenWork(ctx context.Context, target, targetID string) (bool, error) {
	const openWork = `SELECT EXISTS (SELECT 1 FROM entry WHERE target_table = $1 AND record_key = 'k:' || $2::text AND status = 'replaying')
		OR EXISTS (SELECT 1 FROM write WHERE target_table = $1 AND record_key = 'k:' || $2::text AND status = 'queued')`
	var open bool
	err := s.db(ctx).QueryRow(ctx, openWork, target, targetID).Scan(&open)
	return open, interpretError("find open work", err)
}

// QueuedWrites tells whether live writes wait for a record.
func (s *Store) QueuedWrites(ctx context.Context, ref RecordRef) (bool, error) {
	const queuedWrites = `SELECT EXISTS (SELECT 1 FROM write WHERE target_table = $1 AND record_key = $2 AND status = 'queued')`
	var queued bool
	err := s.db(ctx).QueryRow(ctx, queuedWrites, ref.Target, ref.Key).Scan(&queued)
	return queued, interpretError("find queued writes", err)
}
