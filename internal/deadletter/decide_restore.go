package deadletter

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// RestoreCase is one record with the write of ours that is to be taken back on it: the whole input of
// DecideRestore.
type RestoreCase struct {
	ID      string // of the restore
	Rules   Rules
	Matches []Record // the records whose key matches that of the write
	Mark    Mark

	// The write that landed, as far as it is to be taken back.
	RecordID      string         // the record that it went to
	Wrote         map[string]any // field name to the value that was written
	Before        map[string]any // field name to the value as read before, nil for an empty cell: Values Before
	Version       Version        // the version that it put on the record; zero: it left the record's alone
	VersionBefore Version        // the record's version before it; zero: blank
	// Rewritten are the fields that later writes of ours have, or may have, written again.
	Rewritten []string

	Problem *Problem // set: nothing can be restored, for this reason
}

// DecideRestore says which Values Before are written back (mission A2, R12). A field is written only
// where the record's version is as our write left it, no later write of ours touched the field, its
// value is the one that we wrote, and its guard has not moved since our landing. In doubt it is left
// alone. The version stays: the record has seen that version of the sender, whatever it shows now, so
// an older payload does not become newer by a restore (mission P6).
//
// The plan has one verdict. Its Fields are the values that the record holds once it is carried out,
// its outcome is that of a replay of them: Replayed for all, PartiallyReplayed for some, Superseded for
// none, ReplayFailed where there is nothing to decide about.
func DecideRestore(c RestoreCase) Plan {
	r := restoring{RestoreCase: c, decision: &decision{rules: c.Rules}}
	if problem := r.problem(); problem != nil {
		return r.refuse(ReplayFailed, problem.Reason, problem.Detail)
	}
	if reason, note := r.moved(); reason != "" {
		return r.refuse(Superseded, reason, note)
	}
	return r.plan()
}

// restoring is the working state of one DecideRestore.
type restoring struct {
	RestoreCase
	*decision
}

// problem finds the one record that was written.
func (r *restoring) problem() *Problem {
	switch {
	case r.Problem != nil:
		return r.Problem
	case len(r.Before) == 0:
		return &Problem{ReasonValidationFailed, "The replay changed no field, so there is nothing to restore."}
	case len(r.Matches) == 0:
		return &Problem{ReasonNoMatch, "The record that was written is gone, or its key was changed. Nothing was restored."}
	case len(r.Matches) > 1:
		return &Problem{ReasonMultipleMatches, fmt.Sprintf("%d records match the key by now. Leave one of them and restore again.", len(r.Matches))}
	case r.Matches[0].ID != r.RecordID:
		return &Problem{ReasonNoMatch, fmt.Sprintf("The key belongs to record %s by now; %s was written. Nothing was restored.", r.Matches[0].ID, r.RecordID)}
	}
	r.record = &r.Matches[0]
	if r.Mark.RecordID == r.record.ID {
		r.mark = r.Mark
	}
	return nil
}

// moved tells whether the record's version is another than the write left: then its values may have
// been confirmed by the sender since, even those that look untouched.
func (r *restoring) moved() (Reason, string) {
	if r.record.VersionUnreadable {
		return ReasonVersionKindMismatch, "The record's version field holds something that is not of the declared kind, so nothing tells whether it has newer data. Nothing was restored."
	}
	left, stored := r.Version, r.mark.Stored
	if left.IsZero() {
		left, stored = r.VersionBefore, Version{}
	}
	later, known := r.mark.Highest.Compare(left)
	same := r.record.Version.IsZero() && left.IsZero() || sameVersion(r.record.Version, left) ||
		known && later == 0 && sameVersion(r.record.Version, stored)
	if same && (!known || later <= 0) {
		return "", ""
	}
	return ReasonNewerFromSender, fmt.Sprintf("The record's version is %s by now; the replay left %s. Nothing was restored.", orNone(Later(r.record.Version, r.mark.Highest)), orNone(left))
}

func orNone(v Version) string {
	if v.IsZero() {
		return "none"
	}
	return v.String()
}

// refuse leaves every field alone for one reason.
func (r *restoring) refuse(outcome Outcome, reason Reason, note string) Plan {
	v := Verdict{Member: r.ID, Outcome: outcome, Reason: reason, Note: note}
	for _, name := range sortedKeys(r.Before) {
		v.Skipped = append(v.Skipped, Skip{name, reason, time.Time{}, r.current(name), r.Before[name]})
		v.Checks = append(v.Checks, FieldCheck{name, r.current(name), r.Before[name], FieldSkip, strings.ReplaceAll(string(reason), "_", " ")})
	}
	return Plan{Action: ActionNone, Verdicts: []Verdict{v}}
}

// plan decides field by field.
func (r *restoring) plan() Plan {
	p := Plan{Action: ActionNone, Fields: map[string]any{}, Before: map[string]any{}}
	v := Verdict{Member: r.ID, Fields: map[string]any{}}
	for _, name := range sortedKeys(r.Before) {
		value, f := r.fieldFate(name)
		v.Checks = append(v.Checks, FieldCheck{name, r.current(name), r.Before[name], f.action, f.why})
		switch f.action {
		case FieldSkip:
			v.Skipped = append(v.Skipped, Skip{name, f.reason, f.at, r.current(name), r.Before[name]})
			continue
		case FieldWrite:
			p.Action, p.RecordID = ActionUpdate, r.record.ID
			p.Fields[name], p.Before[name] = value, r.current(name)
		case FieldSame:
		}
		v.Fields[name] = r.Before[name]
	}
	v.Outcome, v.Reason = restoreOutcome(v)
	v.Note = restoreNote(v)
	p.Verdicts = []Verdict{v}
	return p
}

func restoreOutcome(v Verdict) (Outcome, Reason) {
	switch {
	case len(v.Skipped) == 0:
		return Replayed, ""
	case len(v.Fields) == 0:
		return Superseded, v.Skipped[0].Reason
	}
	return PartiallyReplayed, v.Skipped[0].Reason
}

// fieldFate decides about one field; value is what is written back.
func (r *restoring) fieldFate(name string) (value any, f fate) {
	field, known := r.rules.Fields[name]
	kind := field.Kind
	skip := func(reason Reason, why string) (any, fate) { return nil, fate{FieldSkip, reason, time.Time{}, why} }
	switch {
	case !known || kind == "":
		return skip(ReasonUnknownField, "the target or its table does not have the field any more")
	case kind == KindComputed || kind == KindLookup:
		return skip(ReasonComputedField, "the field is computed by now")
	case sameRead(kind, r.current(name), r.Before[name]):
		return nil, fate{action: FieldSame, why: "the record holds the former value already"}
	case slices.Contains(r.Rewritten, name):
		return skip(ReasonNewerFromSender, "a later write of this service wrote it again")
	}
	value, ok := Writable(kind, r.Before[name])
	if !ok {
		return skip(ReasonOther, unwritable(kind))
	}
	at, _ := r.guardTime(name)
	switch {
	case !Equal(kind, r.current(name), r.Wrote[name]):
		return nil, fate{FieldSkip, ReasonSharedFieldChanged, at, "it no longer holds what the replay wrote"}
	case field.Guard != "" && !r.ours(name):
		return nil, fate{FieldSkip, ReasonSharedFieldChanged, at, "it may have been changed since, for its Last modified time is not the one that our write left"}
	}
	return value, fate{action: FieldWrite, why: "it holds what the replay wrote"}
}

func restoreNote(v Verdict) string {
	var note []string
	note = listed(note, "Restored: ", sortedKeys(v.Fields))
	for _, c := range v.Checks {
		if c.Action == FieldSkip {
			note = append(note, fmt.Sprintf("%s was left as it is: %s.", c.Field, c.Why))
		}
	}
	if len(v.Fields) == 0 {
		note = append(note, "Nothing was restored.")
	}
	return strings.Join(note, " ")
}

// Restorable tells, before anything is read, which of a write's Values Before can be written back at
// all, and why the others cannot (mission A2): what is seen by the values alone. A creation is not a
// matter of fields, and is not seen here.
func Restorable(before map[string]any) (fields []string, notes []string) {
	for _, name := range sortedKeys(before) {
		if isAttachments(before[name]) {
			notes = append(notes, name+" cannot be restored: "+unwritable(KindAttachments)+".")
			continue
		}
		fields = append(fields, name)
	}
	return fields, notes
}

func isAttachments(v any) bool {
	values, _ := list(v)
	for _, value := range values {
		id, _ := member(value, "id")
		url, _ := member(value, "url")
		if url != "" && strings.HasPrefix(id, "att") {
			return true
		}
	}
	return false
}
