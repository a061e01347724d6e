package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// evidencePage is how many entries are read at once.
const evidencePage = 500

// The formats of an evidence bundle.
const (
	EvidenceJSON = "json"
	EvidenceCSV  = "csv"
)

// WriteEvidence writes everything that a run did, as JSON or CSV (B5). Nothing is written before it is
// known that the run exists; an error after that leaves the bundle incomplete.
func (s *Service) WriteEvidence(ctx context.Context, w io.Writer, id, format string) error {
	run, err := s.ShowRun(ctx, id)
	if err != nil {
		return err
	}
	switch format {
	case EvidenceJSON:
		return writeJSON(w, run, s.evidence(ctx, run.ID))
	case EvidenceCSV:
		return writeCSV(w, run, s.evidence(ctx, run.ID))
	}
	return deadletter.Errorf(deadletter.CodeInvalid, "", "evidence comes as json or csv, not as %q", format)
}

// evidence goes through a run's entries page by page.
func (s *Service) evidence(ctx context.Context, run string) iter.Seq2[store.Evidence, error] {
	return func(yield func(store.Evidence, error) bool) {
		var last store.Evidence
		for {
			page, err := s.Store.ListEvidence(ctx, run, last, evidencePage)
			if err != nil {
				yield(store.Evidence{}, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				last = e
			}
			if len(page) < evidencePage {
				return
			}
		}
	}
}

// runRecord is a run as the API shows it.
type runRecord struct {
	ID             string                    `json:"id"`
	Kind           deadletter.RunKind        `json:"kind"`
	Status         deadletter.RunStatus      `json:"status"`
	Reason         *deadletter.Reason        `json:"reason"`
	DryRun         bool                      `json:"dry_run"`
	Mode           deadletter.Mode           `json:"mode"`
	RequestedBy    string                    `json:"requested_by"`
	Note           string                    `json:"note"`
	Selector       deadletter.Selector       `json:"selector"`
	LeftOut        int                       `json:"left_out"`
	Counts         deadletter.Counts         `json:"counts"`
	Reconciliation deadletter.Reconciliation `json:"reconciliation"`
	Forecast       *forecastRecord           `json:"forecast"`
	Why            []whyRecord               `json:"why"`
	Notices        []noticeRecord            `json:"notices"`
	CreatedAt      time.Time                 `json:"created_at"`
	StartedAt      *time.Time                `json:"started_at"`
	FinishedAt     *time.Time                `json:"finished_at"`
}

type forecastRecord struct {
	Selected int                        `json:"selected"`
	Checked  int                        `json:"checked"`
	Outcomes map[deadletter.Outcome]int `json:"outcomes"`
	Reasons  map[deadletter.Reason]int  `json:"reasons"`
	Created  int                        `json:"created"`
	Updated  int                        `json:"updated"`
	Merged   int                        `json:"merged"`
	Records  int                        `json:"records"`
	Requests int                        `json:"requests"`
	Seconds  int                        `json:"seconds"`
}

type whyRecord struct {
	Outcome *deadletter.Outcome `json:"outcome"`
	Reason  deadletter.Reason   `json:"reason"`
	Entries int                 `json:"entries"`
}

type noticeRecord struct {
	Endpoint  string `json:"endpoint"`
	Event     string `json:"event"`
	Delivered bool   `json:"delivered"`
	Attempts  int    `json:"attempts"`
	LastError string `json:"last_error"`
}

func recordOf(r deadletter.Run) runRecord {
	out := runRecord{
		ID: r.ID, Kind: r.Kind, Status: r.Status, Reason: orNull(r.Reason), DryRun: r.DryRun, Mode: r.Mode, RequestedBy: r.RequestedBy, Note: r.Note,
		Selector: r.Selector, LeftOut: r.LeftOut,
		Counts: r.Counts, Reconciliation: r.Reconciliation,
		Why: []whyRecord{}, Notices: []noticeRecord{},
		CreatedAt: r.CreatedAt.UTC(), StartedAt: orNull(r.StartedAt.UTC()), FinishedAt: orNull(r.FinishedAt.UTC()),
	}
	for _, w := range r.Why {
		out.Why = append(out.Why, whyRecord{orNull(w.Outcome), w.Reason, w.Entries})
	}
	for _, n := range r.Notices {
		out.Notices = append(out.Notices, noticeRecord(n))
	}
	if f := r.Forecast; f != nil {
		out.Forecast = &forecastRecord{f.Selected, f.Checked, f.Outcomes, f.Reasons, f.Created, f.Updated, f.Merged, f.Records, f.Requests, wholeSeconds(f.Duration)}
	}
	return out
}

func wholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// entryRecord is one entry of a bundle.
type entryRecord struct {
	EntryID         string                     `json:"entry_id"`
	Source          string                     `json:"source_system"`
	Target          string                     `json:"target_table"`
	TargetID        *string                    `json:"target_id"`
	ReasonCode      deadletter.Reason          `json:"reason_code"`
	FirstAttemptAt  time.Time                  `json:"first_attempt_at"`
	PayloadRevision int                        `json:"payload_revision"`
	Outcome         *string                    `json:"outcome"`
	Reason          *deadletter.Reason         `json:"reason"`
	Effect          *deadletter.Effect         `json:"effect"`
	Note            string                     `json:"note"`
	SettledAt       *time.Time                 `json:"settled_at"`
	Actor           string                     `json:"actor"`
	RecordID        *string                    `json:"record_id"`
	StatusCode      *int                       `json:"status_code"`
	Attempts        int                        `json:"attempts"`
	FieldsReplayed  map[string]json.RawMessage `json:"fields_replayed"`
	FieldsSkipped   []store.EvidenceSkip       `json:"fields_skipped"`
	ValuesBefore    map[string]json.RawMessage `json:"values_before"`
}

func entryOf(e store.Evidence) entryRecord {
	d := e.Detail
	out := entryRecord{
		EntryID: e.EntryID, Source: e.Source, Target: e.Target, TargetID: orNull(e.TargetID), ReasonCode: e.ReasonCode, FirstAttemptAt: e.FirstAttemptAt,
		PayloadRevision: e.PayloadRevision, Outcome: orNull(e.Outcome), Reason: orNull(e.Reason), Effect: orNull(e.Effect), Note: e.Note,
		SettledAt: orNull(e.SettledAt.UTC()), Actor: e.Actor, RecordID: orNull(e.RecordID), StatusCode: orNull(d.StatusCode), Attempts: d.Attempts,
		FieldsReplayed: map[string]json.RawMessage{}, FieldsSkipped: []store.EvidenceSkip{}, ValuesBefore: map[string]json.RawMessage{},
	}
	if d.FieldsReplayed != nil {
		out.FieldsReplayed = d.FieldsReplayed
	}
	if d.FieldsSkipped != nil {
		out.FieldsSkipped = d.FieldsSkipped
	}
	if d.ValuesBefore != nil {
		out.ValuesBefore = d.ValuesBefore
	}
	return out
}

// writeJSON writes the bundle entry by entry, so that its size does not matter.
func writeJSON(w io.Writer, run deadletter.Run, entries iter.Seq2[store.Evidence, error]) error {
	head, err := json.MarshalIndent(recordOf(run), "  ", "  ")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "{\n  \"run\": %s,\n  \"entries\": [", head); err != nil {
		return err
	}
	separator := "\n    "
	for e, err := range entries {
		if err != nil {
			return err
		}
		line, err := json.Marshal(entryOf(e))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s", separator, line); err != nil {
			return err
		}
		separator = ",\n    "
	}
	_, err = io.WriteString(w, "\n  ]\n}\n")
	return err
}
