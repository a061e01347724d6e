package httpapi

import (
	"context"
	"io"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/live"
	"airtable-replay/internal/replay"
	"airtable-replay/internal/store"
)

// What the operations ask of the packages below. IDs of entries may be Airtable record IDs; they and
// all other IDs have been checked for their form.

type filingService interface {
	// FileEntry answers false when the same was filed before (mission E4).
	FileEntry(ctx context.Context, f replay.Filing) (e deadletter.Entry, created bool, err error)
}

type entryService interface {
	ListEntries(ctx context.Context, f replay.Filter, p replay.Page) (es []deadletter.Entry, next string, err error)
	SummarizeEntries(ctx context.Context, f replay.Filter) (replay.Summary, error)
	ShowEntry(ctx context.Context, id string) (deadletter.Entry, error)
	ListEntryHistory(ctx context.Context, id string) ([]deadletter.HistoryLine, error)
}

type pressService interface {
	// TakeInEntry makes an entry of a row that only the dead letter table has (mission T2). It may ask
	// Airtable, so it runs before the transaction of the press.
	TakeInEntry(ctx context.Context, id string) error
	PressReplay(ctx context.Context, p replay.Press) (runID string, e deadletter.Entry, err error)
	// PreviewReplay writes nothing (mission O2).
	PreviewReplay(ctx context.Context, r replay.PreviewRequest) (replay.Preview, error)
}

type reviewService interface {
	ResetEntry(ctx context.Context, o replay.Order) (deadletter.Entry, error)
	IgnoreEntry(ctx context.Context, o replay.Order) (deadletter.Entry, error)
	ReopenEntry(ctx context.Context, o replay.Order) (deadletter.Entry, error)
	AssignOwner(ctx context.Context, id, owner, by string) (deadletter.Entry, error)
	IgnoreEntries(ctx context.Context, o replay.BulkOrder) (replay.BulkResult, error)
	ReopenEntries(ctx context.Context, o replay.BulkOrder) (replay.BulkResult, error)
	AssignEntries(ctx context.Context, ids []string, owner, by string) (replay.BulkResult, error)
}

type restoreService interface {
	RestoreEntry(ctx context.Context, r replay.RestoreRequest) (deadletter.Run, error)
	// PreviewRestore writes nothing (mission A2).
	PreviewRestore(ctx context.Context, id string) (replay.RestorePreview, error)
}

type payloadService interface {
	EditPayload(ctx context.Context, p replay.PayloadEdit) (deadletter.Entry, error)
	// ListPayloads lists the payload as filed and every edit, the oldest first.
	ListPayloads(ctx context.Context, id string) ([]deadletter.Payload, error)
}

type runService interface {
	StartRun(ctx context.Context, r replay.RunRequest) (deadletter.Run, error)
	ShowRun(ctx context.Context, id string) (deadletter.Run, error)
	ListRuns(ctx context.Context, p replay.Page) (rs []deadletter.Run, next string, err error)
	CancelRun(ctx context.Context, id, by, reason string) (deadletter.Run, error)
	WatchRun(ctx context.Context, id string) <-chan deadletter.Run
	WriteEvidence(ctx context.Context, w io.Writer, id, format string) error
}

type stuckService interface {
	ListStuck(ctx context.Context) ([]deadletter.Entry, error)
	// ResetStuck resets all that are stuck when it is given no IDs.
	ResetStuck(ctx context.Context, ids []string, actor string) (int, error)
}

type baseService interface {
	ListBases(ctx context.Context) ([]replay.BaseState, error)
	HaltBase(ctx context.Context, name, reason, actor string) (replay.BaseState, error)
	ResumeBase(ctx context.Context, name, actor string) (replay.BaseState, error)
}

type writeService interface {
	// AcceptWrites returns once all are durable, in the order of its argument (mission L1).
	AcceptWrites(ctx context.Context, in []live.Incoming) ([]live.Accepted, error)
	ShowWrite(ctx context.Context, id string) (live.Write, error)
	ValidatePayload(ctx context.Context, in live.Incoming) (live.Check, error)
}

type tokenStore interface {
	// TokenByHash answers CodeNotFound for a hash that belongs to no valid token.
	TokenByHash(ctx context.Context, hash [32]byte) (store.Token, error)
}

type answerStore interface {
	// Idempotent runs do within a transaction that its context carries and stores the answer with it.
	// Where do fails or answers 5xx, all is rolled back and nothing is stored.
	Idempotent(ctx context.Context, tokenID string, keyHash, bodyHash [32]byte,
		do func(ctx context.Context) (store.Answer, error)) (a store.Answer, replayed bool, err error)
}

// pingService takes pings of Airtable's webhook.
type pingService interface {
	HearPing(ctx context.Context, body []byte, signature string) error
}
