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
