package store

import (
	"context"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// Incoming is a live write to be accepted (L1).
type Incoming struct {
	SourceSystem  string
	Base          string
	TargetTable   string
	TargetID      string
	Rank          int
	Operation     deadletter.Operation
	RawPayload    []byte
	SourceVersion string
	Version       deadletter.Version
}

// AcceptWrites stores live writes durably, in order, and returns their IDs.
func (s *Store) AcceptWrites(ctx context.Context, in []Incoming) ([]string, error) {
	ids := make([]string, len(in))
	for i := range in {
		ids[i] = newID()
	}
	columns := []string{"id", "source_system", "base", "target_table", "target_id", "operation", "raw_payload", "source_version", "version", "source_updated_at", "rank"}
	rows := pgx.CopyFromSlice(len(in), func(i int) ([]any, error) {
		w := in[i]
		version, _ := versionColumns(w.Version)
		updated, _ := w.Version.Time()
		return []any{
			ids[i], text(w.SourceSystem), w.Base, w.TargetTable, orNullText(w.TargetID), w.Operation, orEmpty(w.RawPayload), text(w.SourceVersion), version, orNull(updated), w.Rank,
		}, nil
	})
	if _, err := s.db(ctx).CopyFrom(ctx, pgx.Identifier{"write"}, columns, rows); err != nil {
		return nil, interpretError("accept writes", err)
	}
	return ids, nil
}

// Write is a live write as its sender sees it.
type Write struct {
	ID           string
	SourceSystem string
	TargetTable  string
	TargetID     string
	Status       string // queued, written, stale, dead_lettered
	Reason       deadletter.Reason
	Note         string
	RecordID     string
	EntryID      string
	AcceptedAt   time.Time
	SettledAt    time.Time
}

// ShowWrite finds a live write.
func (s *Store) ShowWrite(ctx context.Context, id string) (Write, error) {
	missing := deadletter.Errorf(deadletter.CodeNotFound, "write-not-found", "there is no write %q", id)
	if checkID(id) != nil {
		return Write{}, missing
	}
	const showWrite = `SELECT id::text, source_system, target_table, coalesce(target_id, ''), status, reason, note, record_id, coalesce(entry_id::text, ''), accepted_at, settled_at
		FROM write WHERE id = $1::uuid`
	rows, err := s.db(ctx).Query(ctx, showWrite, id)
	if err != nil {
		return Write{}, interpretError("show write", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (w Write, err error) {
		var settled instant
		err = row.Scan(&w.ID, &w.SourceSystem, &w.TargetTable, &w.TargetID, &w.Status, &w.Reason, &w.Note, &w.RecordID, &w.EntryID, &w.AcceptedAt, &settled)
		w.AcceptedAt, w.SettledAt = w.AcceptedAt.UTC(), settled.Time
		return w, err
	})
	if err != nil {
		return Write{}, interpretError("show write", err)
	}
	if len(found) == 0 {
		return Write{}, missing
	}
	return found[0], nil
}

// SetTargetID gives a member the key that its payload was found to hold, so that it is grouped with
// the others of its record. One that is no longer held, or has a key, is left alone.
func (s *Store) SetTargetID(ctx context.Context, l Lease, m MemberRef, targetID string) error {
	setTargetID := `UPDATE entry SET target_id = $2 WHERE id = $1 AND target_id IS NULL AND status = 'replaying' AND claim = $3`
	if m.Kind == deadletter.MemberWrite {
		setTargetID = `UPDATE write SET target_id = $2 WHERE id = $1 AND target_id IS NULL AND status = 'queued' AND $3::bigint = 0`
	}
	err := s.fenced(ctx, l, func(ctx context.Context) error {
		_, err := s.db(ctx).Exec(ctx, setTargetID, m.ID, targetID, m.Claim)
		return err
	})
	return interpretError("set target id", err)
}
