package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/live"
	"airtable-replay/internal/replay"
)

const (
	entryID = "0199a0c4-0000-7000-8000-000000000001"
	runID   = "0199a0c4-0000-7000-8000-000000000002"
	writeID = "0199a0c4-0000-7000-8000-000000000003"
)

// services answers every operation from its fields and keeps what it was asked.
type services struct {
	calls    []any // the arguments of each call
	inTx     bool  // whether the last call ran within a transaction of answers
	err      error
	panics   any
	entry    deadletter.Entry
	created  bool
	next     string
	summary  replay.Summary
	history  []deadletter.HistoryLine
	preview  replay.Preview
	run      deadletter.Run
	base     replay.BaseState
	write    live.Write
	check    live.Check
	reset    int
	payloads []deadletter.Payload
	bulk     replay.BulkResult
	restore  replay.RestorePreview
	evidence string
	broken   error // of evidence that is under way
	watching bool  // the run is watched without end
}

// emptyEvidence is a bundle of a run without entries.
const emptyEvidence = `{"run": {"id": "` + runID + `", "kind": "run", "status": "queued", "reason": null, "dry_run": false, "mode": "checked", "requested_by": "", "note": "",
	"selector": {}, "left_out": 0, "counts": {"claimed": 0, "replayed": 0, "partially_replayed": 0, "superseded": 0, "needs_review": 0, "replay_failed": 0, "released": 0, "restored": 0, "refused": 0},
	"reconciliation": {"created": 0, "updated": 0, "unchanged": 0, "merged": 0, "balanced": true, "skipped_by_reason": {}}, "forecast": null, "why": [], "notices": [],
	"created_at": "2026-10-04T09:00:00Z", "started_at": null, "finished_at": null}, "entries": []}`

func newServices() *services {
	return &services{
		entry: openEntry(), created: true, run: deadletter.Run{ID: runID, Kind: deadletter.RunMany, Status: deadletter.RunQueued, Mode: deadletter.Checked, CreatedAt: at(9)},
		base:     replay.BaseState{Name: "orders", State: "running"},
		evidence: emptyEvidence,
		write:    live.Write{ID: writeID, SourceSystem: "order-system", Status: "queued", AcceptedAt: at(8)},
		preview: replay.Preview{
			Verdict: deadletter.Verdict{Outcome: deadletter.Replayed}, Action: deadletter.ActionUpdate, RecordID: "recOrder000000001",
		},
	}
}

func at(hour int) time.Time { return time.Date(2026, 10, 4, hour, 0, 0, 0, time.UTC) }

// openEntry is an entry as filed, with little known of it.
func openEntry() deadletter.Entry {
	return deadletter.Entry{
		ID: entryID, SourceSystem: "order-system", Operation: deadletter.Update, RawPayload: []byte(`{"id":1970670598291982290}`),
		ReasonCode: deadletter.ReasonNoResponseExhausted, FirstAttemptAt: at(8), Status: deadletter.PendingReview, CreatedAt: at(9), UpdatedAt: at(9),
	}
}

// settledEntry is an entry of which everything is known.
func settledEntry() deadletter.Entry {
	e := openEntry()
	e.DLQRecordID, e.TargetTable, e.TargetID, e.Base = "recDeadLetter0001", "Orders", "O-1", "orders"
	e.ErrorDetail, e.StatusCode, e.Attempts = `<b>"503" & more</b>`, 503, 5
	e.SourceVersion, e.SourceUpdatedAt = "2026-10-04T09:30:00+02:00", at(7).Add(30*time.Minute)
	e.FirstAttemptAt = at(8).In(time.FixedZone("", 2*3600))
	e.Status, e.AssignedOwner, e.Flags, e.PayloadRevision = deadletter.Resolved, "ada", []deadletter.Flag{deadletter.Landed}, 2
	e.Replay = &deadletter.Replay{
		RunID: runID, Mode: deadletter.UnchangedFields, RequestedBy: "ada", RequestedAt: at(10), Outcome: deadletter.PartiallyReplayed,
		Reason: deadletter.ReasonSharedFieldChanged, ReplayedBy: "replica-1", ReplayedAt: at(11),
		FieldsReplayed: map[string]any{"Amount": json.Number("9007199254740993.10"), "Status": "Shipped"},
		FieldsSkipped: []deadletter.Skip{
			{Field: "Delivery Date", Reason: deadletter.ReasonSharedFieldChanged, ChangedAt: at(9), Current: "2026-10-09", Incoming: "2026-10-07"},
			{Field: "Note", Reason: deadletter.ReasonNotChosen, Incoming: "a < b"},
		},
		ValuesBefore: map[string]any{"Amount": nil, "Status": "Pending"}, RecordID: "recOrder000000001", StatusCode: 200,
		ErrorDetail: "", Notes: "Delivery Date was edited at 09:00.", Attempts: 1,
	}
	return e
}

func (s *services) call(ctx context.Context, args ...any) error {
	s.calls = append(s.calls, args...)
	s.inTx, _ = ctx.Value(txKey{}).(bool)
	if s.panics != nil {
		panic(s.panics)
	}
	return s.err
}

func (s *services) FileEntry(ctx context.Context, f replay.Filing) (deadletter.Entry, bool, error) {
	return s.entry, s.created, s.call(ctx, f)
}

func (s *services) ListEntries(ctx context.Context, f replay.Filter, p replay.Page) ([]deadletter.Entry, string, error) {
	return []deadletter.Entry{s.entry}, s.next, s.call(ctx, f, p)
}

func (s *services) SummarizeEntries(ctx context.Context, f replay.Filter) (replay.Summary, error) {
	return s.summary, s.call(ctx, f)
}

func (s *services) ShowEntry(ctx context.Context, id string) (deadletter.Entry, error) {
	return s.entry, s.call(ctx, id)
}

func (s *services) ListEntryHistory(ctx context.Context, id string) ([]deadletter.HistoryLine, error) {
	return s.history, s.call(ctx, id)
}

// TakeInEntry knows every row already.
func (s *services) TakeInEntry(context.Context, string) error { return nil }

func (s *services) PressReplay(ctx context.Context, p replay.Press) (string, deadletter.Entry, error) {
	return runID, s.entry, s.call(ctx, p)
}

func (s *services) PreviewReplay(ctx context.Context, r replay.PreviewRequest) (replay.Preview, error) {
	return s.preview, s.call(ctx, r)
}

func (s *services) ResetEntry(ctx context.Context, o replay.Order) (deadletter.Entry, error) {
	return s.entry, s.call(ctx, "reset", o)
}

func (s *services) IgnoreEntry(ctx context.Context, o replay.Order) (deadletter.Entry, error) {
	return s.entry, s.call(ctx, "ignore", o)
}

func (s *services) ReopenEntry(ctx context.Context, o replay.Order) (deadletter.Entry, error) {
	return s.entry, s.call(ctx, "reopen", o)
}

func (s *services) AssignOwner(ctx context.Context, id, owner, by string) (deadletter.Entry, error) {
	return s.entry, s.call(ctx, id, owner, by)
}

func (s *services) IgnoreEntries(ctx context.Context, o replay.BulkOrder) (replay.BulkResult, error) {
	return s.bulk, s.call(ctx, "ignore", o)
}

func (s *services) ReopenEntries(ctx context.Context, o replay.BulkOrder) (replay.BulkResult, error) {
	return s.bulk, s.call(ctx, "reopen", o)
}

func (s *services) AssignEntries(ctx context.Context, ids []string, owner, by string) (replay.BulkResult, error) {
	return s.bulk, s.call(ctx, ids, owner, by)
}

func (s *services) EditPayload(ctx context.Context, p replay.PayloadEdit) (deadletter.Entry, error) {
	return s.entry, s.call(ctx, p)
}

func (s *services) ListPayloads(ctx context.Context, id string) ([]deadletter.Payload, error) {
	return s.payloads, s.call(ctx, id)
}

func (s *services) RestoreEntry(ctx context.Context, r replay.RestoreRequest) (deadletter.Run, error) {
	return s.run, s.call(ctx, r)
}

func (s *services) PreviewRestore(ctx context.Context, id string) (replay.RestorePreview, error) {
	return s.restore, s.call(ctx, id)
}

func (s *services) StartRun(ctx context.Context, r replay.RunRequest) (deadletter.Run, error) {
	return s.run, s.call(ctx, r)
}

func (s *services) ShowRun(ctx context.Context, id string) (deadletter.Run, error) {
	return s.run, s.call(ctx, id)
}

func (s *services) ListRuns(ctx context.Context, p replay.Page) ([]deadletter.Run, string, error) {
	return []deadletter.Run{s.run}, s.next, s.call(ctx, p)
}

func (s *services) CancelRun(ctx context.Context, id, by, reason string) (deadletter.Run, error) {
	return s.run, s.call(ctx, id, by, reason)
}

// WatchRun shows the run as it is, and then finished.
func (s *services) WatchRun(ctx context.Context, id string) <-chan deadletter.Run {
	out := make(chan deadletter.Run, 2)
	if s.call(ctx, id) == nil && !s.watching {
		done := s.run
		done.FinishedAt = at(12)
		out <- s.run
		out <- done
	}
	if !s.watching {
		close(out)
	}
	return out
}

func (s *services) WriteEvidence(ctx context.Context, w io.Writer, id, format string) error {
	if _, err := io.WriteString(w, s.evidence); err != nil {
		return err
	}
	return errors.Join(s.call(ctx, id, format), s.broken)
}

func (s *services) ListStuck(ctx context.Context) ([]deadletter.Entry, error) {
	return []deadletter.Entry{s.entry}, s.call(ctx)
}

func (s *services) ResetStuck(ctx context.Context, ids []string, actor string) (int, error) {
	return s.reset, s.call(ctx, ids, actor)
}

func (s *services) ListBases(ctx context.Context) ([]replay.BaseState, error) {
	return []replay.BaseState{s.base}, s.call(ctx)
}

func (s *services) HaltBase(ctx context.Context, name, reason, actor string) (replay.BaseState, error) {
	return s.base, s.call(ctx, name, reason, actor)
}

func (s *services) ResumeBase(ctx context.Context, name, actor string) (replay.BaseState, error) {
	return s.base, s.call(ctx, name, actor)
}

func (s *services) AcceptWrites(ctx context.Context, in []live.Incoming) ([]live.Accepted, error) {
	out := make([]live.Accepted, len(in))
	for i := range in {
		out[i] = live.Accepted{ID: writeID, Status: "queued"}
	}
	return out, s.call(ctx, in)
}

func (s *services) ShowWrite(ctx context.Context, id string) (live.Write, error) {
	return s.write, s.call(ctx, id)
}

func (s *services) ValidatePayload(ctx context.Context, in live.Incoming) (live.Check, error) {
	return s.check, s.call(ctx, in)
}

func (s *services) HearPing(ctx context.Context, body []byte, signature string) error {
	return s.call(ctx, string(body), signature)
}
