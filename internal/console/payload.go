package console

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/live"
	"airtable-replay/internal/replay"
)

// editView is the form in which a payload is edited.
type editView struct {
	Entry     deadletter.Entry
	Text      string // what is in the form
	Revision  int    // that the edit began from
	Reason    string
	Original  payloadText
	Diff      []diffLine // nil: not compared yet
	Unchanged bool
	Check     *live.Check
	Alert     *alert
}

// editPayload shows the form. A payload that is not text begins empty; an untouched form changes nothing.
func (k *console) editPayload(v *visit) error {
	e, err := k.Entries.ShowEntry(v.r.Context(), v.param("id"))
	if err != nil {
		return err
	}
	data := editView{Entry: e, Revision: e.PayloadRevision, Original: showPayload(e.RawPayload), Text: formText(e.RawPayload)}
	if e.Status != deadletter.PendingReview {
		data.Alert = &alert{Message: "Only a payload of an entry at Pending Review can be edited; this one is " + statusWord(e.Status) + "."}
	}
	return k.render(v, http.StatusOK, "edit", data)
}

// savePayload compares the edited payload with the one before and, when the person says so, saves it.
func (k *console) savePayload(v *visit) error {
	ctx := v.r.Context()
	e, err := k.Entries.ShowEntry(ctx, v.param("id"))
	if err != nil {
		return err
	}
	var f faults
	data := editView{Entry: e, Text: v.field("payload"), Reason: f.text("reason", v.field("reason"), maxReason), Original: showPayload(e.RawPayload)}
	if data.Revision, err = strconv.Atoi(v.field("revision")); err != nil {
		f.add("revision", "required", "open the form anew")
	}
	raw, changed := editedBytes(e.RawPayload, data.Text)
	data.Unchanged = !changed
	save := v.field("do") == "save"
	if save && changed {
		f.required("reason", data.Reason, maxReason)
	}
	if err = f.err(); err == nil && save && changed {
		_, err = k.Payloads.EditPayload(ctx, replay.PayloadEdit{EntryID: e.ID, Raw: raw, By: v.who(), Reason: data.Reason, ExpectRevision: &data.Revision})
	}
	if err == nil && save {
		return v.follow("/entries/" + url.PathEscape(e.ID) + "#payload")
	}
	status := http.StatusOK
	if err != nil {
		if status = statusOf(err); status >= http.StatusInternalServerError {
			return err
		}
		wrong := alertOf(ctx, err)
		data.Alert = &wrong
	}
	if changed {
		data.Diff = diffPayloads(e.RawPayload, raw)
		check, err := k.Checks.ValidatePayload(ctx, live.Incoming{SourceSystem: e.SourceSystem, Payload: raw, Operation: e.Operation})
		if err == nil {
			data.Check = &check
		} else if statusOf(err) == http.StatusInternalServerError {
			return err
		}
	}
	return k.render(v, status, "edit", data)
}

// formText is a payload as a textarea takes it: JSON on one line is laid out; nothing, where a form could
// not bring it back whole.
func formText(raw []byte) string {
	if showPayload(raw).Binary {
		return ""
	}
	if bytes.IndexByte(raw, '\n') < 0 {
		return prettyJSON(raw)
	}
	return string(raw)
}

// editedBytes is what came back from a textarea, and whether a person changed it. Browsers send every
// line break as CR LF, and JSON may have been laid out for reading: blanks alone are no change, and the
// payload keeps the kind of line breaks and of blanks that it had. One that was not touched keeps its
// bytes (case B20).
func editedBytes(before []byte, text string) (raw []byte, changed bool) {
	text = plainBreaks(text)
	if plainBreaks(formText(before)) == text || sameJSON(before, []byte(text)) {
		return before, false
	}
	if dense, ok := compactJSON(before); ok && bytes.Equal(dense, before) {
		if dense, ok := compactJSON([]byte(text)); ok {
			return dense, true
		}
	}
	if bytes.Contains(before, []byte("\r\n")) && bytes.Count(before, []byte("\n")) == bytes.Count(before, []byte("\r\n")) {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return []byte(text), true
}

// compactJSON is the same JSON without blanks; digits, keys and texts stay as they are written.
func compactJSON(raw []byte) (dense []byte, ok bool) {
	var b bytes.Buffer
	err := json.Compact(&b, raw)
	return b.Bytes(), err == nil
}

// sameJSON tells JSON that differs in nothing but blanks.
func sameJSON(a, b []byte) bool {
	x, ok := compactJSON(a)
	y, alsoOK := compactJSON(b)
	return ok && alsoOK && bytes.Equal(x, y)
}

// plainBreaks makes every line break a line feed.
func plainBreaks(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// prettyJSON is the same JSON with line breaks; digits and the order of keys stay. What is not JSON
// stays as it is.
func prettyJSON(raw []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return b.String()
}
