package replay

import (
	"context"
	"strings"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// RestoreRequest asks that what the last replay of an entry wrote be taken back (mission A2).
type RestoreRequest struct {
	EntryID     string // ours, or the Airtable record ID of its row
	RequestedBy string
	Reason      string
}

// RestorePreview is what a restore would do as things stand (mission A2).
type RestorePreview struct {
	Fields   []deadletter.FieldCheck // Incoming is the value before the replay; empty where it is plain that nothing can be restored
	Possible bool                    // at least one field would be written back
	Notes    []string                // what cannot be restored and why, in plain words
	RecordID string                  // the record that the replay wrote; empty: none
}

// RestoreEntry starts a run that writes Values Before back, field by field only where the record still
// holds what the replay wrote (mission A2, R12). The entry stays Resolved. What is plain beforehand is
// refused as CodeConflict: an entry that is not resolved, a creation, a replay that changed nothing,
// replaced attachments, a second restore, a halted base.
func (s *Service) RestoreEntry(ctx context.Context, r RestoreRequest) (run deadletter.Run, err error) {
	err = s.Store.InTx(ctx, func(ctx context.Context) error {
		w, err := s.Store.HoldWritten(ctx, r.EntryID)
		if err != nil {
			return err
		}
		if refusal := mayRestore(w); refusal != nil {
			return refusal
		}
		id, err := s.Store.StartRestore(ctx, w, r.RequestedBy, r.Reason)
		if err != nil {
			return err
		}
		if err := s.Wake(ctx, w.Base); err != nil {
			return err
		}
		run, err = s.Store.ShowRun(ctx, id)
		return err
	})
	return run, err
}

// mayRestore refuses what is plain without a look at the record; nil: it may be tried.
func mayRestore(w store.Written) *deadletter.Error {
	e := w.Entry
	refuse := func(problem, format string, args ...any) *deadletter.Error {
		err := deadletter.Errorf(deadletter.CodeConflict, problem, format, args...)
		err.EntryStatus = e.Status
		return err
	}
	if e.Status != deadletter.Resolved {
		return refuse("entry-not-resolved", "only a resolved entry can be restored; this one is %s", strings.ReplaceAll(string(e.Status), "_", " "))
	}
	if r := e.Replay; r != nil && r.Effect == deadletter.EffectCreated || w.Creates {
		return refuse("not-restorable", "the replay created the record, so there are no values from before; delete the record by hand if it should not be there")
	}
	if len(w.Before) == 0 {
		return refuse("nothing-to-restore", "the last replay of this entry changed no value, so there is nothing to restore")
	}
	if fields, notes := deadletter.Restorable(w.Before); len(fields) == 0 {
		return refuse("not-restorable", "%s", strings.Join(notes, " "))
	}
	if w.UnderWay != "" {
		err := refuse("restore-under-way", "this entry is being restored already")
		err.RunID = w.UnderWay
		return err
	}
	if w.Restored != "" {
		err := refuse("already-restored", "what this replay wrote was taken back already; reopen the entry and replay it to write it again")
		err.RunID = w.Restored
		return err
	}
	return nil
}

// PreviewRestore tells what a restore would do, field by field, and writes nothing. Where it is plain
// that nothing can be restored, the notes say so and Airtable is not asked.
func (s *Service) PreviewRestore(ctx context.Context, id string) (RestorePreview, error) {
	e, err := s.Store.ShowEntry(ctx, id)
	if err != nil {
		return RestorePreview{}, err
	}
	w, err := s.Store.FindWritten(ctx, e)
	if err != nil {
		return RestorePreview{}, err
	}
	if refusal := mayRestore(w); refusal != nil {
		return RestorePreview{Notes: []string{refusal.Message}, RecordID: w.RecordID}, nil //nolint:nilerr // the refusal is the answer
	}
	if _, err := s.openNamed(ctx, w.Base); err != nil {
		return RestorePreview{}, err
	}
	it, err := s.Store.ItemToRestore(ctx, w)
	if err != nil {
		return RestorePreview{}, err
	}
	p, err := s.Previewer.PreviewRestore(ctx, w.Base, it)
	if err != nil {
		return RestorePreview{}, upstream(err)
	}
	if p.Waits {
		return RestorePreview{}, stillLanding()
	}
	v := p.Plan.Verdicts[0]
	out := RestorePreview{Fields: v.Checks, Possible: p.Plan.Writes(), RecordID: w.RecordID}
	if len(v.Skipped) > 0 || !out.Possible {
		out.Notes = append(out.Notes, v.Note)
	}
	return out, nil
}

// stillLanding says that nothing can be told of a record yet.
func stillLanding() error {
	return &deadletter.Error{
		Code: deadletter.CodeUnavailable, Message: "an earlier write of this record may still land; its fate is known within two minutes", RetryAfter: 30 * time.Second,
	}
}
