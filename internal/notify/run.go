package notify

import (
	"context"
	"time"

	"airtable-replay/internal/config"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// recordsPerMessage bounds one message; a run that changed more records is told of in parts.
const recordsPerMessage = 5000

// runMessage tells of one finished run, or of a part of what it changed.
type runMessage struct {
	Run    runTotals      `json:"run"`
	Part   int            `json:"part"`
	Parts  int            `json:"parts"`
	Tables []changedTable `json:"tables"`
}

type runTotals struct {
	ID             string                    `json:"id"`
	Kind           deadletter.RunKind        `json:"kind"`
	Status         deadletter.RunStatus      `json:"status"`
	Reason         deadletter.Reason         `json:"reason,omitempty"`
	RequestedBy    string                    `json:"requested_by"`
	Note           string                    `json:"note"`
	Counts         deadletter.Counts         `json:"counts"`
	Reconciliation deadletter.Reconciliation `json:"reconciliation"`
	StartedAt      time.Time                 `json:"started_at,omitzero"`
	FinishedAt     time.Time                 `json:"finished_at"`
}

// changedTable is what downstream must refresh: the records, and the business dates that they had before
// and have now, whose derived tables need a full refresh and not another increment (mission B6).
type changedTable struct {
	Target        string        `json:"target"`
	Base          string        `json:"base"`
	BaseID        string        `json:"base_id"`
	Table         string        `json:"table"`
	RecordIDs     []string      `json:"record_ids"`
	BusinessDates *businessSpan `json:"business_dates"`
}

type businessSpan struct {
	Field string `json:"field"`
	From  string `json:"from"`
	To    string `json:"to"`
}

// AnnounceRuns tells downstream of every run that has finished, once each: run.completed, and
// run.unbalanced when its numbers do not add up. A press that changed no record is not worth a message.
func (n *Notifier) AnnounceRuns(ctx context.Context) error {
	ids, err := n.Store.UntoldRuns(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := n.Store.TellRun(ctx, id, n.announceRun); err != nil {
			return err
		}
	}
	return nil
}

func (n *Notifier) announceRun(ctx context.Context, r deadletter.Run, changed []store.Effects) error {
	if r.DryRun || r.Kind == deadletter.RunPress && len(changed) == 0 && r.Reconciliation.Balanced {
		return nil
	}
	parts := n.parts(changed)
	for i, tables := range parts {
		if err := n.Announce(ctx, config.EventRunCompleted, r.ID, runMessage{Run: totalsOf(r), Part: i + 1, Parts: len(parts), Tables: tables}); err != nil {
			return err
		}
	}
	if r.Reconciliation.Balanced {
		return nil
	}
	n.Logger.ErrorContext(ctx, "run does not add up", "run_id", r.ID, "claimed", r.Counts.Claimed, "settled", r.Counts.Settled())
	return n.Announce(ctx, config.EventRunUnbalanced, r.ID, runMessage{Run: totalsOf(r), Part: 1, Parts: 1, Tables: []changedTable{}})
}

// parts divides what a run changed into messages of bounded size; there is one at least.
func (n *Notifier) parts(changed []store.Effects) [][]changedTable {
	parts := [][]changedTable{{}}
	room := recordsPerMessage
	for _, c := range changed {
		for ids := c.RecordIDs; len(ids) > 0; {
			if room == 0 {
				parts, room = append(parts, nil), recordsPerMessage
			}
			k := min(room, len(ids))
			last := len(parts) - 1
			parts[last] = append(parts[last], n.table(c, ids[:k]))
			ids, room = ids[k:], room-k
		}
	}
	return parts
}

func (n *Notifier) table(c store.Effects, ids []string) changedTable {
	out := changedTable{Target: c.Target, RecordIDs: ids}
	t, ok := n.Targets[c.Target]
	if !ok {
		return out
	}
	out.Base, out.Table = t.Base, t.Table
	if b, ok := n.Bases[t.Base]; ok {
		out.BaseID = b.ID
	}
	if c.DateFrom != "" && t.BusinessDate != "" {
		out.BusinessDates = &businessSpan{Field: t.BusinessDate, From: c.DateFrom, To: c.DateTo}
	}
	return out
}

func totalsOf(r deadletter.Run) runTotals {
	return runTotals{
		ID: r.ID, Kind: r.Kind, Status: r.Status, Reason: r.Reason, RequestedBy: r.RequestedBy, Note: r.Note,
		Counts: r.Counts, Reconciliation: r.Reconciliation,
		StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
	}
}
