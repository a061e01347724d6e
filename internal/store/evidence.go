package store

import (
	"context"
	"encoding/json"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// Evidence is what one run did to one entry, as its history tells it (A1, B5).
type Evidence struct {
	EntryID         string
	Source          string
	Target          string
	TargetID        string // empty: unknown
	ReasonCode      deadletter.Reason
	FirstAttemptAt  time.Time
	PayloadRevision int
	Outcome         string // an outcome, or released; empty while the entry waits
	Reason          deadletter.Reason
	Effect          deadletter.Effect
	Note            string
	SettledAt       time.Time // zero while the entry waits
	Actor           string
	RecordID        string
	Detail          EvidenceDetail
}

// EvidenceDetail is the account of a settled entry's write, digit for digit as it was stored.
type EvidenceDetail struct {
	FieldsReplayed map[string]json.RawMessage `json:"fields_replayed"`
	FieldsSkipped  []EvidenceSkip             `json:"fields_skipped"`
	ValuesBefore   map[string]json.RawMessage `json:"values_before"`
	StatusCode     int                        `json:"status_code"`
	Attempts       int                        `json:"attempts"`
}

// EvidenceSkip is a field that was deliberately not written.
type EvidenceSkip struct {
	Field     string            `json:"field"`
	Reason    deadletter.Reason `json:"reason"`
	ChangedAt *time.Time        `json:"changed_at"`
	Current   json.RawMessage   `json:"current"`
	Incoming  json.RawMessage   `json:"incoming"`
}

// ListEvidence lists what a run did to each of its entries, the oldest first attempt first, after the given
// one; the zero Evidence begins the list.
func (s *Store) ListEvidence(ctx context.Context, run string, after Evidence, limit int) ([]Evidence, error) {
	const listEvidence = `
		SELECT m.entry_id::text, e.source_system, e.target_table, coalesce(m.target_id, ''), e.reason_code, m.first_attempt_at, m.payload_revision,
			m.outcome, m.reason, m.effect, coalesce(h.note, ''), m.settled_at, coalesce(h.actor, ''), m.record_id, coalesce(h.detail, '{}')
		FROM run_entry m JOIN entry e ON e.id = m.entry_id LEFT JOIN LATERAL (
			SELECT note, actor, detail FROM entry_history h WHERE h.entry_id = m.entry_id AND h.run_id = m.run_id
				AND h.event IN ('settled', 'released', 'swept', 'reset', 'restored', 'restore_refused', 'restore_released') ORDER BY h.id DESC LIMIT 1) h ON true
		WHERE m.run_id = @run::uuid AND (@first OR (m.first_attempt_at, m.entry_id) > (@at, @id::uuid)) ORDER BY m.first_attempt_at, m.entry_id LIMIT @limit`
	rows, err := s.db(ctx).Query(ctx, listEvidence, names{
		"run": run, "first": after.EntryID == "", "at": after.FirstAttemptAt, "id": orNullText(after.EntryID), "limit": limit,
	})
	if err != nil {
		return nil, interpretError("list evidence", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e Evidence, err error) {
		var settled instant
		var detail []byte
		if err = row.Scan(&e.EntryID, &e.Source, &e.Target, &e.TargetID, &e.ReasonCode, &e.FirstAttemptAt, &e.PayloadRevision,
			&e.Outcome, &e.Reason, &e.Effect, &e.Note, &settled, &e.Actor, &e.RecordID, &detail); err != nil {
			return e, err
		}
		e.FirstAttemptAt, e.SettledAt = e.FirstAttemptAt.UTC(), settled.Time
		return e, json.Unmarshal(detail, &e.Detail)
	})
	return found, interpretError("list evidence", err)
}
