package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"airtable-replay/api/client"

	"golang.org/x/sync/errgroup"
)

// scene is one press of the story, and how it must come out.
type scene struct {
	order, meanwhile string
	field            string // of the order, shown afterwards
	act              act
	want             ending
}

// act plays a scene; the cell of its ending is looked up afterwards.
type act func(ctx context.Context, p *play) (ending, error)

// ending is how a scene came out, in the words of the table.
type ending struct{ outcome, reason, cell string }

const refusedPress = "Refused (409)"

// scenes are the story in order: the later ones build on the earlier.
func scenes() []scene {
	return []scene{
		{"O-1", "the sender has sent Delivered", "Status", press(newerSent, client.ModeChecked), ending{"Superseded", "newer_from_sender", "Delivered"}},
		{"O-2", "Delivery Date edited by hand", "Delivery Date", press(editedByHand, client.ModeChecked), ending{"Needs Review", "shared_field_changed", "2026-10-09"}},
		{"O-2", "reviewer: the unchanged fields", "Delivery Date", press(editedByHand, client.ModeUnchangedFields), ending{"Partially Replayed", "shared_field_changed", "2026-10-09"}},
		{"O-3", "nothing; by the Airtable button", "Status", pressButton, ending{"Replayed", "-", "Shipped"}},
		{"O-9", "the record does not exist", "Status", press(missing, client.ModeChecked), ending{"Replay Failed", "no_match", "-"}},
		{"O-5", "two presses at once: the first", "Status", pressTwice, ending{"Replayed", "-", "Shipped"}},
		{"O-5", "two presses at once: the other", "Status", recallRefusal, ending{refusedPress, "entry-not-pending", "Shipped"}},
		{"O-4", "another entry of O-4 is open", "Status", press(younger, client.ModeChecked), ending{"Replay Failed", "open_siblings", "Pending"}},
		{"O-4", "both entries in one run", "Status", replayBoth, ending{"Replayed", "one write for both", "Shipped"}},
	}
}

// press presses Replay on a letter's entry and waits for the outcome.
func press(name string, mode client.Mode) act {
	return func(ctx context.Context, p *play) (ending, error) {
		id := p.entries[name]
		refusal, err := p.client.press(ctx, id, client.Press{RequestedBy: new("Ann"), Mode: &mode})
		if err != nil {
			return ending{}, err
		}
		if refusal != nil {
			return ending{outcome: refusedPress, reason: refusal.Detail}, nil
		}
		e, err := p.client.until(ctx, id, settled)
		return endingOf(e), err
	}
}

// pressButton ticks Replay Requested in the dead letter table, as the button does; its automation calls the
// service. The outcome must come back to the row, and the box must be free again (mission T3).
func pressButton(ctx context.Context, p *play) (ending, error) {
	filed, err := p.client.until(ctx, p.entries[clean], func(e client.Entry) bool { return e.DLQRecordID != nil })
	if err != nil {
		return ending{}, err
	}
	tick := map[string]any{"Replay Requested": true, "Replay Requested By": "Ann"}
	if err := p.client.edit(ctx, deadLetters, *filed.DLQRecordID, "Ann", tick); err != nil {
		return ending{}, err
	}
	e, err := p.client.until(ctx, filed.ID, settled)
	if err != nil {
		return ending{}, err
	}
	how := endingOf(e)
	return how, poll(ctx, func() (bool, error) {
		r, found, err := p.client.find(ctx, deadLetters, "DLQ Record ID", filed.ID)
		return found && r.Fields["Replay Outcome"] == how.outcome && r.Fields["Replay Requested"] == nil, err
	})
}

// pressTwice presses the same entry twice at the same time. One press is accepted; the answer to the
// other must say what state the entry is in (mission P2).
func pressTwice(ctx context.Context, p *play) (ending, error) {
	id := p.entries[pressedTwice]
	var refusals [2]*client.Problem
	both, together := errgroup.WithContext(ctx)
	for i := range refusals {
		both.Go(func() (err error) {
			refusals[i], err = p.client.press(together, id, client.Press{RequestedBy: new("Ann")})
			return err
		})
	}
	if err := both.Wait(); err != nil {
		return ending{}, err
	}
	accepted := slices.Index(refusals[:], nil)
	if accepted < 0 || refusals[1-accepted] == nil {
		return ending{outcome: "not one press accepted"}, nil
	}
	p.refusal = refusals[1-accepted]
	e, err := p.client.until(ctx, id, settled)
	return endingOf(e), err
}

// recallRefusal shows the answer to the press that pressTwice lost.
func recallRefusal(_ context.Context, p *play) (ending, error) {
	if p.refusal == nil {
		return ending{}, errors.New("no press was refused")
	}
	state := p.refusal.EntryStatus
	if state == nil || *state != client.StatusReplaying && *state != client.StatusResolved {
		return ending{outcome: refusedPress, reason: "no state told"}, nil
	}
	return ending{outcome: refusedPress, reason: problemName(p.refusal)}, nil
}

// replayBoth takes both entries of one order in a run, which makes one write of them (mission B3).
func replayBoth(ctx context.Context, p *play) (ending, error) {
	run, err := p.client.replayEntries(ctx, "Ann", p.entries[elder], p.entries[younger])
	if err != nil {
		return ending{}, err
	}
	e, err := p.client.until(ctx, p.entries[elder], settled)
	if err != nil {
		return ending{}, err
	}
	how := endingOf(e)
	got := run.Reconciliation
	how.reason = fmt.Sprintf("%d writes, %d merged", got.Created+got.Updated, got.Merged)
	if run.Counts.Replayed == 2 && got.Updated == 1 && got.Merged == 1 && got.Balanced {
		how.reason = "one write for both"
	}
	return how, nil
}

func settled(e client.Entry) bool {
	return e.Status != client.StatusReplaying && e.Replay != nil && e.Replay.Outcome != nil
}

func endingOf(e client.Entry) ending {
	if e.Replay == nil || e.Replay.Outcome == nil {
		return ending{outcome: "none"}
	}
	how := ending{outcome: outcomeName(*e.Replay.Outcome), reason: "-"}
	if e.Replay.Reason != nil {
		how.reason = string(*e.Replay.Reason)
	}
	return how
}

// outcomeName is the outcome as people read it in Airtable.
func outcomeName(o client.Outcome) string {
	switch o {
	case client.OutcomeReplayed:
		return "Replayed"
	case client.OutcomePartiallyReplayed:
		return "Partially Replayed"
	case client.OutcomeSuperseded:
		return "Superseded"
	case client.OutcomeNeedsReview:
		return "Needs Review"
	case client.OutcomeReplayFailed:
		return "Replay Failed"
	}
	return string(o)
}
