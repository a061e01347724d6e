package app

import (
	"context"

	"airtable-replay/internal/mirror"
	"airtable-replay/internal/replay"
)

// intake lets replay take rows in from the mirror's table.
type intake struct{ mirror *mirror.Mirror }

// TakeInRow reads a row as a filing.
func (i intake) TakeInRow(ctx context.Context, recordID string) (f replay.Filing, known bool, err error) {
	row, err := i.mirror.TakeIn(ctx, recordID)
	if err != nil || row.EntryID != "" {
		return replay.Filing{}, row.EntryID != "", err
	}
	return replay.Filing{
		SourceSystem: row.SourceSystem, TargetTable: row.TargetTable, TargetID: row.TargetID, Operation: row.Operation, RawPayload: row.RawPayload,
		ReasonCode: row.ReasonCode, ErrorDetail: row.ErrorDetail, StatusCode: row.StatusCode, Attempts: row.Attempts,
		FirstAttemptAt: row.FirstAttemptAt, AssignedOwner: row.AssignedOwner, DLQRecordID: row.DLQRecordID, Actor: "dead letter table",
	}, false, nil
}

// RefuseRow unticks a row's box and leaves a note there.
func (i intake) RefuseRow(ctx context.Context, recordID, note string) error {
	return i.mirror.Refuse(ctx, recordID, note)
}

// presser lets the mirror press Replay for rows of its table.
type presser struct{ app *App }

// TakeInEntry makes an entry of a row that only the table has.
func (p presser) TakeInEntry(ctx context.Context, recordID string) error {
	return p.app.Replay.TakeInEntry(ctx, recordID)
}

// PressOnce presses Replay on a row's entry, once for each key.
func (p presser) PressOnce(ctx context.Context, recordID, by, key string) error {
	return p.app.Replay.PressOnce(ctx, recordID, by, key)
}
