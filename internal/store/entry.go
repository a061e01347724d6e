package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// Filing is what a new entry is filed with, routed and identified already (mission E1).
type Filing struct {
	FilingKey      [32]byte // hash of source, payload and first attempt: filing twice yields one entry (E4)
	DLQRecordID    string
	SourceSystem   string
	Base           string
	TargetTable    string
	TargetID       string
	Operation      deadletter.Operation
	RawPayload     []byte
	ReasonCode     deadletter.Reason
	ErrorDetail    string
	StatusCode     int
	Attempts       int
	SourceVersion  string
	Version        deadletter.Version
	FirstAttemptAt time.Time
	AssignedOwner  string
	Actor          string
}

// FileEntry stores an entry, its first payload and its first line of history. When the same was
// filed before, that entry is returned and created is false. A row of the dead letter table that is
// another entry's is refused, so that no payload is taken for another.
func (s *Store) FileEntry(ctx context.Context, f Filing) (e deadletter.Entry, created bool, err error) {
	err = s.InTx(ctx, func(ctx context.Context) error {
		id, isNew, err := s.insertEntry(ctx, f)
		if err != nil {
			return err
		}
		created = isNew
		e, err = s.ShowEntry(ctx, id)
		return err
	})
	return e, created, interpretError("file entry", err)
}

func (s *Store) insertEntry(ctx context.Context, f Filing) (id string, created bool, err error) {
	version, sort := versionColumns(f.Version)
	updated, _ := f.Version.Time()
	const fileEntry = `
		INSERT INTO entry (id, filing_key, dlq_record_id, source_system, base, target_table, target_id, operation, raw_payload,
			reason_code, error_detail, status_code, attempts, source_version, version, version_sort, source_updated_at,
			first_attempt_at, assigned_owner)
		VALUES (@id, @filing_key, @dlq_record_id, @source, @base, @target, @target_id, @operation, @payload,
			@reason, @detail, @status_code, @attempts, @source_version, @version, @version_sort::numeric, @source_updated_at,
			@first_attempt_at, @owner)
		ON CONFLICT DO NOTHING RETURNING id::text`
	args := names{
		"id": newID(), "filing_key": f.FilingKey[:], "dlq_record_id": orNullText(f.DLQRecordID), "source": text(f.SourceSystem),
		"base": f.Base, "target": text(f.TargetTable), "target_id": orNullText(f.TargetID), "operation": f.Operation, "payload": orEmpty(f.RawPayload),
		"reason": f.ReasonCode, "detail": text(f.ErrorDetail), "status_code": orNullInt(f.StatusCode), "attempts": f.Attempts,
		"source_version": text(f.SourceVersion), "version": version, "version_sort": sort, "source_updated_at": orNull(updated),
		"first_attempt_at": f.FirstAttemptAt, "owner": text(f.AssignedOwner),
	}
	rows, err := s.db(ctx).Query(ctx, fileEntry, args)
	if err != nil {
		return "", false, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", false, err
	}
	if len(ids) == 0 {
		id, err = s.filedBefore(ctx, f)
		return id, false, err
	}
	return ids[0], true, s.noteFiling(ctx, ids[0], f)
}

// filedBefore is the entry that stands in the way of a filing: the same one, or one with the same row
// and the same payload, whose first attempt was told differently.
func (s *Store) filedBefore(ctx context.Context, f Filing) (string, error) {
	const filedBefore = `
		SELECT e.id::text, e.filing_key = @filing_key OR e.source_system = @source AND p.raw_payload = @payload
		FROM entry e JOIN entry_payload p ON p.entry_id = e.id AND p.revision = 0
		WHERE e.filing_key = @filing_key OR e.dlq_record_id = @dlq_record_id ORDER BY e.filing_key = @filing_key DESC LIMIT 1`
	var id string
	var same bool
	err := s.db(ctx).QueryRow(ctx, filedBefore, names{
		"filing_key": f.FilingKey[:], "dlq_record_id": orNullText(f.DLQRecordID), "source": text(f.SourceSystem), "payload": orEmpty(f.RawPayload),
	}).Scan(&id, &same)
	if err == nil && !same {
		err := deadletter.Errorf(deadletter.CodeConflict, "row-taken", "row %s of the dead letter table belongs to entry %s already", f.DLQRecordID, id)
		err.Fields = []deadletter.FieldError{{Field: "dlq_record_id", Rule: "free", Detail: "leave it out, or send the row of this dead letter"}}
		return "", err
	}
	return id, err
}

func (s *Store) noteFiling(ctx context.Context, id string, f Filing) error {
	const filePayload = `INSERT INTO entry_payload (entry_id, revision, raw_payload, edited_by) VALUES (@id, 0, @payload, @actor)`
	if _, err := s.db(ctx).Exec(ctx, filePayload, names{"id": id, "payload": orEmpty(f.RawPayload), "actor": text(f.Actor)}); err != nil {
		return err
	}
	const noteFiling = `INSERT INTO entry_history (entry_id, event, to_status, actor, reason, note)
		VALUES (@id, @event, @to, @actor, @reason, @note)`
	_, err := s.db(ctx).Exec(ctx, noteFiling, names{
		"id": id, "event": deadletter.TransitionFiled, "to": deadletter.PendingReview, "actor": text(f.Actor),
		"reason": f.ReasonCode, "note": text(f.ErrorDetail),
	})
	if err != nil {
		return err
	}
	return s.touchMirror(ctx, []string{id}, 0, false)
}

// versionColumns gives a version's lossless text and a number to sort by; null where there is none.
func versionColumns(v deadletter.Version) (lossless string, sort *string) {
	if v.IsZero() {
		return "", nil
	}
	b, err := v.MarshalText()
	if err != nil {
		return "", nil
	}
	n := v.SortKey()
	return string(b), &n
}

func parseVersion(lossless string) (v deadletter.Version, err error) {
	if lossless != "" {
		err = v.UnmarshalText([]byte(lossless))
	}
	return v, err
}

// entryColumns are the columns that scanEntry reads, in its order.
const entryColumns = `e.id::text, coalesce(e.dlq_record_id, ''), e.source_system, e.base, e.target_table, coalesce(e.target_id, ''), e.operation,
	e.raw_payload, e.payload_revision, e.reason_code, e.error_detail, coalesce(e.status_code, 0), e.attempts, e.source_version,
	e.source_updated_at, e.first_attempt_at, e.status, e.assigned_owner, e.flags, e.created_at, e.updated_at, e.claim, e.own_failures,
	coalesce(e.run_id::text, ''), e.mode, e.requested_by, e.requested_at, coalesce(e.outcome, ''), e.outcome_reason, e.replayed_by, e.replayed_at,
	e.fields_replayed, e.fields_skipped, e.values_before, e.record_id, e.effect, coalesce(e.replay_status, 0), e.replay_error, e.notes, e.replay_attempts, e.refusal`

func scanEntry(row pgx.CollectableRow) (e deadletter.Entry, err error) {
	var r deadletter.Replay
	var updated, requested, replayed instant
	var flags []string
	var fields, skipped, before []byte
	err = row.Scan(&e.ID, &e.DLQRecordID, &e.SourceSystem, &e.Base, &e.TargetTable, &e.TargetID, &e.Operation,
		&e.RawPayload, &e.PayloadRevision, &e.ReasonCode, &e.ErrorDetail, &e.StatusCode, &e.Attempts, &e.SourceVersion,
		&updated, &e.FirstAttemptAt, &e.Status, &e.AssignedOwner, &flags, &e.CreatedAt, &e.UpdatedAt, &e.Claim, &e.OwnFailures,
		&r.RunID, &r.Mode, &r.RequestedBy, &requested, &r.Outcome, &r.Reason, &r.ReplayedBy, &replayed,
		&fields, &skipped, &before, &r.RecordID, &r.Effect, &r.StatusCode, &r.ErrorDetail, &r.Notes, &r.Attempts, &e.Refusal)
	if err != nil {
		return e, err
	}
	e.SourceUpdatedAt, r.RequestedAt, r.ReplayedAt = updated.Time, requested.Time, replayed.Time
	e.FirstAttemptAt, e.CreatedAt, e.UpdatedAt = e.FirstAttemptAt.UTC(), e.CreatedAt.UTC(), e.UpdatedAt.UTC()
	for _, f := range flags {
		e.Flags = append(e.Flags, deadletter.Flag(f))
	}
	if r.RunID == "" {
		return e, nil
	}
	e.Replay = &r
	if err := read(fields, &r.FieldsReplayed); err != nil {
		return e, err
	}
	if err := read(skipped, &r.FieldsSkipped); err != nil {
		return e, err
	}
	return e, read(before, &r.ValuesBefore)
}

// ShowEntry finds an entry by its ID or by the Airtable record ID of its row ("rec…").
func (s *Store) ShowEntry(ctx context.Context, id string) (deadletter.Entry, error) {
	return findEntry(ctx, s.db(ctx), id, reading[deadletter.Entry]{columns: entryColumns, scan: scanEntry})
}

// reading is what is read of one entry, and how it is locked.
type reading[T any] struct {
	columns, lock string
	scan          pgx.RowToFunc[T]
}

func findEntry[T any](ctx context.Context, db querier, id string, r reading[T]) (found T, err error) {
	where := "e.id = $1::uuid"
	if strings.HasPrefix(id, "rec") {
		where = "e.dlq_record_id = $1"
	} else if checkID(id) != nil {
		return found, noEntry(id)
	}
	rows, err := db.Query(ctx, `SELECT `+r.columns+` FROM entry e WHERE `+where+r.lock, id)
	if err != nil {
		return found, interpretError("find entry", err)
	}
	found, err = pgx.CollectExactlyOneRow(rows, r.scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return found, noEntry(id)
	}
	return found, interpretError("find entry", err)
}

func noEntry(id string) *deadletter.Error {
	return deadletter.Errorf(deadletter.CodeNotFound, "entry-not-found", "there is no entry %q", id)
}

// ListEntryHistory lists an entry's history, the oldest line first.
func (s *Store) ListEntryHistory(ctx context.Context, id string) ([]deadletter.HistoryLine, error) {
	const listEntryHistory = `
		SELECT at, event, from_status, to_status, actor, coalesce(run_id::text, ''), claim, outcome, reason, note, detail
		FROM entry_history WHERE entry_id = $1::uuid ORDER BY id`
	rows, err := s.db(ctx).Query(ctx, listEntryHistory, id)
	if err != nil {
		return nil, interpretError("list entry history", err)
	}
	lines, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l deadletter.HistoryLine, err error) {
		var detail []byte
		if err = row.Scan(&l.At, &l.Event, &l.FromStatus, &l.ToStatus, &l.Actor, &l.RunID, &l.Claim, &l.Outcome, &l.Reason, &l.Note, &detail); err != nil {
			return l, err
		}
		l.At = l.At.UTC()
		return l, read(detail, &l.Detail)
	})
	return lines, interpretError("list entry history", err)
}
