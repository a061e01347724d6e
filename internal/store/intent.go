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
	VersionBefore deadletter.Version
	Members       []IntentMember
}

// Bounds are the times after which a write that was stored now can no longer be sent, answered or
// land (R4b).
type Bounds struct {
	SendWithin     time.Duration // the request leaves within this, or not at all
	RequestTimeout time.Duration
	LandingBound   time.Duration
}

// StoreIntents stores the writes of a chunk and the outcomes of the members that need none, in one
// transaction under the lease. A record of which a member is no longer held is left out: its ID in the
// answer is empty and it must not be sent. The departure of the write is noted as of now.
func (s *Store) StoreIntents(ctx context.Context, l Lease, writes []Intend, settle []Settlement, b Bounds, interval time.Duration) (ids []string, err error) {
	ids = make([]string, len(writes))
	err = s.fenced(ctx, l, func(ctx context.Context) error {
		var refs []MemberRef
		for _, w := range writes {
			for _, m := range w.Members {
				refs = append(refs, m.MemberRef)
			}
		}
		held, err := s.heldMembers(ctx, refs)
		if err != nil {
			return err
		}
		for i, w := range writes {
			if !slices.ContainsFunc(w.Members, func(m IntentMember) bool { return !held[m.ID] }) {
				if ids[i], err = s.storeIntent(ctx, l, w, b); err != nil {
					return err
				}
			}
		}
		if err := s.settleAll(ctx, settle); err != nil {
			return err
		}
		if _, err := s.db(ctx).Exec(ctx, `UPDATE base SET taking = '[]' WHERE name = $1`, l.Base); err != nil {
			return err
		}
		return s.departNow(ctx, l.Base, interval, writeOfPair)
	})
	return ids, interpretError("store intents", err)
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
	for _, q := range []string{lockMembers, lockWrites} {
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

func (s *Store) storeIntent(ctx context.Context, l Lease, w Intend, b Bounds) (string, error) {
	bound := b.SendWithin + b.RequestTimeout + b.LandingBound
	if w.IntentID != "" {
		const sendAgain = `
			UPDATE intent SET retry = false, lease_token = @lease, may_land_until = replay_now() + @bound::interval, look_at = replay_now() + @soon::interval,
				attempts = (attempts::jsonb || jsonb_build_object('at', replay_now(), 'fate', 'open', 'may_land_until', replay_now() + @bound::interval))::json
			WHERE id = @id AND state = 'open'`
		_, err := s.db(ctx).Exec(ctx, sendAgain, names{"id": w.IntentID, "lease": l.Token, "bound": bound, "soon": l.Length})
		return w.IntentID, err
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
		INSERT INTO intent (id, base, target_table, record_key, record_id, creates, clock, fields, before, version, version_before,
			attempts, lease_token, may_land_until, look_at)
		VALUES (@id, @base, @target, @key, @record, @creates, @clock, @fields, @before, @version, @version_before,
			json_build_array(json_build_object('at', replay_now(), 'fate', 'open', 'may_land_until', replay_now() + @bound::interval)),
			@lease, replay_now() + @bound::interval, replay_now() + @soon::interval)`
	_, err = s.db(ctx).Exec(ctx, storeIntent, names{
		"id": id, "base": l.Base, "target": w.Ref.Target, "key": w.Ref.Key, "record": w.Plan.RecordID,
		"creates": w.Plan.Action == deadletter.ActionCreate, "clock": w.Clock, "fields": fields, "before": before,
		"version": version, "version_before": versionBefore, "lease": l.Token, "bound": bound, "soon": l.Length,
	})
	if err != nil {
		return "", err
	}
	return id, s.storeIntentMembers(ctx, id, w.Members)
}

func (s *Store) storeIntentMembers(ctx context.Context, id string, members []IntentMember) error {
	for _, m := range members {
		verdict, err := doc(m.Verdict)
		if err != nil {
			return err
		}
		const storeMember = `INSERT INTO intent_member (intent_id, kind, member_id, claim, revision, verdict) VALUES (@intent, @kind, @id, @claim, @revision, @verdict)`
		if _, err := s.db(ctx).Exec(ctx, storeMember, names{
			"intent": id, "kind": m.Kind, "id": m.ID, "claim": m.Claim, "revision": m.Revision, "verdict": verdict,
		}); err != nil {
			return err
		}
	}
	return nil
}

const intentColumns = `i.id::text, i.target_table, i.record_key, i.record_id, i.creates, i.clock, i.fields, i.before, i.version, i.version_before,
	i.retry, i.fact, i.attempts, i.may_land_until, i.look_at <= replay_now()`

func (s *Store) loadIntents(ctx context.Context, c *Chunk, at map[string]int, args names) error {
	const loadIntents = `SELECT ` + intentColumns + ` FROM intent i WHERE i.target_table = $1 AND i.record_key = ANY ($2) AND i.state = 'open' ORDER BY i.created_at, i.id`
	rows, err := s.db(ctx).Query(ctx, loadIntents, args["target"], args["keys"])
	if err != nil {
		return err
	}
	found, err := pgx.CollectRows(rows, scanIntent)
	if err != nil {
		return err
	}
	for _, i := range found {
		if i.Members, err = s.intentMembers(ctx, i.ID); err != nil {
			return err
		}
		it := &c.Items[at[i.key]]
		it.Intents = append(it.Intents, i.OpenIntent)
	}
	return nil
}

// FindIntent loads one intent, open or closed, with its members.
func (s *Store) FindIntent(ctx context.Context, id string) (OpenIntent, error) {
	rows, err := s.db(ctx).Query(ctx, `SELECT `+intentColumns+` FROM intent i WHERE i.id = $1::uuid`, id)
	if err != nil {
		return OpenIntent{}, interpretError("find intent", err)
	}
	found, err := pgx.CollectExactlyOneRow(rows, scanIntent)
	if err != nil {
		return OpenIntent{}, interpretError("find intent", err)
	}
	found.Members, err = s.intentMembers(ctx, id)
	return found.OpenIntent, interpretError("find intent", err)
}

type keyedIntent struct {
	OpenIntent
	key string
}

func scanIntent(row pgx.CollectableRow) (i keyedIntent, err error) {
	var fields, before, fact, attempts []byte
	var version, versionBefore string
	err = row.Scan(&i.ID, &i.Target, &i.key, &i.RecordID, &i.Creates, &i.Clock, &fields, &before, &version, &versionBefore,
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

func (s *Store) intentMembers(ctx context.Context, id string) ([]IntentMember, error) {
	const listMembers = `
		SELECT m.kind, m.member_id::text, m.claim, m.revision, m.verdict,
			coalesce(e.status = 'replaying' AND e.claim = m.claim, w.status = 'queued', false)
		FROM intent_member m LEFT JOIN entry e ON m.kind = 'entry' AND e.id = m.member_id LEFT JOIN write w ON m.kind = 'write' AND w.id = m.member_id
		WHERE m.intent_id = $1::uuid ORDER BY m.member_id`
	rows, err := s.db(ctx).Query(ctx, listMembers, id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (m IntentMember, err error) {
		var verdict []byte
		if err = row.Scan(&m.Kind, &m.ID, &m.Claim, &m.Revision, &verdict, &m.Held); err != nil {
			return m, err
		}
		return m, read(verdict, &m.Verdict)
	})
}

// StoreFact keeps the answer that proves that an intent has landed. Anybody who has it may store it,
// lease or not (R4); the next pass settles what hangs on it.
func (s *Store) StoreFact(ctx context.Context, intentID string, f Fact) error {
	fact, err := doc(f)
	if err != nil {
		return err
	}
	const storeFact = `UPDATE intent SET fact = $2, look_at = replay_now() WHERE id = $1::uuid AND state = 'open' AND fact IS NULL`
	_, err = s.db(ctx).Exec(ctx, storeFact, intentID, fact)
	return interpretError("store fact", err)
}
