package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/replay"
	"airtable-replay/internal/store"
)

// The page sizes of lists, and how far the entries of a filter are counted.
const (
	defaultLimit = 50
	maxLimit     = 200
	countBound   = 1000
)

// listView is one page of the list.
type listView struct {
	Filter   replay.Filter
	Window   window
	Entries  []deadletter.Entry
	Count    int  // of the filter; -1: not counted
	More     bool // the count stopped at its bound
	Chips    []chipView
	Here     string // the address of this page, to come back to
	Next     string // the address of the following page; empty: there is none
	First    string // the address of the first page, where this is another
	RunAll   string // the address of a run over the whole filter; empty: a run cannot select it
	Statuses []deadletter.Status
	Outcomes []deadletter.Outcome
	Reasons  []deadletter.Reason
	Alert    *alert
	Bulk     *bulkView
}

// chipView is one condition of the filter, with the way to be rid of it.
type chipView struct {
	Name, Value, Without string
}

func (k *console) listEntries(v *visit) error {
	return k.list(v, http.StatusOK, v.r.URL.Query(), nil, nil)
}

// list shows the page of an address, with what came of an order on many of its entries.
func (k *console) list(v *visit, status int, q url.Values, wrong *alert, done *bulkView) error {
	var f faults
	filter := readFilter(&f, q)
	page := readPage(&f, q)
	if err := f.err(); err != nil {
		return err
	}
	entries, next, err := k.Entries.ListEntries(v.r.Context(), filter, page)
	if err != nil {
		return err
	}
	reasons, err := k.reasonsOnFile(v.r.Context(), filter.Reason)
	if err != nil {
		return err
	}
	data := listView{
		Filter: filter, Window: window{From: filter.FirstAttemptFrom, To: filter.FirstAttemptTo}, Entries: entries, Count: -1,
		Chips: chips(filter), Statuses: allStatuses, Outcomes: deadletter.Outcomes(), Reasons: reasons, Alert: wrong, Bulk: done,
	}
	if data.Count, data.More, err = k.countOf(v.r.Context(), filter); err != nil {
		return err
	}
	data.address(filter, page, next)
	return k.render(v, status, "list", data)
}

// reasonsOnFile lists what the filter by reason offers: the reasons that some entry was filed for, and the
// one that is chosen.
func (k *console) reasonsOnFile(ctx context.Context, chosen deadletter.Reason) ([]deadletter.Reason, error) {
	found, err := k.Tally.ReasonsOnFile(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(deadletter.Reasons(), func(r deadletter.Reason) bool { return r != chosen && !slices.Contains(found, r) }), nil
}

// countOf counts the entries of a filter: all of them where the tally tells, else up to a bound; more says
// that there are more. Free text has no index, and to count it would read everything: -1.
func (k *console) countOf(ctx context.Context, f replay.Filter) (n int, more bool, err error) {
	if f.Q != "" {
		return -1, false, nil
	}
	told := f
	told.Reason, told.Source, told.Target = "", "", ""
	if told != (replay.Filter{Status: f.Status}) || f.Status == "" {
		n, err = k.Tally.CountEntries(ctx, stored(f), countBound+1)
		return min(n, countBound), n > countBound, err
	}
	groups, err := k.Tally.CountGroups(ctx, store.TallyFilter{Status: f.Status})
	for _, g := range groups {
		if (f.Reason == "" || g.Reason == f.Reason) && (f.Source == "" || g.Source == f.Source) && (f.Target == "" || g.Target == f.Target) {
			n += g.Entries
		}
	}
	return n, false, err
}

// address fills in the links of the page.
func (d *listView) address(f replay.Filter, p replay.Page, next string) {
	at := func(cursor string) string {
		q := filterQuery(f)
		if p.Limit != defaultLimit {
			q.Set("limit", strconv.Itoa(p.Limit))
		}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		if len(q) == 0 {
			return "/entries"
		}
		return "/entries?" + q.Encode()
	}
	d.Here = at(p.Cursor)
	if next != "" {
		d.Next = at(next)
	}
	if p.Cursor != "" {
		d.First = at("")
	}
	if _, whole := selector(f); whole {
		f.Status = ""
		if q := filterQuery(f); len(q) > 0 {
			d.RunAll = "/runs/new?" + q.Encode()
		}
	}
}

// readPage reads where a page of a list begins and how long it is.
func readPage(f *faults, q url.Values) replay.Page {
	p := replay.Page{Limit: defaultLimit, Cursor: f.text("cursor", q.Get("cursor"), maxCursor)}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			f.add("limit", "minimum", "must be a whole number of 1 or more; more than 200 is capped at 200")
			n = defaultLimit
		}
		p.Limit = min(n, maxLimit)
	}
	return p
}

// chips lists the conditions of a filter in words.
func chips(f replay.Filter) []chipView {
	q := filterQuery(f)
	var out []chipView
	add := func(name, key, value string) {
		if value == "" {
			return
		}
		without := url.Values{}
		for k, v := range q {
			if k != key {
				without[k] = v
			}
		}
		out = append(out, chipView{name, value, "/entries?" + without.Encode()})
	}
	add("Status", "status", statusWord(f.Status))
	add("Outcome", "outcome", outcomeWord(f.Outcome))
	add("Reason", "reason", string(f.Reason))
	add("Source", "source", f.Source)
	add("Target", "target", f.Target)
	add("Target ID", "target_id", f.TargetID)
	add("Run", "run", f.Run)
	add("Owner", "owner", f.Owner)
	if !f.FirstAttemptFrom.IsZero() {
		add("From", "first_attempt_from", utc(f.FirstAttemptFrom))
	}
	if !f.FirstAttemptTo.IsZero() {
		add("Before", "first_attempt_to", utc(f.FirstAttemptTo))
	}
	add("Text", "q", f.Q)
	return out
}

// bulkView is what came of an order on many entries.
type bulkView struct {
	Done    string // in words
	Refused []replay.BulkRefusal
}

// orderMany carries out an order on the entries that were ticked, and shows the same page again.
func (k *console) orderMany(v *visit) error {
	here, err := url.Parse(localPath(v.field("here")))
	if err != nil || here.Path != "/entries" {
		here = &url.URL{Path: "/entries"}
	}
	q := here.Query()
	ids := v.sent()["id"]
	if len(ids) == 0 {
		return k.list(v, http.StatusUnprocessableEntity, q, &alert{Message: "No entry is ticked. Tick some and try again."}, nil)
	}
	if v.field("do") == "replay" {
		return v.follow("/runs/new?" + url.Values{"id": ids}.Encode())
	}
	done, err := k.orderEach(v, ids)
	if err != nil {
		if statusOf(err) >= http.StatusInternalServerError {
			return err
		}
		wrong := alertOf(v.r.Context(), err)
		return k.list(v, statusOf(err), q, &wrong, nil)
	}
	return k.list(v, http.StatusOK, q, nil, &done)
}

func (k *console) orderEach(v *visit, ids []string) (bulkView, error) {
	var f faults
	reason, owner := f.text("reason", v.field("reason"), maxReason), f.text("owner", v.field("owner"), maxName)
	ctx, order := v.r.Context(), replay.BulkOrder{IDs: ids, Actor: v.who(), Reason: reason}
	do := v.field("do")
	if do == "reopen" {
		f.required("reason", reason, maxReason)
	}
	if err := f.err(); err != nil {
		return bulkView{}, err
	}
	var r replay.BulkResult
	var err error
	words := ""
	switch {
	case do == "ignore":
		words = "ignored"
		r, err = k.Bulk.IgnoreEntries(ctx, order)
	case do == "assign" && owner == "":
		words = "no longer assigned to anybody"
		r, err = k.Bulk.AssignEntries(ctx, ids, "", v.who())
	case do == "assign":
		words = "assigned to " + owner
		r, err = k.Bulk.AssignEntries(ctx, ids, owner, v.who())
	case do == "reopen" && !v.allows(scopeAdmin):
		err = deadletter.Errorf(deadletter.CodeForbidden, "", "To reopen closed entries needs a token with the scope admin.")
	case do == "reopen":
		words = "reopened"
		r, err = k.Bulk.ReopenEntries(ctx, order)
	default:
		err = deadletter.Errorf(deadletter.CodeInvalid, "", "Choose what to do with the ticked entries.")
	}
	if err != nil {
		return bulkView{}, err
	}
	return bulkView{Done: fmt.Sprintf("%s %s.", plural(len(r.Changed), "entry", "entries"), words), Refused: r.Refused}, nil
}
