package store

import (
	"context"
	"slices"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// TakeChunk takes what is to be worked on next under a lease: records with an intent to look at come
// first, then live writes before entries about four to one. An empty chunk: nothing is due. The
// records stand in base.taking until an intent or an outcome is stored, so that a death on the way
// is charged to them (R7).
func (s *Store) TakeChunk(ctx context.Context, l Lease) (c Chunk, err error) {
	err = s.fenced(ctx, l, func(ctx context.Context) error {
		var now time.Time
		var turn int64
		const openBase = `SELECT replay_now(), turn, halted_at IS NOT NULL OR coalesce(paused_until, '-infinity') > replay_now() FROM base WHERE name = $1`
		if err := s.db(ctx).QueryRow(ctx, openBase, l.Base).Scan(&now, &turn, &c.Closed); err != nil || c.Closed {
			return err
		}
		refs, err := s.pickRecords(ctx, l.Base, turn)
		if err != nil || len(refs) == 0 {
			return err
		}
		if c, err = s.loadChunk(ctx, l.Base, refs); err != nil {
			return err
		}
		c.Now = now.UTC()
		taking, err := doc(refs)
		if err != nil {
			return err
		}
		_, err = s.db(ctx).Exec(ctx, `UPDATE base SET taking = $2, turn = turn + 1 WHERE name = $1`, l.Base, taking)
		return err
	})
	return c, interpretError("take chunk", err)
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
		WHERE i.base = @base AND i.state = 'open' AND i.look_at <= replay_now() ORDER BY i.look_at LIMIT 50`
	dueWrites = `
		SELECT w.target_table, w.record_key, w.alone OR coalesce(m.deaths, 0) >= 2 FROM write w LEFT JOIN record_mark m USING (target_table, record_key)
		WHERE w.base = @base AND w.status = 'queued' AND w.due_at <= replay_now() AND ` + notResting + ` ORDER BY w.seq LIMIT 200`
	dueEntries = `
		SELECT w.target_table, w.record_key, w.alone OR coalesce(m.deaths, 0) >= 2 FROM entry w LEFT JOIN record_mark m USING (target_table, record_key)
		WHERE w.base = @base AND w.status = 'replaying' AND w.due_at <= replay_now() AND ` + notResting + `
		ORDER BY w.priority, w.rank, w.target_table, w.version_sort, w.seq LIMIT 200`
)

func (s *Store) pickRecords(ctx context.Context, base string, turn int64) ([]RecordRef, error) {
	queries := []string{dueIntents, dueWrites, dueEntries}
	if turn%5 == 4 {
		queries = []string{dueIntents, dueEntries, dueWrites}
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

// chooseRecords keeps the first candidate's target and up to ten distinct records of it; one that
// must be alone comes alone.
func chooseRecords(all []candidate) []RecordRef {
	var refs []RecordRef
	for _, c := range all {
		ref := RecordRef{Target: c.Target, Key: c.Key}
		if len(refs) == 0 && c.Alone {
			return []RecordRef{ref}
		}
		if len(refs) > 0 && refs[0].Target != c.Target || c.Alone || slices.Contains(refs, ref) {
			continue
		}
		if refs = append(refs, ref); len(refs) == chunkRecords {
			break
		}
	}
	return refs
}

func (s *Store) loadChunk(ctx context.Context, base string, refs []RecordRef) (Chunk, error) {
	c := Chunk{Target: refs[0].Target}
	var keys []string
	at := map[string]int{}
	for i, r := range refs {
		keys = append(keys, r.Key)
		at[r.Key] = i
		it := Item{Ref: r}
		if len(r.Key) > 2 && r.Key[:2] == "k:" {
			it.TargetID = r.Key[2:]
		}
		c.Items = append(c.Items, it)
	}
	args := names{"base": base, "target": c.Target, "keys": keys}
	for _, load := range []func(context.Context, *Chunk, map[string]int, names) error{
		s.loadMarks, s.loadWrites, s.loadEntries, s.loadSiblings, s.loadIntents,
	} {
		if err := load(ctx, &c, at, args); err != nil {
			return Chunk{}, err
		}
	}
	return c, nil
}

func (s *Store) loadWrites(ctx context.Context, c *Chunk, at map[string]int, args names) error {
	const loadWrites = `
		SELECT w.record_key, w.id::text, w.source_system, w.operation, w.raw_payload, w.accepted_at, w.seq, w.tries, coalesce(w.last_status, 0), w.last_error, w.alone
		FROM write w LEFT JOIN record_mark m USING (target_table, record_key)
		WHERE w.base = @base AND w.target_table = @target AND w.record_key = ANY (@keys) AND w.status = 'queued' AND w.due_at <= replay_now()
			AND ` + notResting + ` ORDER BY w.seq LIMIT 1000`
	rows, err := s.db(ctx).Query(ctx, loadWrites, args)
	if err != nil {
		return err
	}
	var key string
	var m Member
	n := 0
	_, err = pgx.ForEachRow(rows, []any{&key, &m.ID, &m.Source, &m.Operation, &m.RawPayload, &m.FirstAttemptAt, &m.Order, &m.Tries, &m.LastStatus, &m.LastError, &m.Alone}, func() error {
		m.Kind, m.Mode = deadletter.MemberWrite, deadletter.Checked
		n += len(m.RawPayload)
		if n <= chunkBytes || len(c.Items[at[key]].Members) == 0 {
			c.Items[at[key]].Members = append(c.Items[at[key]].Members, m)
		}
		m = Member{}
		return nil
	})
	return err
}

func (s *Store) loadEntries(ctx context.Context, c *Chunk, at map[string]int, args names) error {
	const loadEntries = `
		SELECT w.record_key, w.id::text, w.claim, w.payload_revision, w.source_system, w.operation, w.raw_payload, w.first_attempt_at, w.seq, w.mode, w.chosen, w.expect,
			w.tries, coalesce(w.last_status, 0), w.last_error, w.wrote_version, coalesce(w.landed_intent::text, ''), coalesce(w.run_id::text, ''), w.requested_by, w.alone, w.flags, w.version
		FROM entry w LEFT JOIN record_mark m USING (target_table, record_key)
		WHERE w.base = @base AND w.target_table = @target AND w.record_key = ANY (@keys) AND w.status = 'replaying' AND w.due_at <= replay_now()
			AND ` + notResting + ` ORDER BY w.version_sort NULLS FIRST, w.seq LIMIT 1000`
	rows, err := s.db(ctx).Query(ctx, loadEntries, args)
	if err != nil {
		return err
	}
	entries, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e keyedMember, err error) {
		var expect []byte
		var wrote, version string
		err = row.Scan(&e.Key, &e.ID, &e.Claim, &e.Revision, &e.Source, &e.Operation, &e.RawPayload, &e.FirstAttemptAt, &e.Order, &e.Mode, &e.Chosen, &expect,
			&e.Tries, &e.LastStatus, &e.LastError, &wrote, &e.LandedIntent, &e.RunID, &e.By, &e.Alone, &e.Flags, &version)
		if err != nil {
			return e, err
		}
		e.Kind = deadletter.MemberEntry
		if e.Wrote, err = parseVersion(wrote); err != nil {
			return e, err
		}
		if e.Filed, err = parseVersion(version); err != nil {
			return e, err
		}
		return e, read(expect, &e.Expect)
	})
	if err != nil {
		return err
	}
	addEntries(c, at, entries)
	return nil
}

type keyedMember struct {
	Member
	Key string
}

// addEntries gives entries to the records that have no live write in this chunk.
func addEntries(c *Chunk, at map[string]int, entries []keyedMember) {
	n := 0
	for _, e := range entries {
		it := &c.Items[at[e.Key]]
		live := len(it.Members) > 0 && it.Members[0].Kind == deadletter.MemberWrite
		n += len(e.RawPayload)
		if !live && (n <= chunkBytes || len(it.Members) == 0) {
			it.Members = append(it.Members, e.Member)
		}
	}
}

func (s *Store) loadSiblings(ctx context.Context, c *Chunk, at map[string]int, args names) error {
	const loadSiblings = `SELECT record_key, id::text FROM entry WHERE target_table = $1 AND record_key = ANY ($2) AND status = 'pending_review' ORDER BY seq`
	rows, err := s.db(ctx).Query(ctx, loadSiblings, args["target"], args["keys"])
	if err != nil {
		return err
	}
	var key, id string
	_, err = pgx.ForEachRow(rows, []any{&key, &id}, func() error {
		c.Items[at[key]].Siblings = append(c.Items[at[key]].Siblings, id)
		return nil
	})
	return err
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
