package store

import (
	"bytes"
	"context"
	"fmt"

	"airtable-replay/internal/deadletter"

	"github.com/jackc/pgx/v5"
)

// PayloadEdit is a reviewer's new payload for an entry, with what is read from it (mission O1).
type PayloadEdit struct {
	EntryID        string // ours
	Raw            []byte
	By, Reason     string
	ExpectRevision *int // refuse the edit where there is a newer revision than the editor saw; nil: edit whatever there is
	// Identified says that the source is configured, so that what follows was read from the payload;
	// else the entry keeps its own.
	Identified    bool
	TargetID      string // the sender's ID of the record; empty: the entry keeps its own
	SourceVersion string
	Version       deadletter.Version
}

// EditPayload makes new bytes the next revision of an entry's payload; the original and every edit are
// kept. Only an entry at Pending Review is edited, so that no pass works on a payload that changes.
// The bytes that it has already change nothing. An edit re-identifies the entry, and its failures count
// anew: the attempt cap is for entries that nobody mends (mission O3).
func (s *Store) EditPayload(ctx context.Context, p PayloadEdit) error {
	err := s.InTx(ctx, func(ctx context.Context) error {
		if _, err := s.db(ctx).Exec(ctx, `SELECT 1 FROM entry WHERE id = $1::uuid FOR NO KEY UPDATE`, p.EntryID); err != nil {
			return err
		}
		e, err := s.ShowEntry(ctx, p.EntryID)
		if err != nil {
			return err
		}
		if err := mayEdit(e, p); err != nil {
			return err
		}
		if bytes.Equal(e.RawPayload, p.Raw) {
			return nil
		}
		if err := s.insertRevision(ctx, e, p); err != nil {
			return err
		}
		return s.touchMirror(ctx, []string{e.ID}, 0, false)
	})
	return interpretError("edit payload", err)
}

func mayEdit(e deadletter.Entry, p PayloadEdit) error {
	if e.Status != deadletter.PendingReview {
		err := deadletter.Errorf(deadletter.CodeConflict, "entry-not-pending", "only the payload of an entry at pending review can be edited; this one is %s", e.Status)
		err.EntryStatus = e.Status
		return err
	}
	if p.ExpectRevision != nil && *p.ExpectRevision != e.PayloadRevision {
		err := deadletter.Errorf(deadletter.CodeConflict, "payload-changed", "the payload is at revision %d by now, not at %d; look at it, and edit that one", e.PayloadRevision, *p.ExpectRevision)
		err.EntryStatus = e.Status
		return err
	}
	return nil
}

// insertRevision does it: e is locked and at Pending Review.
func (s *Store) insertRevision(ctx context.Context, e deadletter.Entry, p PayloadEdit) error {
	note, detail := p.Reason, map[string]any{"revision": e.PayloadRevision + 1}
	if p.TargetID != "" && p.TargetID != e.TargetID {
		detail["target_id"], detail["target_id_before"] = p.TargetID, e.TargetID
		note = fmt.Sprintf("%s (The entry is about record %q now; before, it was about %q.)", note, p.TargetID, e.TargetID)
	}
	about, err := doc(detail)
	if err != nil {
		return err
	}
	version, sort := versionColumns(p.Version)
	updated, _ := p.Version.Time()
	const editPayload = `
		WITH revision AS (
			INSERT INTO entry_payload (entry_id, revision, raw_payload, edited_by, reason) VALUES (@id, @revision, @payload, @by, @reason)
		), edited AS (
			UPDATE entry SET raw_payload = @payload, payload_revision = @revision, own_failures = 0, updated_at = replay_now(),
				target_id = coalesce(@target_id, target_id), source_version = CASE WHEN @identified THEN @source_version ELSE source_version END,
				version = CASE WHEN @identified THEN @version ELSE version END, version_sort = CASE WHEN @identified THEN @version_sort::numeric ELSE version_sort END,
				source_updated_at = CASE WHEN @identified THEN @updated::timestamptz ELSE source_updated_at END,
				-- neither says anything of another record
				wrote_version = CASE WHEN target_id IS DISTINCT FROM coalesce(@target_id, target_id) THEN '' ELSE wrote_version END,
				review_group = CASE WHEN target_id IS DISTINCT FROM coalesce(@target_id, target_id) THEN NULL ELSE review_group END
			WHERE id = @id RETURNING id, status
		)
		INSERT INTO entry_history (entry_id, event, from_status, to_status, actor, note, detail)
		SELECT id, @event, status, status, @by, @note, @detail::json FROM edited`
	_, err = s.db(ctx).Exec(ctx, editPayload, names{
		"id": e.ID, "revision": e.PayloadRevision + 1, "payload": orEmpty(p.Raw), "by": text(p.By), "reason": text(p.Reason), "target_id": orNullText(p.TargetID), "identified": p.Identified,
		"source_version": text(p.SourceVersion), "version": version, "version_sort": sort, "updated": orNull(updated),
		"event": deadletter.EventEdited, "note": text(note), "detail": about,
	})
	return err
}

// ListPayloads lists the payload that an entry was filed with and every edit, the oldest first.
func (s *Store) ListPayloads(ctx context.Context, id string) ([]deadletter.Payload, error) {
	const listPayloads = `SELECT revision, raw_payload, edited_by, reason, created_at FROM entry_payload WHERE entry_id = $1::uuid ORDER BY revision`
	rows, err := s.db(ctx).Query(ctx, listPayloads, id)
	if err != nil {
		return nil, interpretError("list payloads", err)
	}
	ps, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p deadletter.Payload, err error) {
		err = row.Scan(&p.Revision, &p.Raw, &p.EditedBy, &p.Reason, &p.CreatedAt)
		p.CreatedAt = p.CreatedAt.UTC()
		return p, err
	})
	return ps, interpretError("list payloads", err)
}
