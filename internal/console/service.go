package console

import (
	"context"
	"io"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/live"
	"airtable-replay/internal/replay"
	"airtable-replay/internal/store"
)

// What the pages ask of the packages below. IDs of entries may be Airtable record IDs.

type sessionStore interface {
	// TokenByHash and SessionByHash answer CodeNotFound for what belongs to no valid token.
	TokenByHash(ctx context.Context, hash [32]byte) (store.Token, error)
	StartSession(ctx context.Context, tokenID, person string, hash [32]byte, lasts time.Duration) error
	SessionByHash(ctx context.Context, hash [32]byte) (store.Session, error)
	EndSession(ctx context.Context, hash [32]byte) error
}

type tallyStore interface {
	CountGroups(ctx context.Context, f store.TallyFilter) ([]store.Group, error)
	SpansOf(ctx context.Context, f store.TallyFilter, reasons []deadletter.Reason) (map[deadletter.Reason]store.Span, error)
	CountHours(ctx context.Context, f store.TallyFilter) ([]store.Hour, error)
	CountStatuses(ctx context.Context) (map[deadletter.Status]int, error)
	// CountEntries counts no further than to the bound.
	CountEntries(ctx context.Context, f store.Filter, bound int) (int, error)
	ReasonsOnFile(ctx context.Context) ([]deadletter.Reason, error)
}

type runTally interface {
	SubjectsOf(ctx context.Context, rs []deadletter.Run) (map[string]*store.Subject, error)
}

type entryService interface {
	ListEntries(ctx context.Context, f replay.Filter, p replay.Page) (es []deadletter.Entry, next string, err error)
	ShowEntry(ctx context.Context, id string) (deadletter.Entry, error)
	ListEntryHistory(ctx context.Context, id string) ([]deadletter.HistoryLine, error)
}

type pressService interface {
	PressReplay(ctx context.Context, p replay.Press) (runID string, e deadletter.Entry, err error)
	// PreviewReplay asks Airtable and writes nothing (mission O2).
	PreviewReplay(ctx context.Context, r replay.PreviewRequest) (replay.Preview, error)
}

type reviewService interface {
	ResetEntry(ctx context.Context, o replay.Order) (deadletter.Entry, error)
	IgnoreEntry(ctx context.Context, o replay.Order) (deadletter.Entry, error)
	ReopenEntry(ctx context.Context, o replay.Order) (deadletter.Entry, error)
}

type runService interface {
	StartRun(ctx context.Context, r replay.RunRequest) (deadletter.Run, error)
	ShowRun(ctx context.Context, id string) (deadletter.Run, error)
	ListRuns(ctx context.Context, p replay.Page) (rs []deadletter.Run, next string, err error)
	CancelRun(ctx context.Context, id, by, reason string) (deadletter.Run, error)
	// WatchRun sends a run at once and after each change, until it is finished or ctx ends.
	WatchRun(ctx context.Context, id string) <-chan deadletter.Run
	WriteEvidence(ctx context.Context, w io.Writer, id, format string) error
}

type baseService interface {
	ListBases(ctx context.Context) ([]replay.BaseState, error)
	HaltBase(ctx context.Context, name, reason, actor string) (replay.BaseState, error)
	ResumeBase(ctx context.Context, name, actor string) (replay.BaseState, error)
}

type payloadChecker interface {
	// ValidatePayload says what the rules make of a payload, and stores nothing (mission L3).
	ValidatePayload(ctx context.Context, in live.Incoming) (live.Check, error)
}

type bulkService interface {
	IgnoreEntries(ctx context.Context, o replay.BulkOrder) (replay.BulkResult, error)
	ReopenEntries(ctx context.Context, o replay.BulkOrder) (replay.BulkResult, error)
	AssignEntries(ctx context.Context, ids []string, owner, by string) (replay.BulkResult, error)
	AssignOwner(ctx context.Context, id, owner, by string) (deadletter.Entry, error)
}

type payloadService interface {
	EditPayload(ctx context.Context, p replay.PayloadEdit) (deadletter.Entry, error)
	ListPayloads(ctx context.Context, id string) ([]deadletter.Payload, error)
}

type restoreService interface {
	// PreviewRestore asks Airtable and writes nothing (mission A2).
	PreviewRestore(ctx context.Context, id string) (replay.RestorePreview, error)
	RestoreEntry(ctx context.Context, r replay.RestoreRequest) (deadletter.Run, error)
}

type stuckService interface {
	ListStuck(ctx context.Context) ([]deadletter.Entry, error)
	// ResetStuck resets all that are stuck when it is given no IDs.
	ResetStuck(ctx context.Context, ids []string, actor string) (int, error)
}
