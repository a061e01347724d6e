package store

import (
	"context"
	"slices"
	"strings"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// loading fills a chunk: each record with its live writes, its restore or its entries, whichever are
// asked for first, within the bounds of a chunk.
type loading struct {
	*Chunk
	at      map[string]int // key -> item
	members int            // still to be had
	bytes   int
}

func newLoading(refs []RecordRef) *loading {
	l := &loading{Chunk: &Chunk{Target: refs[0].Target}, at: map[string]int{}, members: chunkMembers, bytes: chunkBytes}
	for i, r := range refs {
		l.at[r.Key] = i
		it := Item{Ref: r}
		if id, ok := strings.CutPrefix(r.Key, "k:"); ok {
			it.TargetID = id
		}
		l.Items = append(l.Items, it)
	}
	return l
}

func (s *Store) loadChunk(ctx context.Context, base string, refs []RecordRef, entriesFirst bool) (Chunk, error) {
	l := newLoading(refs)
	loads := []func(context.Context, string, *loading) error{s.loadWrites, s.loadRestores, s.loadEntries}
	if entriesFirst {
		loads = append(loads[1:], s.loadWrites)
	}
	for _, load := range loads {
		if err := load(ctx, base, l); err != nil {
			return Chunk{}, err
		}
	}
	if err := s.loadAround(ctx, l); err != nil {
		return Chunk{}, err
	}
	l.Items = slices.DeleteFunc(l.Items, func(it Item) bool { return len(it.Members)+len(it.Intents) == 0 })
	return *l.Chunk, nil
}

// place adds a record without members.
func (l *loading) place(r RecordRef) {
	it := Item{Ref: r}
	if id, ok := strings.CutPrefix(r.Key, "k:"); ok {
		it.TargetID = id
	}
	l.at[r.Key] = len(l.Items)
	l.Items = append(l.Items, it)
}

// loadAround adds to each record what matters to it beside its members.
func (s *Store) loadAround(ctx context.Context, l *loading) error {
	for _, load := range []func(context.Context, *loading) error{s.loadMarks, s.loadSiblings, s.loadIntents} {
		if err := load(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

func (l *loading) keys() []string {
	keys := []string{}
	for _, it := range l.Items {
		keys = append(keys, it.Ref.Key)
	}
	return keys
}

// free are the keys of records that have no members yet.
func (l *loading) free() []string {
	keys := []string{}
	for _, it := range l.Items {
		if len(it.Members) == 0 {
			keys = append(keys, it.Ref.Key)
		}
	}
	return keys
}

// within bounds the members that are loaded, the oldest of each record first: so many at most, and so
// many bytes of payload, but one of each record at least. Payloads beyond are not even read. It is the
// FROM of a query over a table's rows w, in the order of p.n.
func within(table, status, order string) string {
	return `(SELECT id, n, sum(bytes) OVER (ORDER BY n) AS bytes, row_number() OVER (PARTITION BY record_key ORDER BY n) AS of_record
			FROM (SELECT w.id, w.record_key, octet_length(w.raw_payload) AS bytes, row_number() OVER (ORDER BY ` + order + `) AS n
				FROM ` + table + ` w LEFT JOIN record_mark m USING (target_table, record_key)
				WHERE w.base = @base AND w.target_table = @target AND w.record_key = ANY (@keys) AND w.status = '` + status + `' AND w.due_at <= ` + sqlNow + `
					AND ` + notResting + ` ORDER BY ` + order + ` LIMIT @members) oldest
		) p JOIN ` + table + ` w USING (id) WHERE p.bytes <= @bytes OR p.of_record = 1 ORDER BY p.n`
}

func (l *loading) args(base string) names {
	return names{"base": base, "target": l.Target, "keys": l.free(), "members": l.members, "bytes": l.bytes}
}

func (l *loading) add(key string, m Member) {
	it := &l.Items[l.at[key]]
	it.Members = append(it.Members, m)
	l.members--
	l.bytes -= len(m.RawPayload)
}

func (s *Store) loadWrites(ctx context.Context, base string, l *loading) error {
	loadWrites := `
		SELECT w.record_key, w.id::text, w.source_system, w.operation, w.raw_payload, w.accepted_at, w.seq, w.tries, coalesce(w.last_status, 0), w.last_error, w.alone
		FROM ` + within("write", "queued", "w.seq")
	rows, err := s.db(ctx).Query(ctx, loadWrites, l.args(base))
	if err != nil {
		return err
	}
	var key string
	var m Member
	_, err = pgx.ForEachRow(rows, []any{&key, &m.ID, &m.Source, &m.Operation, &m.RawPayload, &m.FirstAttemptAt, &m.Order, &m.Tries, &m.LastStatus, &m.LastError, &m.Alone}, func() error {
		m.Kind, m.Mode = deadletter.MemberWrite, deadletter.Checked
		l.add(key, m)
		m = Member{}
		return nil
	})
	return err
}

func (s *Store) loadEntries(ctx context.Context, base string, l *loading) error {
	loadEntries := `
		SELECT w.record_key, w.id::text, w.claim, w.payload_revision, w.source_system, w.operation, w.raw_payload, w.first_attempt_at, w.seq, w.mode, w.chosen, w.expect,
			w.tries, coalesce(w.last_status, 0), w.last_error, w.wrote_version, coalesce(w.landed_intent::text, ''), coalesce(w.run_id::text, ''), w.requested_by, w.alone, w.flags, w.version,
			EXISTS (SELECT 1 FROM run r WHERE r.id = w.run_id AND r.status IN ('cancelled', 'stopped'))
		FROM ` + within("entry", "replaying", "w.version_sort NULLS FIRST, w.seq")
	rows, err := s.db(ctx).Query(ctx, loadEntries, l.args(base))
	if err != nil {
		return err
	}
	entries, err := pgx.CollectRows(rows, scanMember)
	if err != nil {
		return err
	}
	for _, e := range entries {
		l.add(e.Key, e.Member)
	}
	return nil
}

type keyedMember struct {
	Member
	Key string
}

func scanMember(row pgx.CollectableRow) (e keyedMember, err error) {
	var expect []byte
	var wrote, version string
	err = row.Scan(&e.Key, &e.ID, &e.Claim, &e.Revision, &e.Source, &e.Operation, &e.RawPayload, &e.FirstAttemptAt, &e.Order, &e.Mode, &e.Chosen, &expect,
		&e.Tries, &e.LastStatus, &e.LastError, &wrote, &e.LandedIntent, &e.RunID, &e.By, &e.Alone, &e.Flags, &version, &e.RunEnded)
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
}

func (s *Store) loadMarks(ctx context.Context, l *loading) error {
	marks, err := s.marks(ctx, l.Target, l.keys())
	for key, m := range marks {
		l.Items[l.at[key]].Mark = m
	}
	return err
}

func (s *Store) loadSiblings(ctx context.Context, l *loading) error {
	const loadSiblings = `SELECT record_key, id::text FROM entry WHERE target_table = $1 AND record_key = ANY ($2) AND status = 'pending_review' ORDER BY seq`
	rows, err := s.db(ctx).Query(ctx, loadSiblings, l.Target, l.keys())
	if err != nil {
		return err
	}
	var key, id string
	_, err = pgx.ForEachRow(rows, []any{&key, &id}, func() error {
		it := &l.Items[l.at[key]]
		it.Siblings = append(it.Siblings, id)
		return nil
	})
	return err
}

func (s *Store) loadIntents(ctx context.Context, l *loading) error {
	const loadIntents = `SELECT ` + intentColumns + ` FROM intent i WHERE i.target_table = $1 AND i.record_key = ANY ($2) AND i.state = 'open' ORDER BY i.created_at, i.id`
	found, err := s.intents(ctx, loadIntents, l.Target, l.keys())
	for _, i := range found {
		it := &l.Items[l.at[i.key]]
		it.Intents = append(it.Intents, i.OpenIntent)
	}
	return err
}
