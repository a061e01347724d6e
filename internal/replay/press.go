package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
	"airtable-replay/internal/store"
)

// PressReplay claims an entry and asks for a pass over its base, in one transaction (P1). A press on
// an entry that is not pending is refused with the state it is in, and nothing is started (P2).
func (s *Service) PressReplay(ctx context.Context, p Press) (runID string, e deadletter.Entry, err error) {
	err = s.Store.InTx(ctx, func(ctx context.Context) error {
		locked, err := s.Store.LockEntry(ctx, p.EntryID, s.routes())
		if err != nil {
			return err
		}
		e = locked.Entry
		if runID, err = s.press(ctx, locked, p); err != nil {
			return err
		}
		e, err = s.Store.ShowEntry(ctx, e.ID)
		return err
	})
	if err != nil {
		return "", e, s.refused(ctx, e, p, err)
	}
	return runID, e, nil
}

func (s *Service) press(ctx context.Context, e store.Locked, p Press) (runID string, err error) {
	if err := s.mayPress(e, p); err != nil {
		return "", err
	}
	if err := s.reidentify(ctx, e); err != nil {
		return "", err
	}
	ids, err := s.along(ctx, e.Entry, p)
	if err != nil {
		return "", err
	}
	claimed, err := s.Store.ClaimEntries(ctx, store.Claim{
		Run:    deadletter.Run{Kind: deadletter.RunPress, RequestedBy: p.RequestedBy, Mode: p.Mode, Selector: deadletter.Selector{IDs: ids}},
		Filter: store.Filter{IDs: ids}, AttemptCap: s.capFor(p.Admin), PressReason: p.Reason, Chosen: p.Fields, Expect: expectFor(ids, p.Expect), Routes: s.routes(),
		Held: e.Held,
	})
	if err != nil {
		return "", err
	}
	return claimed.RunID, s.wakeAll(ctx, claimed.Bases)
}

// capFor is the attempt cap for what a press takes along; an admin has none (O3).
func (s *Service) capFor(admin bool) int {
	if admin {
		return 0
	}
	return s.AttemptCap
}

// checkRevision holds a press to the payload that was shown: an order over newer values has to name its
// revision when it was edited after the last decision (R11).
func checkRevision(e store.Locked, p Press) error {
	reviewed := p.Mode == deadletter.ChosenFields || p.Mode == deadletter.Overwrite
	if p.ExpectRevision == nil && !(reviewed && e.Edited) || p.ExpectRevision != nil && *p.ExpectRevision == e.PayloadRevision {
		return nil
	}
	err := deadletter.Errorf(deadletter.CodeConflict, "payload-changed",
		"the payload was edited since the decision that was shown (it has revision %d now); look at the preview again, and send its revision as expect_revision", e.PayloadRevision)
	err.EntryStatus = e.Status
	return err
}

// mayPress refuses what is not to be claimed.
func (s *Service) mayPress(e store.Locked, p Press) error {
	if e.Status != deadletter.PendingReview {
		return notPending(e.Entry)
	}
	if s.AttemptCap > 0 && e.OwnFailures >= s.AttemptCap && !p.Admin {
		err := deadletter.Errorf(deadletter.CodeConflict, "attempt-cap",
			"this entry failed %d times by its own fault; only an admin can replay it now. Mend or ignore it.", e.OwnFailures)
		err.EntryStatus = e.Status
		return err
	}
	if err := s.checkMode(e.Entry, p); err != nil {
		return err
	}
	return checkRevision(e, p)
}

// checkMode holds a reviewer's order to what was shown (R11).
func (s *Service) checkMode(e deadletter.Entry, p Press) error {
	var faults []deadletter.FieldError
	fault := func(field, rule, detail string) {
		faults = append(faults, deadletter.FieldError{Field: field, Rule: rule, Detail: detail})
	}
	reviewed := p.Mode == deadletter.ChosenFields || p.Mode == deadletter.Overwrite
	if reviewed && p.Expect == nil {
		fault("expect", "required", "send the current value of each field as it was shown, so that a change since then is noticed")
	}
	if p.Mode == deadletter.Overwrite && strings.TrimSpace(p.Reason) == "" {
		fault("reason", "required", "say why newer values are to be overwritten")
	}
	if p.Mode == deadletter.ChosenFields && len(p.Fields) == 0 {
		fault("fields", "required", "name the fields to write")
	}
	if src, ok := s.Book.Source(e.SourceSystem); ok && p.Mode == deadletter.ChosenFields {
		for _, name := range p.Fields {
			if !slices.Contains(src.FieldNames(), name) {
				fault("fields", "known", fmt.Sprintf("%q is no field of this entry's source; it has %s", name, strings.Join(src.FieldNames(), ", ")))
			}
		}
	}
	if p.Mode == deadletter.Overwrite && !p.Admin {
		return deadletter.Errorf(deadletter.CodeForbidden, "", "mode overwrite needs the admin scope")
	}
	if len(faults) == 0 {
		return nil
	}
	err := deadletter.Errorf(deadletter.CodeInvalid, "", "the press cannot be accepted as it is")
	err.Fields = faults
	return err
}

// reidentify takes the key and version from the payload anew: the source may have been configured, or
// the payload edited, since the entry was filed.
func (s *Service) reidentify(ctx context.Context, e store.Locked) error {
	src, ok := s.Book.Source(e.SourceSystem)
	if !ok {
		return nil
	}
	id := identity(src, e.RawPayload, e.Entry)
	key := id.TargetID
	if e.TargetID != "" && e.PayloadRevision == 0 {
		key = e.TargetID
	}
	return s.Store.Reidentify(ctx, e, key, id.VersionRaw, id.Version)
}

// identity is what a payload of an entry tells of key and version. A version that it does not hold is
// the one that the entry was filed with.
func identity(src *pipeline.Source, payload []byte, e deadletter.Entry) pipeline.Identity {
	id := src.Identify(payload)
	if id.VersionRaw != "" || src.Versionless || e.SourceVersion == "" {
		return id
	}
	id.VersionRaw = e.SourceVersion
	if v, err := deadletter.ParseVersion(src.Spec, e.SourceVersion, nil); err == nil {
		id.Version = v
	}
	return id
}

// along is the entry and what is to go with it: the siblings that one decision sent to review with it
// (R11), and all open siblings when the press says so (P4).
func (s *Service) along(ctx context.Context, e deadletter.Entry, p Press) ([]string, error) {
	ids := []string{e.ID}
	if e.Replay != nil && e.Replay.Outcome == deadletter.NeedsReview {
		group, err := s.Store.ReviewGroup(ctx, e.ID)
		if err != nil {
			return nil, err
		}
		ids = append(ids, group...)
	}
	if p.WithSiblings {
		siblings, err := s.Store.OpenSiblings(ctx, e.ID)
		if err != nil {
			return nil, err
		}
		ids = append(ids, siblings...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

func expectFor(ids []string, expect map[string]any) map[string]map[string]any {
	if expect == nil {
		return nil
	}
	out := map[string]map[string]any{}
	for _, id := range ids {
		out[id] = expect
	}
	return out
}

// wakeAll asks for a pass over each base.
func (s *Service) wakeAll(ctx context.Context, bases []string) error {
	for _, base := range bases {
		if err := s.Wake(ctx, base); err != nil {
			return err
		}
	}
	return nil
}

// notPending says what state the entry is in (P2).
func notPending(e deadletter.Entry) error {
	err := deadletter.Errorf(deadletter.CodeConflict, "entry-not-pending", "%s", stateSentence(e))
	err.EntryStatus = e.Status
	if e.Replay != nil {
		err.RunID = e.Replay.RunID
	}
	return err
}

func stateSentence(e deadletter.Entry) string {
	r := e.Replay
	switch {
	case e.Status == deadletter.Replaying && r != nil:
		return fmt.Sprintf("This entry is being replayed since %s, asked by %s.", stamp(r.RequestedAt), r.RequestedBy)
	case e.Status == deadletter.Resolved && r != nil:
		return fmt.Sprintf("This entry was already settled at %s by %s: %s.", stamp(r.ReplayedAt), r.ReplayedBy, strings.ReplaceAll(string(r.Outcome), "_", " "))
	case e.Status == deadletter.Ignored:
		return "This entry is ignored; an admin can reopen it."
	}
	return fmt.Sprintf("This entry is %s.", strings.ReplaceAll(string(e.Status), "_", " "))
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// refused notes a refusal on the entry, so that it is seen where the button was pressed (R10).
func (s *Service) refused(ctx context.Context, e deadletter.Entry, p Press, cause error) error {
	d, ok := errors.AsType[*deadletter.Error](cause)
	if !ok || e.ID == "" || d.Code == deadletter.CodeInternal || d.Code == deadletter.CodeUnavailable {
		return cause
	}
	if err := s.Store.RefusePress(ctx, e.ID, p.RequestedBy, d.Sentence()); err != nil {
		return err
	}
	return cause
}

// TakeInEntry makes an entry of a row that another tool wrote only into the dead letter table, when
// Replay is pressed on it (T2). An ID that is known, or that is not a record ID, is left alone. It
// calls Airtable, so it must not run inside a transaction.
func (s *Service) TakeInEntry(ctx context.Context, id string) error {
	if !strings.HasPrefix(id, "rec") || s.Intake == nil {
		return nil
	}
	_, err := s.Store.ShowEntry(ctx, id)
	if deadletter.CodeOf(err) != deadletter.CodeNotFound {
		return err
	}
	f, known, err := s.Intake.TakeInRow(ctx, id)
	if err != nil {
		return s.refuseRow(ctx, id, err)
	}
	if known {
		return nil
	}
	e, _, err := s.FileEntry(ctx, f)
	if err == nil && e.DLQRecordID != id {
		err = deadletter.Errorf(deadletter.CodeConflict, "row-is-a-copy", "This row holds the same dead letter as row %s (same source, payload and first attempt); press Replay there.", e.DLQRecordID)
	}
	if err != nil {
		return s.refuseRow(ctx, id, err)
	}
	return nil
}

// refuseRow tells the person at the button why a row cannot be taken in; the press is refused
// either way.
func (s *Service) refuseRow(ctx context.Context, id string, cause error) error {
	d, ok := errors.AsType[*deadletter.Error](cause)
	if !ok || d.Code != deadletter.CodeInvalid && d.Code != deadletter.CodeConflict {
		return cause
	}
	if err := s.Intake.RefuseRow(ctx, id, d.Sentence()); err != nil {
		s.Logger.WarnContext(ctx, "refuse row", "row", id, "error", err)
		return &deadletter.Error{Code: deadletter.CodeUnavailable, Message: d.Sentence() + " The row could not be told so; press again later.", RetryAfter: 10 * time.Second, Err: err}
	}
	return cause
}
