package console

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/replay"
)

// entryView is one entry with everything that is known of it.
type entryView struct {
	Entry    deadletter.Entry
	Payload  payloadText
	Payloads []deadletter.Payload // as filed and every edit, the newest first
	History  []deadletter.HistoryLine
	Base     *replay.BaseState // of the entry; nil: its source is not configured
	Account  []fieldRow        // what the last replay did to each field
	Preview  previewView
	Alert    *alert
	Back     string // the list that the person came from
}

// Pending, Replaying and Closed tell templates where the entry stands.
func (e entryView) Pending() bool { return e.Entry.Status == deadletter.PendingReview }

// Replaying tells whether a replay of the entry is under way.
func (e entryView) Replaying() bool { return e.Entry.Status == deadletter.Replaying }

// Closed tells whether only an admin can bring the entry back.
func (e entryView) Closed() bool {
	return e.Entry.Status == deadletter.Resolved || e.Entry.Status == deadletter.Ignored
}

// Restorable tells whether the last replay changed values that might be put back.
func (e entryView) Restorable() bool {
	return e.Entry.Status == deadletter.Resolved && e.Entry.Replay != nil && len(e.Entry.Replay.ValuesBefore) > 0
}

// fieldRow is one field of an entry: now in Airtable, in the payload, before our write.
type fieldRow struct {
	Field             string
	Now, Incoming     any
	Before            any
	HasNow, HasBefore bool
	HasIncoming       bool
	Action            deadletter.FieldAction
	Why               string
	Reason            deadletter.Reason
	ChangedAt         time.Time
	Chosen            bool
}

// Differs tells whether the payload would change the field.
func (r fieldRow) Differs() bool { return r.Action != deadletter.FieldSame }

func (k *console) showEntry(v *visit) error { return k.entry(v, http.StatusOK, v.param("id"), nil) }

// entry shows the page of an entry, with an alert where something before it went wrong.
func (k *console) entry(v *visit, status int, id string, wrong *alert) error {
	ctx := v.r.Context()
	data, err := k.entryView(ctx, id)
	if err != nil {
		return err
	}
	data.Alert, data.Back = wrong, backTo(v.r)
	if data.Pending() && v.allows(scopeReplay) {
		q := v.r.URL.Query()
		data.Preview = emptyPreview(data.Entry, wishOf(q))
		if q.Get("preview") != "" && wrong == nil {
			if data.Preview, err = k.preview(v, data.Entry, wishOf(q)); err != nil {
				return err
			}
		}
	}
	return k.render(v, status, "entry", data)
}

func (k *console) entryView(ctx context.Context, id string) (entryView, error) {
	e, err := k.Entries.ShowEntry(ctx, id)
	if err != nil {
		return entryView{}, err
	}
	history, err := k.Entries.ListEntryHistory(ctx, e.ID)
	if err != nil {
		return entryView{}, err
	}
	bases, err := k.Bases.ListBases(ctx)
	if err != nil {
		return entryView{}, err
	}
	data := entryView{Entry: e, Payload: showPayload(e.RawPayload), History: history, Account: account(e)}
	if e.PayloadRevision > 0 {
		if data.Payloads, err = k.Payloads.ListPayloads(ctx, e.ID); err != nil {
			return entryView{}, err
		}
		slices.Reverse(data.Payloads)
	}
	if i := slices.IndexFunc(bases, func(b replay.BaseState) bool { return b.Name == e.Base }); i >= 0 {
		data.Base = &bases[i]
	}
	return data, nil
}

// account is what the last replay did to each field, and what it left alone.
func account(e deadletter.Entry) []fieldRow {
	if e.Replay == nil {
		return nil
	}
	at := map[string]*fieldRow{}
	row := func(field string) *fieldRow {
		if at[field] == nil {
			at[field] = &fieldRow{Field: field}
		}
		return at[field]
	}
	for field, value := range e.Replay.FieldsReplayed {
		r := row(field)
		r.Incoming, r.HasIncoming, r.Action = value, true, deadletter.FieldWrite
		if _, changed := e.Replay.ValuesBefore[field]; !changed {
			r.Action, r.Why = deadletter.FieldSame, "it was there already"
		}
	}
	for _, skip := range e.Replay.FieldsSkipped {
		r := row(skip.Field)
		r.Incoming, r.HasIncoming, r.Now, r.HasNow = skip.Incoming, true, skip.Current, true
		r.Action, r.Reason, r.ChangedAt = deadletter.FieldSkip, skip.Reason, skip.ChangedAt
	}
	for field, value := range e.Replay.ValuesBefore {
		r := row(field)
		r.Before, r.HasBefore = value, true
	}
	out := make([]fieldRow, 0, len(at))
	for _, r := range at {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b fieldRow) int { return compareText(a.Field, b.Field) })
	return out
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// backTo is the list that a page was reached from, so that the way back keeps its filter.
func backTo(r *http.Request) string {
	if from, err := url.Parse(r.Referer()); err == nil && from.Host == r.Host && from.Path == "/entries" {
		return from.RequestURI()
	}
	return "/entries?status=pending_review"
}

// act carries out a person's word on an entry and shows the entry again; what was refused is said on it,
// beside the state that the entry is in now (case B84).
func (k *console) act(v *visit, do func(ctx context.Context, id string) error) error {
	id := v.param("id")
	err := do(v.r.Context(), id)
	if err == nil {
		return v.follow("/entries/" + url.PathEscape(id))
	}
	status := statusOf(err)
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable || status == http.StatusNotFound {
		return err
	}
	wrong := alertOf(v.r.Context(), err)
	return k.entry(v, status, id, &wrong)
}

func (k *console) ignoreEntry(v *visit) error {
	return k.act(v, func(ctx context.Context, id string) error {
		var f faults
		reason := f.text("reason", v.field("reason"), maxReason)
		if err := f.err(); err != nil {
			return err
		}
		_, err := k.Reviews.IgnoreEntry(ctx, v.order(id, reason))
		return err
	})
}

func (k *console) reopenEntry(v *visit) error {
	return k.act(v, func(ctx context.Context, id string) error {
		var f faults
		reason := f.required("reason", v.field("reason"), maxReason)
		if err := f.err(); err != nil {
			return err
		}
		_, err := k.Reviews.ReopenEntry(ctx, v.order(id, reason))
		return err
	})
}

func (k *console) resetEntry(v *visit) error {
	return k.act(v, func(ctx context.Context, id string) error {
		var f faults
		reason := f.text("reason", v.field("reason"), maxReason)
		if err := f.err(); err != nil {
			return err
		}
		_, err := k.Reviews.ResetEntry(ctx, v.order(id, reason))
		return err
	})
}

func (k *console) assignEntry(v *visit) error {
	return k.act(v, func(ctx context.Context, id string) error {
		var f faults
		owner := f.text("owner", v.field("owner"), maxName)
		if err := f.err(); err != nil {
			return err
		}
		_, err := k.Bulk.AssignOwner(ctx, id, owner, v.who())
		return err
	})
}

// payloadText is a payload as a page shows it.
type payloadText struct {
	Text      string // exactly as it arrived, where it is text
	Formatted string // the same JSON with line breaks; empty: it is not JSON, or has them
	Binary    bool   // not UTF-8, or with a NUL: Text shows its bytes in escapes
	Bytes     int
	Empty     bool
}

// maxShown bounds what a page shows of a payload, in bytes; the rest is a download.
const maxShown = 256 << 10

// Cut tells whether only the beginning is shown.
func (p payloadText) Cut() bool { return p.Bytes > maxShown }

func showPayload(raw []byte) payloadText {
	p := payloadText{Bytes: len(raw), Empty: len(bytes.TrimSpace(raw)) == 0}
	p.Binary = !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0
	switch {
	case p.Binary:
		p.Text = fmt.Sprintf("%+q", raw[:min(len(raw), maxShown/4)])
	case p.Cut():
		p.Text = string(bytes.ToValidUTF8(raw[:maxShown], nil)) + "…"
	default:
		p.Text = string(raw)
		if pretty := prettyJSON(raw); pretty != p.Text {
			p.Formatted = pretty
		}
	}
	return p
}

// downloadPayload sends a payload byte for byte, as a file and never as a page.
func (k *console) downloadPayload(v *visit) error {
	e, err := k.Entries.ShowEntry(v.r.Context(), v.param("id"))
	if err != nil {
		return err
	}
	h := v.w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="payload-%s-%d.json"`, e.ID, e.PayloadRevision))
	_, _ = v.w.Write(e.RawPayload) // the person may be gone
	return nil
}
