package store

import (
	"context"
	"slices"

	"airtable-replay/internal/deadletter"
)

// Landing closes an intent whose write is on the record.
type Landing struct {
	Intent      OpenIntent
	Ref         RecordRef
	Mark        Mark // the record's mark after it
	Certain     bool // no attempt of it is unaccounted for: the record need not rest
	Settlements []Settlement
}

// SettleLandings stores that writes have landed, settles the members that are still held, and tells
// the other entries: swept, reset or released meanwhile, they keep their status and show `landed` (R2).
// Where an attempt is unaccounted for, the record rests until that can no longer land (R4b).
func (s *Store) SettleLandings(ctx context.Context, l Lease, landings []Landing, settle []Settlement) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		for _, d := range landings {
			if err := s.settleLanding(ctx, d); err != nil {
				return err
			}
		}
		_, err := s.settleAll(ctx, settle)
		return err
	})
	return interpretError("settle landings", err)
}

func (s *Store) settleLanding(ctx context.Context, d Landing) error {
	if err := s.closeIntent(ctx, d.Intent.ID, deadletter.FateLanded); err != nil {
		return err
	}
	if err := s.saveMark(ctx, d.Ref, d.Mark, d.Certain); err != nil {
		return err
	}
	if until := d.Intent.openUntil(); !d.Certain && !until.IsZero() {
		if err := s.rest(ctx, d.Ref, until); err != nil {
			return err
		}
	}
	settled, err := s.settleAll(ctx, d.Settlements)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(d.Intent.entries(), func(id string) bool { return slices.Contains(settled, id) })
	if err := s.tellLanded(ctx, d.Intent, others); err != nil {
		return err
	}
	return s.tellRestored(ctx, d.Intent)
}

func (s *Store) closeIntent(ctx context.Context, id string, fate deadletter.Fate) error {
	const closeIntent = `UPDATE intent SET state = $2, retry = false, closed_at = replay_now() WHERE id = $1::uuid AND state = 'open'`
	_, err := s.db(ctx).Exec(ctx, closeIntent, id, fate)
	return err
}

func (s *Store) tellLanded(ctx context.Context, i OpenIntent, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	version, _ := versionColumns(i.Version)
	const tellLanded = `
		WITH told AS (
			UPDATE entry SET flags = array_append(array_remove(array_remove(flags, 'landed'), 'may_have_been_written'), 'landed'), updated_at = replay_now(),
				wrote_version = CASE WHEN entry.record_key = i.record_key THEN coalesce(nullif(@version, ''), wrote_version) ELSE wrote_version END,
				landed_intent = i.id
			FROM intent i WHERE i.id = @intent::uuid AND entry.id = ANY (@ids::uuid[]) AND status <> 'resolved' RETURNING entry.id, status
		)
		INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, note)
		SELECT id, 'landed', status, status, 'pass', 'A write of this entry that was under way has landed. The next press records it without writing again.' FROM told`
	if _, err := s.db(ctx).Exec(ctx, tellLanded, names{"version": version, "intent": i.ID, "ids": ids}); err != nil {
		return err
	}
	return s.touchMirror(ctx, ids, 0, false)
}

// Miss closes an intent that did not land, or of which nobody will ever know (R2).
type Miss struct {
	Intent OpenIntent
	Ref    RecordRef
	Fate   deadletter.Fate // FateNotLanded or FateUnknown
}

// SettleMisses closes intents that did not land; entries of an unknown one are flagged
// may_have_been_written, and their history keeps the values from before it.
func (s *Store) SettleMisses(ctx context.Context, l Lease, misses []Miss) error {
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		for _, m := range misses {
			if err := s.closeIntent(ctx, m.Intent.ID, m.Fate); err != nil {
				return err
			}
			if m.Fate == deadletter.FateNotLanded {
				if err := s.clearMayHave(ctx, m.Intent.ID); err != nil {
					return err
				}
				continue
			}
			if err := s.tellDoubt(ctx, m.Intent.ID, m.Intent.entries()); err != nil {
				return err
			}
		}
		return nil
	})
	return interpretError("settle misses", err)
}

// tellDoubt tells entries of a write of which nobody will ever know whether it landed.
func (s *Store) tellDoubt(ctx context.Context, intentID string, ids []string) error {
	const tellDoubt = `
		WITH told AS (
			UPDATE entry SET flags = ARRAY (SELECT DISTINCT unnest(flags || '{may_have_been_written}')), updated_at = replay_now()
			WHERE id = ANY (@ids::uuid[]) RETURNING id, status
		)
		INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, note, detail)
		SELECT told.id, 'doubted', told.status, told.status, 'pass', 'A write was never answered, and the record does not tell whether it landed: it may have been written.',
			json_build_object('fields_sent', i.fields, 'values_before', i.before, 'record_id', i.record_id)
		FROM told, intent i WHERE i.id = @intent::uuid`
	if len(ids) == 0 {
		return nil
	}
	if _, err := s.db(ctx).Exec(ctx, tellDoubt, names{"ids": ids, "intent": intentID}); err != nil {
		return err
	}
	return s.touchMirror(ctx, ids, 0, false)
}

// inheritDoubt tells the entry that a live write became of the write's own unanswered requests.
func (s *Store) inheritDoubt(ctx context.Context, writeID, entryID string) error {
	const unknownIntents = `SELECT i.id::text FROM intent_member m JOIN intent i ON i.id = m.intent_id
		WHERE m.member_id = $1::uuid AND i.state = 'unknown' ORDER BY i.created_at, i.id`
	intents, err := s.idsOf(ctx, "find unknown intents", unknownIntents, writeID)
	for _, intent := range intents {
		if err := s.tellDoubt(ctx, intent, []string{entryID}); err != nil {
			return err
		}
	}
	return err
}

// clearMayHave takes the doubt from the entries of a write that is known not to have landed, unless
// another write of theirs is in doubt.
func (s *Store) clearMayHave(ctx context.Context, intentID string) error {
	const clearMayHave = `UPDATE entry e SET flags = array_remove(flags, 'may_have_been_written'), updated_at = replay_now()
		WHERE 'may_have_been_written' = ANY (flags) AND id IN (SELECT member_id FROM intent_member WHERE intent_id = $1::uuid AND kind = 'entry')
			AND NOT EXISTS (SELECT 1 FROM intent_member o JOIN intent oi ON oi.id = o.intent_id WHERE o.member_id = e.id AND oi.state IN ('open', 'unknown')) RETURNING id::text`
	return s.flagMembers(ctx, clearMayHave, intentID)
}

// flagMembers changes the flags of an intent's entries by sql, and shows it in the mirror.
func (s *Store) flagMembers(ctx context.Context, sql, intentID string) error {
	ids, err := s.idsOf(ctx, "flag entries", sql, intentID)
	if err != nil {
		return err
	}
	return s.touchMirror(ctx, ids, 0, false)
}
