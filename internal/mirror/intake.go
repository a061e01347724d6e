package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
)

// Row is what a row of the dead letter table says that another tool wrote there (mission T2): a filing
// by its columns.
type Row struct {
	// EntryID is set where the row turned out to be the one of an entry of ours, whose record ID was
	// not known: it is known now, and there is nothing to file.
	EntryID string

	DLQRecordID    string
	SourceSystem   string
	TargetTable    string // as written; empty: the source's target
	TargetID       string // empty: read from the payload
	Operation      deadletter.Operation
	RawPayload     []byte
	ReasonCode     deadletter.Reason
	ErrorDetail    string // an unknown reason code is told here
	StatusCode     int    // 0: none
	Attempts       int
	FirstAttemptAt time.Time // UTC; the row's creation where the column is empty
	AssignedOwner  string
}

var (
	recordID = regexp.MustCompile(`^rec[0-9A-Za-z]+$`)
	entryID  = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)
)

// TakeIn reads a row of the dead letter table by its record ID. A row that cannot be filed as it is
// gives CodeInvalid with the columns at fault, one that is not there CodeNotFound, and one that says
// that it is closed, or that is a copy of an entry's row, CodeConflict. While the base is paused or
// halted nothing is read. Many at once share a request.
func (m *Mirror) TakeIn(ctx context.Context, id string) (Row, error) {
	if !recordID.MatchString(id) {
		return Row{}, noRow(id)
	}
	rec, ok, err := m.readRow(ctx, id)
	if err != nil {
		return Row{}, err
	}
	if !ok {
		return Row{}, noRow(id)
	}
	if own, known, err := m.ownRow(ctx, rec); known || err != nil {
		return own, err
	}
	return fromRecord(rec)
}

func noRow(id string) error {
	return deadletter.Errorf(deadletter.CodeNotFound, "entry-not-found", "there is no entry and no row %q in the dead letter table", id)
}

// ownRow recognises a row that carries the ID of an entry of ours: the entry's own row whose record ID
// was not noted, or a copy of it. A copy is not filed: its payload may be cut.
func (m *Mirror) ownRow(ctx context.Context, rec airtable.Record) (Row, bool, error) {
	id := cellText(rec.Fields[KeyField])
	if !entryID.MatchString(id) {
		return Row{}, false, nil
	}
	e, err := m.Store.ShowEntry(ctx, id)
	switch {
	case deadletter.CodeOf(err) == deadletter.CodeNotFound:
		return Row{}, false, nil
	case err != nil:
		return Row{}, false, err
	case e.DLQRecordID != "" && e.DLQRecordID != rec.ID:
		return Row{}, true, deadletter.Errorf(deadletter.CodeConflict, "row-is-a-copy",
			"this row is a copy: it carries the %s %s, whose own row is %s. Press Replay there, or empty %s here if this is another dead letter.", KeyField, e.ID, e.DLQRecordID, KeyField)
	}
	return Row{EntryID: e.ID, DLQRecordID: rec.ID}, true, m.Store.NameMirrorRow(ctx, e.ID, rec.ID)
}

// fromRecord reads the columns of a row.
func fromRecord(rec airtable.Record) (Row, error) {
	r := reader{fields: rec.Fields}
	out := Row{
		DLQRecordID: rec.ID, SourceSystem: r.required(fieldSource), RawPayload: r.payload(), TargetTable: r.short("Target Table", deadletter.MaxName),
		TargetID: r.short("Target ID", deadletter.MaxKey), Operation: r.operation(), ErrorDetail: r.text("Error Detail"), StatusCode: r.whole(fieldStatusCode, 599),
		Attempts: r.whole(fieldAttempts, 1_000_000), FirstAttemptAt: r.moment(fieldFirst, rec.CreatedTime), AssignedOwner: r.short("Assigned Owner", deadletter.MaxName),
	}
	var note string
	out.ReasonCode, note = reason(r.text(fieldReason))
	out.ErrorDetail = strings.TrimSpace(note + out.ErrorDetail)
	if len(r.faults) > 0 {
		err := deadletter.Errorf(deadletter.CodeInvalid, "", "the row of the dead letter table cannot be taken in as it is")
		err.Fields = r.faults
		return Row{}, err
	}
	return out, closed(r.text(fieldStatus))
}

// closed refuses a row that says it is not pending (P2).
func closed(word string) error {
	for _, s := range []deadletter.Status{deadletter.Replaying, deadletter.Resolved, deadletter.Ignored} {
		if strings.EqualFold(word, statusWord(s)) {
			err := deadletter.Errorf(deadletter.CodeConflict, "entry-not-pending",
				"the row says %s. Set its %s to %s first if it is to be replayed.", word, fieldStatus, statusWord(deadletter.PendingReview))
			err.EntryStatus = s
			return err
		}
	}
	return nil
}

// reason is the reason code that a cell names, however it is spelt; an unknown one is kept in words.
func reason(cell string) (deadletter.Reason, string) {
	code := deadletter.Reason(strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(cell))))
	switch {
	case code == "":
		return deadletter.ReasonOther, ""
	case slices.Contains(deadletter.Reasons(), code):
		return code, ""
	}
	return deadletter.ReasonOther, fmt.Sprintf("Reason as written: %s. ", cell)
}

// reader reads the cells of one row, whatever types its fields have, and collects what is wrong.
type reader struct {
	fields airtable.Fields
	faults []deadletter.FieldError
}

func (r *reader) fault(field, rule, detail string) {
	r.faults = append(r.faults, deadletter.FieldError{Field: field, Rule: rule, Detail: detail})
}

func (r *reader) text(field string) string { return cellText(r.fields[field]) }

// short is a text of bounded length.
func (r *reader) short(field string, longest int) string {
	text := r.text(field)
	if n := utf8.RuneCountInString(text); n > longest {
		r.fault(field, "max_length", fmt.Sprintf("has %d characters; %d are the most", n, longest))
		return ""
	}
	return text
}

func (r *reader) required(field string) string {
	text := strings.TrimSpace(r.short(field, deadletter.MaxName))
	if text == "" {
		r.fault(field, "required", "is empty; fill in the name of the source as the service's configuration has it")
	}
	return text
}

func (r *reader) payload() []byte {
	cell := r.text(fieldPayload)
	if strings.TrimSpace(cell) == "" {
		r.fault(fieldPayload, "required", "is empty; put in the payload as it was sent")
		return nil
	}
	raw, fault := payloadBytes(cell)
	if fault != "" {
		r.fault(fieldPayload, "whole", fault)
	}
	return raw
}

func (r *reader) operation() deadletter.Operation {
	text := strings.ToLower(strings.TrimSpace(r.text("Operation")))
	switch op := deadletter.Operation(text); op {
	case "":
		return deadletter.Update
	case deadletter.Update, deadletter.Upsert:
		return op
	}
	r.fault("Operation", "oneof", fmt.Sprintf("is %q; write %s, %s or nothing", text, deadletter.Update, deadletter.Upsert))
	return ""
}

func (r *reader) whole(field string, most int) int {
	text := strings.TrimSpace(r.text(field))
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > most {
		r.fault(field, "number", fmt.Sprintf("is %q; write a whole number from 0 to %d or nothing", text, most))
	}
	return n
}

func (r *reader) moment(field string, otherwise time.Time) time.Time {
	text := strings.TrimSpace(r.text(field))
	if text == "" {
		return otherwise.UTC()
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil && deadletter.InRange(at) {
			return at.UTC()
		}
	}
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil && ms > 1e11 && ms < 1e14 {
		return time.UnixMilli(ms).UTC()
	}
	r.fault(field, "timestamp", fmt.Sprintf("is %q; write a time with its zone, such as 2026-05-10T08:00:00Z, or nothing", text))
	return time.Time{}
}

// cellText is a cell of any type as text: options and people by name, lists joined.
func cellText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case []any:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = cellText(item)
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		for _, key := range []string{"name", "email", "text", "value", "id"} {
			if text := cellText(v[key]); text != "" {
				return text
			}
		}
	}
	return ""
}

// Refuse unticks Replay Requested of a row and leaves a note there, for a press on a row that is not
// of an entry (T3). It is one request, two where the table has no Replay Notes.
func (m *Mirror) Refuse(ctx context.Context, id, note string) error {
	if !recordID.MatchString(id) {
		return noRow(id)
	}
	p := &pen{limit: smallCell}
	fields := airtable.Fields{fieldRequested: false, fieldNotes: p.cut(strings.ToValidUTF8(note, "\uFFFD"))}
	if l := m.known(); l != nil {
		for name := range fields {
			if _, ok := l.fields[name]; !ok {
				delete(fields, name)
			}
		}
	}
	if len(fields) == 0 {
		return nil
	}
	err := m.untick(ctx, id, fields)
	if e, ok := errors.AsType[*airtable.Error](err); ok && e.Status == http.StatusUnprocessableEntity && !e.IsRecordGone() && len(fields) > 1 {
		err = m.untick(ctx, id, airtable.Fields{fieldRequested: false})
	}
	if e, ok := errors.AsType[*airtable.Error](err); ok && e.IsRecordGone() {
		return noRow(id)
	}
	return m.explain(ctx, err)
}

func (m *Mirror) untick(ctx context.Context, id string, fields airtable.Fields) error {
	if err := m.open(ctx); err != nil {
		return err
	}
	_, err := m.Client.WriteRecords(ctx, airtable.WriteRequest{Base: m.BaseID, Table: m.Table, Records: []airtable.WriteRecord{{ID: id, Fields: fields}}})
	return err
}
