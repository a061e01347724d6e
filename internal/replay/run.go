package replay

import (
	"context"
	"strings"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// StartRun claims every pending entry that the selector picks, in one statement, and wakes their
// bases (B1). Entries past the attempt cap stay, unless an admin asks.
func (s *Service) StartRun(ctx context.Context, r RunRequest) (deadletter.Run, error) {
	if err := checkRun(r); err != nil {
		return deadletter.Run{}, err
	}
	if err := s.ownIDs(ctx, &r); err != nil {
		return deadletter.Run{}, err
	}
	limit := s.AttemptCap
	if r.Admin {
		limit = 0
	}
	claim := store.Claim{
		Run:    deadletter.Run{Kind: deadletter.RunMany, RequestedBy: r.RequestedBy, Mode: r.Mode, Note: r.Note, Selector: r.Selector},
		Filter: selected(r.Selector), AttemptCap: limit, Limit: r.Limit, WithSiblings: r.WithSiblings,
		PressReason: r.Note, Chosen: r.Fields, Expect: r.Expect, Routes: s.routes(),
	}
	if r.DryRun {
		return s.dryRun(ctx, claim)
	}
	var run deadletter.Run
	err := s.Store.InTx(ctx, func(ctx context.Context) error {
		claimed, err := s.Store.ClaimEntries(ctx, claim)
		if err != nil {
			return err
		}
		if claimed.Count == 0 {
			return nothingPending()
		}
		if err := s.wakeAll(ctx, claimed.Bases); err != nil {
			return err
		}
		run, err = s.Store.ShowRun(ctx, claimed.RunID)
		return err
	})
	return run, err
}

func nothingPending() error {
	return emptySelection("no entry at Pending Review is selected; entries past the attempt cap are left out")
}

// ownIDs turns record IDs of rows in the dead letter table into ours.
func (s *Service) ownIDs(ctx context.Context, r *RunRequest) error {
	own := map[string]string{}
	for i, id := range r.Selector.IDs {
		if !strings.HasPrefix(id, "rec") {
			continue
		}
		e, err := s.Store.ShowEntry(ctx, id)
		if err != nil {
			return err
		}
		own[id], r.Selector.IDs[i] = e.ID, e.ID
	}
	expect := map[string]map[string]any{}
	for id, values := range r.Expect {
		if own[id] != "" {
			id = own[id]
		}
		expect[id] = values
	}
	if r.Expect != nil {
		r.Expect = expect
	}
	return nil
}

func checkRun(r RunRequest) error {
	reviewed := r.Mode == deadletter.ChosenFields || r.Mode == deadletter.Overwrite
	if r.DryRun && reviewed {
		err := deadletter.Errorf(deadletter.CodeInvalid, "", "the run cannot be accepted as it is")
		err.Fields = []deadletter.FieldError{{Field: "dry_run", Rule: "mode", Detail: "goes with the modes checked and unchanged_fields; preview the entries of another mode one by one"}}
		return err
	}
	if isEmpty(r.Selector) {
		return emptySelection("the selector names nothing; name at least one of ids, reason, outcome, source, target, run, owner, first_attempt_from, first_attempt_to")
	}
	if reviewed && len(r.Expect) == 0 {
		err := deadletter.Errorf(deadletter.CodeInvalid, "", "the run cannot be accepted as it is")
		err.Fields = []deadletter.FieldError{{Field: "expect", Rule: "required", Detail: "this mode needs, for each entry ID, the current values as they were shown"}}
		return err
	}
	if r.Mode == deadletter.Overwrite && !r.Admin {
		return deadletter.Errorf(deadletter.CodeForbidden, "", "mode overwrite needs the admin scope")
	}
	if r.Mode == deadletter.Overwrite && strings.TrimSpace(r.Note) == "" {
		err := deadletter.Errorf(deadletter.CodeInvalid, "", "the run cannot be accepted as it is")
		err.Fields = []deadletter.FieldError{{Field: "note", Rule: "required", Detail: "say why newer values are to be overwritten"}}
		return err
	}
	return nil
}

func isEmpty(s deadletter.Selector) bool {
	return len(s.IDs) == 0 && s.Reason == "" && s.Outcome == "" && s.Source == "" && s.Target == "" && s.Run == "" && s.Owner == "" &&
		s.FirstAttemptFrom.IsZero() && s.FirstAttemptTo.IsZero()
}

func emptySelection(detail string) error {
	err := deadletter.Errorf(deadletter.CodeInvalid, "empty-selection", "nothing is selected, no run was started")
	err.Fields = []deadletter.FieldError{{Field: "selector", Rule: "selects", Detail: detail}}
	return err
}

func selected(s deadletter.Selector) store.Filter {
	return store.Filter{
		IDs: s.IDs, Outcome: s.Outcome, Reason: s.Reason, Source: s.Source, Target: s.Target, Run: s.Run, Owner: s.Owner,
		FirstAttemptFrom: s.FirstAttemptFrom, FirstAttemptTo: s.FirstAttemptTo,
	}
}

// ShowRun finds a run with its totals, with its forecast when it is a dry run, with why entries were not
// written, and with what downstream was told of it.
func (s *Service) ShowRun(ctx context.Context, id string) (deadletter.Run, error) {
	r, err := s.Store.ShowRun(ctx, id)
	if err != nil {
		return r, err
	}
	if err := s.foretell(ctx, &r); err != nil {
		return r, err
	}
	if r.Why, err = s.Store.CountWhy(ctx, r); err != nil {
		return r, err
	}
	told, err := s.Store.ListNotifications(ctx, r.ID)
	for _, n := range told {
		r.Notices = append(r.Notices, deadletter.Notice{Endpoint: n.Endpoint, Event: n.Event, Delivered: n.Delivered, Attempts: n.Attempts, LastError: n.LastError})
	}
	return r, err
}

// ListRuns lists runs, the newest first.
func (s *Service) ListRuns(ctx context.Context, p Page) (rs []deadletter.Run, next string, err error) {
	if rs, next, err = s.Store.ListRuns(ctx, store.Page(p)); err != nil {
		return nil, "", err
	}
	for i := range rs {
		if err := s.foretell(ctx, &rs[i]); err != nil {
			return nil, "", err
		}
	}
	return rs, next, nil
}
