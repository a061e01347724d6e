package store

import (
	"context"
	"slices"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// Intend is one write that is about to be sent.
type Intend struct {
	Ref           RecordRef
	IntentID      string // of an earlier attempt that was given up on, to be sent again; empty: a new one
	Plan          deadletter.Plan
	Clock         string // the version field of its members
	Stamp         string // the stamp field that it marks; empty: none
	VersionBefore deadletter.Version
	Members       []IntentMember
	Dates         []string // business dates of the record before and after, YYYY-MM-DD (B6)
}

// Bounds are the times after which a write that was stored now can no longer be sent, answered or
// land (R4b).
type Bounds struct {
	SendWithin     time.Duration // the request leaves within this, or not at all
	RequestTimeout time.Duration
	LandingBound   time.Duration
}

// StoreIntents stores the writes of a chunk and the outcomes of the members that need none, in one
// transaction under the lease. A record of which a member is no longer held is left out, with all that
// was decided about it, since that was decided together: its ID in the answer is empty and it must not
// be sent. The departure of the write is noted as of now.
func (s *Store) StoreIntents(ctx context.Context, l Lease, writes []Intend, settle []Settlement, b Bounds) (ids []string, err error) {
	err = s.fenced(ctx, l, func(ctx context.Context) error {
		var left []RecordRef
		if ids, left, err = s.storeHeld(ctx, l, writes, b); err != nil {
			return err
		}
		decided, err := s.withoutRecords(ctx, settle, left)
		if err != nil {
			return err
		}
		if _, err := s.settleAll(ctx, decided); err != nil {
			return err
		}
		if _, err := s.db(ctx).Exec(ctx, `UPDATE base SET taking = '[]' WHERE name = $1`, l.Base); err != nil {
			return err
		}
		return s.departNow(ctx, l.Base, 0, writeOfPair)
	})
	return ids, interpretError("store intents", err)
}

// storeHeld stores the writes whose members are all held, and returns the records that it left out.
func (s *Store) storeHeld(ctx context.Context, l Lease, writes []Intend, b Bounds) (ids []string, left []RecordRef, err error) {
	ids = make([]string, len(writes))
	var refs []MemberRef
	for _, w := range writes {
		for _, m := range w.Members {
			refs = append(refs, m.MemberRef)
		}
	}
	held, err := s.heldMembers(ctx, refs)
	if err != nil {
		return nil, nil, err
	}
	for i, w := range writes {
		if !slices.ContainsFunc(w.Members, func(m IntentMember) bool { return !held[m.ID] }) {
			if ids[i], err = s.storeIntent(ctx, l, w, b); err != nil {
				return nil, nil, err
			}
		}
		if ids[i] == "" {
			left = append(left, w.Ref)
		}
	}
	return ids, left, nil
}

// withoutRecords leaves out the outcomes of members of these records.
func (s *Store) withoutRecords(ctx context.Context, settle []Settlement, left []RecordRef) ([]Settlement, error) {
	if len(left) == 0 || len(settle) == 0 {
		return settle, nil
	}
	var ids, targets, keys []string
	for _, v := range settle {
		ids = append(ids, v.ID)
	}
	for _, r := range left {
		targets, keys = append(targets, r.Target), append(keys, r.Key)
	}
	const membersOfRecords = `
		WITH record AS (SELECT * FROM unnest($2::text[], $3::text[]) AS r (target_table, record_key))
		SELECT id::text FROM entry JOIN record USING (target_table, record_key) WHERE id = ANY ($1::uuid[])
		UNION ALL SELECT id::text FROM write JOIN record USING (target_table, record_key) WHERE id = ANY ($1::uuid[])
		UNION ALL SELECT id::text FROM restore JOIN record USING (target_table, record_key) WHERE id = ANY ($1::uuid[])`
	gone, err := s.idsOf(ctx, "find members of records", membersOfRecords, ids, targets, keys)
	return slices.DeleteFunc(slices.Clone(settle), func(v Settlement) bool { return slices.Contains(gone, v.ID) }), err
}

// heldMembers locks members in order and tells which are still what the pass took them for.
func (s *Store) heldMembers(ctx context.Context, refs []MemberRef) (map[string]bool, error) {
	held := map[string]bool{}
	claims := map[string]int64{}
	var ids []string
	for _, r := range refs {
		ids = append(ids, r.ID)
		claims[r.ID] = r.Claim
	}
	const lockMembers = `
		(SELECT id::text, claim FROM entry WHERE id = ANY ($1::uuid[]) AND status = 'replaying' ORDER BY id FOR NO KEY UPDATE)`
	const lockWrites = `SELECT id::text, 0::bigint FROM write WHERE id = ANY ($1::uuid[]) AND status = 'queued' ORDER BY id FOR NO KEY UPDATE`
	const lockRestores = `SELECT id::text, 0::bigint FROM restore WHERE id = ANY ($1::uuid[]) AND status = 'queued' ORDER BY id FOR NO KEY UPDATE`
	for _, q := range []string{lockMembers, lockWrites, lockRestores} {
		rows, err := s.db(ctx).Query(ctx, q, ids)
		if err != nil {
			return nil, err
		}
		var id string
		var claim int64
		if _, err := pgx.ForEachRow(rows, []any{&id, &claim}, func() error {
			held[id] = claims[id] == claim
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return held, nil
}

// sendAgain adds an attempt to an intent. The answer is empty when there is no more to send: the intent
// is closed, or an answer to an earlier attempt has turned up.
func (s *Store) sendAgain(ctx context.Context, l Lease, id string, bound time.Duration) (string, error) {
	const sendAgain = `
		UPDATE intent SET retry = false, lease_token = @lease, may_land_until = replay_now() + @bound::interval, look_at = replay_now() + @soon::interval,
			attempts = (attempts::jsonb || jsonb_build_object('at', replay_now(), 'fate', 'open', 'may_land_until', replay_now() + @bound::interval))::json
		WHERE id = @id AND state = 'open' AND fact IS NULL`
	tag, err := s.db(ctx).Exec(ctx, sendAgain, names{"id": id, "lease": l.Token, "bound": bound, "soon": l.Length})
	if err != nil || tag.RowsAffected() == 0 {
		return "", err
	}
	return id, nil
}

func (s *Store) storeIntent(ctx context.Context, l Lease, w Intend, b Bounds) (string, error) {
	bound := b.SendWithin + b.RequestTimeout + b.LandingBound
	if w.IntentID != "" {
		return s.sendAgain(ctx, l, w.IntentID, bound)
	}
	id := newID()
	fields, err := doc(w.Plan.Fields)
	if err != nil {
		return "", err
	}
	before, err := doc(w.Plan.Before)
	if err != nil {
		return "", err
	}
	version, _ := versionColumns(w.Plan.Version)
	versionBefore, _ := versionColumns(w.VersionBefore)
	const storeIntent = `
		INSERT INTO intent (id, base, target_table, record_key, record_id, creates, clock, stamp, fields, before, dates, version, version_before,
			attempts, lease_token, may_land_until, look_at)
		VALUES (@id, @base, @target, @key, @record, @creates, @clock, @stamp, @fields, @before, @dates, @version, @version_before,
			json_build_array(json_build_object('at', replay_now(), 'fate', 'open', 'may_land_until', replay_now() + @bound::interval)),
			@lease, replay_now() + @bound::interval, replay_now() + @soon::interval)`
	_, err = s.db(ctx).Exec(ctx, storeIntent, names{
		"id": id, "base": l.Base, "target": w.Ref.Target, "key": w.Ref.Key, "record": w.Plan.RecordID,
		"creates": w.Plan.Action == deadletter.ActionCreate, "clock": w.Clock, "stamp": w.Stamp, "fields": fields, "before": before,
		"dates": append([]string{}, w.Dates...), "version": version, "version_before": versionBefore, "lease": l.Token, "bound": bound, "soon": l.Length,
	})
	if err != nil {
		return "", err
	}
	return id, s.storeIntentMembers(ctx, id, w.Members)
}

func (s *Store) storeIntentMembers(ctx context.Context, id string, members []IntentMember) error {
	var kinds, ids, verdicts []string
	var claims []int64
	var revisions []int32
	var fetched [][]byte
	for _, m := range members {
		verdict, err := doc(m.Verdict)
		if err != nil {
			return err
		}
		kinds, ids, verdicts = append(kinds, string(m.Kind)), append(ids, m.ID), append(verdicts, verdict)
		claims, revisions = append(claims, m.Claim), append(revisions, int32(m.Revision))
		fetched = append(fetched, m.Fetched)
	}
	const storeMembers = `
		INSERT INTO intent_member (intent_id, kind, member_id, claim, revision, verdict, fetched)
		SELECT @intent, kind, id, claim, revision, verdict::json, fetched
		FROM unnest(@kinds::text[], @ids::uuid[], @claims::bigint[], @revisions::int[], @verdicts::text[], @fetched::bytea[]) AS m (kind, id, claim, revision, verdict, fetched)`
	_, err := s.db(ctx).Exec(ctx, storeMembers, names{
		"intent": id, "kinds": kinds, "ids": ids, "claims": claims, "revisions": revisions, "verdicts": verdicts, "fetched": fetched,
	})
	return err
}

const intentColumns = `i.id::text, i.target_table, i.record_key, i.record_id, i.creates, i.clock, i.stamp, i.fields, i.before, i.dates, i.version, i.version_before,
	i.retry, i.fact, i.attempts, i.may_land_until, i.look_at <= replay_now()`

// FindIntent loads one intent, open or closed, with its members.
func (s *Store) FindIntent(ctx context.Context, id string) (OpenIntent, error) {
	found, err := s.intents(ctx, `SELECT `+intentColumns+` FROM intent i WHERE i.id = $1::uuid`, id)
	if err == nil && len(found) == 0 {
		err = pgx.ErrNoRows
	}
	if err != nil {
		return OpenIntent{}, interpretError("find intent", err)
	}
	return found[0].OpenIntent, nil
}

// intents runs a query for intentColumns and adds the members.
func (s *Store) intents(ctx context.Context, query string, args ...any) ([]keyedIntent, error) {
	rows, err := s.db(ctx).Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, scanIntent)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	at := map[string]int{}
	var ids []string
	for i, in := range found {
		at[in.ID] = i
		ids = append(ids, in.ID)
	}
	members, err := s.intentMembers(ctx, ids)
	for _, m := range members {
		in := &found[at[m.intent]]
		in.Members = append(in.Members, m.IntentMember)
	}
	return found, err
}

type keyedIntent struct {
	OpenIntent
	key string
}

func scanIntent(row pgx.CollectableRow) (i keyedIntent, err error) {
	var fields, before, fact, attempts []byte
	var version, versionBefore string
	err = row.Scan(&i.ID, &i.Target, &i.key, &i.RecordID, &i.Creates, &i.Clock, &i.Stamp, &fields, &before, &i.Dates, &version, &versionBefore,
		&i.Retry, &fact, &attempts, &i.MayLandUntil, &i.DueAt)
	if err != nil {
		return i, err
	}
	if i.Version, err = parseVersion(version); err != nil {
		return i, err
	}
	if i.VersionBefore, err = parseVersion(versionBefore); err != nil {
		return i, err
	}
	for into, text := range map[any][]byte{&i.Fields: fields, &i.Before: before, &i.Attempts: attempts, &i.Fact: fact} {
		if err := read(text, into); err != nil {
			return i, err
		}
	}
	return i, nil
}

type intentMember struct {
	IntentMember
	intent string
}

func (s *Store) intentMembers(ctx context.Context, intents []string) ([]intentMember, error) {
	const listMembers = `
		SELECT m.intent_id::text, m.kind, m.member_id::text, m.claim, m.revision, m.verdict, m.fetched,
			coalesce(e.status = 'replaying' AND e.claim = m.claim, w.status = 'queued', r.status = 'queued', false)
		FROM intent_member m LEFT JOIN entry e ON m.kind = 'entry' AND e.id = m.member_id LEFT JOIN write w ON m.kind = 'write' AND w.id = m.member_id
			LEFT JOIN restore r ON m.kind = 'restore' AND r.id = m.member_id
		WHERE m.intent_id = ANY ($1::uuid[]) ORDER BY m.intent_id, m.member_id`
	rows, err := s.db(ctx).Query(ctx, listMembers, intents)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (m intentMember, err error) {
		var verdict []byte
		if err = row.Scan(&m.intent, &m.Kind, &m.ID, &m.Claim, &m.Revision, &verdict, &m.Fetched, &m.Held); err != nil {
			return m, err
		}
		return m, read(verdict, &m.Verdict)
	})
}

// StoreFact keeps the answer that proves that an intent has landed. Anybody who has it may store it,
// lease or not (R4); the next pass settles what hangs on it. Where the intent was closed meanwhile, as of
// unknown fate, its entries are told at once.
func (s *Store) StoreFact(ctx context.Context, intentID string, f Fact) error {
	fact, err := doc(f)
	if err != nil {
		return err
	}
	err = s.InTx(ctx, func(ctx context.Context) error {
		const storeFact = `UPDATE intent SET fact = $2, look_at = replay_now() WHERE id = $1::uuid AND state = 'open' AND fact IS NULL`
		if tag, err := s.db(ctx).Exec(ctx, storeFact, intentID, fact); err != nil || tag.RowsAffected() == 1 {
			return err
		}
		const storeLateFact = `UPDATE intent SET fact = $2, state = 'landed' WHERE id = $1::uuid AND state = 'unknown'`
		if tag, err := s.db(ctx).Exec(ctx, storeLateFact, intentID, fact); err != nil || tag.RowsAffected() == 0 {
			return err
		}
		in, err := s.FindIntent(ctx, intentID)
		if err != nil {
			return err
		}
		if err := s.tellLanded(ctx, in, in.entries()); err != nil {
			return err
		}
		return s.tellRestored(ctx, in)
	})
	return interpretError("store fact", err)
}
