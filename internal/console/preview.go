package console

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/replay"
)

// wish is how a person wants an entry replayed.
type wish struct {
	Mode         deadletter.Mode
	Fields       []string
	Reason       string
	WithSiblings bool
}

func wishOf(q url.Values) wish {
	w := wish{Mode: deadletter.Mode(q.Get("mode")), Fields: q["field"], Reason: q.Get("reason"), WithSiblings: q.Get("with_siblings") != ""}
	if !slices.Contains(allModes, w.Mode) {
		w.Mode = deadletter.Checked
	}
	return w
}

// previewView is what a press would do as things stand, and the form to press with.
type previewView struct {
	Entry   deadletter.Entry
	Wish    wish
	Asked   bool // Airtable was asked
	At      time.Time
	Verdict deadletter.Verdict
	Action  deadletter.Action
	Record  string
	Version string
	Rows    []fieldRow
	Before  bool   // some row has a value from before
	Expect  string // the values now in Airtable as JSON: what the person decides on (R11)
	Alert   *alert // why there is no preview
	Mine    bool   // the person's wish decides, not the checks
	Admin   bool
}

// Writes counts the fields that a press would write.
func (p previewView) Writes() int {
	n := 0
	for _, r := range p.Rows {
		if r.Action == deadletter.FieldWrite {
			n++
		}
	}
	return n
}

// Modes lists the modes that the person may choose.
func (p previewView) Modes() []deadletter.Mode {
	if p.Admin {
		return allModes
	}
	return allModes[:3]
}

func emptyPreview(e deadletter.Entry, w wish) previewView { return previewView{Entry: e, Wish: w} }

// showPreview is the part of the entry's page that a script puts in place; without one it is the page
// itself.
func (k *console) showPreview(v *visit) error {
	if !v.isPart() {
		q := v.r.URL.Query()
		q.Set("preview", "1")
		return v.follow("/entries/" + url.PathEscape(v.param("id")) + "?" + q.Encode())
	}
	e, err := k.Entries.ShowEntry(v.r.Context(), v.param("id"))
	if err != nil {
		return err
	}
	p, err := k.preview(v, e, wishOf(v.r.URL.Query()))
	if err != nil {
		return err
	}
	return k.renderPart(v, http.StatusOK, "entry", "preview-part", p)
}

// preview asks what a press would do. A refusal is something to show, not an error.
func (k *console) preview(v *visit, e deadletter.Entry, w wish) (previewView, error) {
	p := emptyPreview(e, w)
	p.Admin = v.allows(scopeAdmin)
	ask := w.Mode
	if p.Mine = w.Mode == deadletter.ChosenFields || w.Mode == deadletter.Overwrite; p.Mine {
		ask = deadletter.Checked // what is there now; the wish is laid over it
	}
	found, err := k.Presses.PreviewReplay(v.r.Context(), replay.PreviewRequest{EntryID: e.ID, Mode: ask})
	if err != nil {
		p.Alert, err = refusal(v.r.Context(), err)
		return p, err
	}
	p.Asked, p.At = true, k.Now()
	p.Verdict, p.Action, p.Record, p.Version = found.Verdict, found.Action, found.RecordID, found.Version.String()
	p.Rows = rowsOf(found.Verdict, e)
	for i := range p.Rows {
		p.Rows[i].Chosen = slices.Contains(w.Fields, p.Rows[i].Field)
		p.Before = p.Before || p.Rows[i].HasBefore
	}
	if p.Mine {
		p.layOver(w)
	}
	p.Expect, err = expectation(p.Rows)
	return p, err
}

// layOver shows the fields as a person decides on them who sets the checks aside.
func (p *previewView) layOver(w wish) {
	for i := range p.Rows {
		r := &p.Rows[i]
		switch {
		case r.Action == deadletter.FieldSame:
		case w.Mode == deadletter.Overwrite:
			r.Action, r.Why, r.ChangedAt = deadletter.FieldWrite, "you overwrite what is there now", time.Time{}
		case r.Reason == "": // nothing speaks against it; the tick is the decision
			r.Action, r.Why = deadletter.FieldWrite, ""
		}
	}
}

func rowsOf(v deadletter.Verdict, e deadletter.Entry) []fieldRow {
	var out []fieldRow
	for _, c := range v.Checks {
		r := fieldRow{Field: c.Field, Now: c.Current, HasNow: true, Incoming: c.Incoming, HasIncoming: true, Action: c.Action, Why: c.Why}
		for _, s := range v.Skipped {
			if s.Field == c.Field {
				r.Reason, r.ChangedAt = s.Reason, s.ChangedAt
			}
		}
		if e.Replay != nil {
			r.Before, r.HasBefore = e.Replay.ValuesBefore[c.Field]
		}
		out = append(out, r)
	}
	return out
}

// expectation is the values now in Airtable, digit for digit, as the form sends them back.
func expectation(rows []fieldRow) (string, error) {
	values := map[string]any{}
	for _, r := range rows {
		values[r.Field] = r.Now
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(values)
	return b.String(), err
}

// pressReplay presses Replay on an entry as the form says.
func (k *console) pressReplay(v *visit) error {
	return k.act(v, func(ctx context.Context, id string) error {
		p, err := k.pressOf(v, id)
		if err != nil {
			return err
		}
		_, _, err = k.Presses.PressReplay(ctx, p)
		return err
	})
}

func (k *console) pressOf(v *visit, id string) (replay.Press, error) {
	var f faults
	p := replay.Press{
		EntryID: id, RequestedBy: v.who(), Mode: oneOf(&f, "mode", v.field("mode"), allModes), Reason: f.text("reason", v.field("reason"), maxReason),
		WithSiblings: v.field("with_siblings") != "", Admin: v.allows(scopeAdmin),
	}
	if p.Mode == "" {
		p.Mode = deadletter.Checked
	}
	if p.Mode == deadletter.Overwrite {
		f.required("reason", p.Reason, maxReason)
	}
	if p.Mode == deadletter.ChosenFields {
		p.Fields = v.sent()["field"]
	}
	if p.Mode == deadletter.ChosenFields || p.Mode == deadletter.Overwrite {
		p.Expect = f.expected(v.field("expect"), p)
	}
	if text := v.field("revision"); text != "" {
		revision, err := strconv.Atoi(text)
		if err != nil {
			f.add("preview", "revision", "look at the preview again; it does not say which payload was shown")
		}
		p.ExpectRevision = &revision
	}
	return p, f.err()
}

// expected reads the values that the person saw; of chosen fields, those alone.
func (f *faults) expected(text string, p replay.Press) map[string]any {
	var all map[string]any
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.UseNumber()
	if err := dec.Decode(&all); err != nil || all == nil {
		f.add("preview", "required", "look at what is in Airtable now first; the decision is held to what was shown")
		return nil
	}
	if p.Mode == deadletter.Overwrite {
		return all
	}
	if len(p.Fields) == 0 {
		f.add("field", "required", "tick the fields to write")
	}
	out := map[string]any{}
	for _, field := range p.Fields {
		value, ok := all[field]
		if !ok {
			f.add("field", "known", field+" was not shown")
		}
		out[field] = value
	}
	return out
}
