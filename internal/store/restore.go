package store

import (
	"context"
	"errors"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// Written is what the last replay of an entry left on its record, as far as it can be taken back
// (mission A2). Without an IntentID nothing was written.
type Written struct {
	Entry    deadletter.Entry
	IntentID string
	Base     string
	Ref      RecordRef
	Creates  bool // it was to make the record
	Restoring
	UnderWay string // the run of a restore of the entry that is not settled yet
	Restored string // the run of a restore that has written this back already
}

// Restoring is a write of ours on its way back.
type Restoring struct {
	Clock         string // the version field that was written
	RecordID      string
	Wrote         map[string]any // what the write put into the fields of Before
	Before        map[string]any // what they held before, as read
	Version       deadletter.Version
	VersionBefore deadletter.Version
	Rewritten     []string // fields that later writes of ours have, or may have, written again
}

// FindWritten finds what the last replay of an entry wrote. Its fields are those of the entry's own
// Values Before: of a merged write, its part.
func (s *Store) FindWritten(ctx context.Context, e deadletter.Entry) (Written, error) {
	w := Written{Entry: e}
	if e.Replay == nil || len(e.Replay.ValuesBefore) == 0 {
		return w, nil
	}
	const lastLanded = `
		SELECT i.id::text, i.base, i.target_table, i.record_key, i.record_id, i.creates, i.clock, i.fields, i.version, i.version_before,
			coalesce((SELECT r.id::text FROM restore r WHERE r.entry_id = $1::uuid AND r.status = 'queued'), ''),
			coalesce((SELECT r.id::text FROM restore r WHERE r.entry_id = $1::uuid AND r.intent_id = i.id AND r.restored > 0 ORDER BY r.created_at LIMIT 1), ''),
			` + rewritten + `
		FROM intent_member m JOIN intent i ON i.id = m.intent_id
		WHERE m.member_id = $1::uuid AND m.kind = 'entry' AND i.state = 'landed' ORDER BY i.created_at DESC, i.id DESC LIMIT 1`
	var fields []byte
	var version, before string
	err := s.db(ctx).QueryRow(ctx, lastLanded, e.ID).Scan(&w.IntentID, &w.Base, &w.Ref.Target, &w.Ref.Key, &w.RecordID, &w.Creates, &w.Clock,
		&fields, &version, &before, &w.UnderWay, &w.Restored, &w.Rewritten)
	if errors.Is(err, pgx.ErrNoRows) {
		return w, nil
	}
	if err == nil {
		err = w.fill(fields, version, before, e.Replay.ValuesBefore)
	}
	return w, interpretError("find written", err)
}

// rewritten lists, of intent i, the fields that later writes of its record name and that landed or may
// have; a restore's own attempts are no such writes: restores of i stand for it.
const rewritten = `ARRAY (SELECT DISTINCT k FROM intent o, json_object_keys(o.fields) k
	WHERE o.target_table = i.target_table AND o.record_key = i.record_key AND (o.created_at, o.id) > (i.created_at, i.id) AND o.state IN ('landed', 'unknown')
		AND NOT EXISTS (SELECT 1 FROM intent_member om JOIN restore r ON r.id = om.member_id WHERE om.intent_id = o.id AND r.intent_id = i.id AND r.restored = 0))`

// fill decodes the columns of an intent; before are the fields that matter.
func (r *Restoring) fill(fields []byte, version, versionBefore string, before map[string]any) (err error) {
	var all map[string]any
	if err := read(fields, &all); err != nil {
		return err
	}
	if r.Version, err = parseVersion(version); err != nil {
		return err
	}
	if r.VersionBefore, err = parseVersion(versionBefore); err != nil {
		return err
	}
	r.Wrote, r.Before = map[string]any{}, map[string]any{}
	for name, value := range before {
		if wrote, ok := all[name]; ok {
			r.Wrote[name], r.Before[name] = wrote, value
		}
	}
	return nil
}

// HoldWritten is FindWritten with the entry, and its base against halts, held for the rest of the
// transaction. A halted base is refused.
func (s *Store) HoldWritten(ctx context.Context, id string) (Written, error) {
	e, err := s.ShowEntry(ctx, id)
	if err != nil {
		return Written{}, err
	}
	w, err := s.FindWritten(ctx, e)
	if err != nil || w.IntentID == "" {
		return w, err
	}
	halted, err := s.shareBases(ctx, []Route{{Base: w.Base}})
	if err != nil {
		return w, interpretError("hold written", err)
	}
	if reason, ok := halted[w.Base]; ok {
		return w, deadletter.Errorf(deadletter.CodeConflict, "base-halted", "base %s is halted, nothing was started: %s", w.Base, reason)
	}
	if _, err := s.lockEntries(ctx, []string{e.ID}); err != nil {
		return w, interpretError("hold written", err)
	}
	if e, err = s.ShowEntry(ctx, e.ID); err != nil {
		return w, err
	}
	return s.FindWritten(ctx, e)
}

// StartRestore makes the run that writes Values Before back; the caller holds what was written, and
// wakes its base. The entry keeps its status. The run counts fields.
func (s *Store) StartRestore(ctx context.Context, w Written, by, reason string) (string, error) {
	before, err := doc(w.Before)
	if err != nil {
		return "", err
	}
	run := newID()
	args := pgx.NamedArgs{
		"entry": w.Entry.ID, "intent": w.IntentID, "base": w.Base, "source": w.Entry.SourceSystem, "target": w.Ref.Target, "key": w.Ref.Key,
		"before": before, "fields": len(w.Before), "event": deadletter.EventRestoreAsked,
	}
	err = addRun(args, run, deadletter.Run{
		Kind: deadletter.RunRestore, RequestedBy: by, Note: reason, Mode: deadletter.Checked, Selector: deadletter.Selector{IDs: []string{w.Entry.ID}},
	})
	if err != nil {
		return "", err
	}
	const startRestore = `
		WITH restoring AS (
			INSERT INTO restore (id, entry_id, intent_id, base, source_system, target_table, record_key, before, requested_by)
			VALUES (@run_id, @entry, @intent, @base, @source, @target, @key, @before, @by)
		), run AS (` + insertRun + ` @fields), member AS (
			INSERT INTO run_entry (run_id, entry_id, claim, first_attempt_at, target_id, payload_revision)
			SELECT @run_id, id, claim, first_attempt_at, target_id, payload_revision FROM entry WHERE id = @entry
		)
		INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, run_id, claim, note)
		SELECT id, @event, status, status, @by, @run_id, claim, @note FROM entry WHERE id = @entry`
	if _, err := s.db(ctx).Exec(ctx, startRestore, args); err != nil {
		return "", interpretError("start restore", err)
	}
	return run, nil
}
