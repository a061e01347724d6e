package replay

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

var csvHead = []string{
	"run_id", "entry_id", "source_system", "target_table", "target_id", "record_id", "reason_code", "first_attempt_at", "outcome", "reason", "effect",
	"settled_at", "actor", "status_code", "attempts", "field", "action", "before", "value", "skipped_because", "changed_at", "note",
}

// writeCSV writes one line for each field of each entry, and one for an entry without any.
func writeCSV(w io.Writer, run deadletter.Run, entries iter.Seq2[store.Evidence, error]) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHead); err != nil {
		return err
	}
	for e, err := range entries {
		if err != nil {
			return err
		}
		for _, line := range linesOf(run.ID, e) {
			if err := out.Write(line); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

func linesOf(run string, e store.Evidence) [][]string {
	d := e.Detail
	status := ""
	if d.StatusCode != 0 {
		status = strconv.Itoa(d.StatusCode)
	}
	head := []string{
		run, e.EntryID, e.Source, e.Target, e.TargetID, e.RecordID, string(e.ReasonCode), instant(e.FirstAttemptAt), e.Outcome, string(e.Reason), string(e.Effect),
		instant(e.SettledAt), e.Actor, status, strconv.Itoa(d.Attempts),
	}
	var lines [][]string
	add := func(cells ...string) {
		line := append(slices.Clone(head), append(cells, e.Note)...)
		for i := range line {
			line[i] = inert(line[i])
		}
		lines = append(lines, line)
	}
	for _, name := range slices.Sorted(maps.Keys(d.FieldsReplayed)) {
		add(name, "written", raw(d.ValuesBefore[name]), raw(d.FieldsReplayed[name]), "", "")
	}
	for _, k := range d.FieldsSkipped {
		changed := ""
		if k.ChangedAt != nil {
			changed = instant(*k.ChangedAt)
		}
		add(k.Field, "skipped", raw(k.Current), raw(k.Incoming), string(k.Reason), changed)
	}
	if len(lines) == 0 {
		add("", "", "", "", "", "")
	}
	return lines
}

func raw(v json.RawMessage) string { return string(v) }

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// inert keeps a spreadsheet from taking text for a formula; numbers stay as they are.
func inert(cell string) string {
	if cell == "" || !strings.ContainsAny(cell[:1], "=+-@\t\r") {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return cell
	}
	return "'" + cell
}
