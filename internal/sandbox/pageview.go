package sandbox

import (
	"net/http"
	"strconv"
	"time"
)

// pageView is everything that the page shows, at one instant.
type pageView struct {
	Now    time.Time   `json:"now"`
	Offset Duration    `json:"offset"`
	Bases  []baseView  `json:"bases"`
	Tokens []tokenView `json:"tokens"`
	// Grid is the table asked for; nil when there is none of that ID.
	Grid    *gridView `json:"grid"`
	Options Options   `json:"options"`
	Faults  []Fault   `json:"faults"`
	// Requests and Changes are the latest lines after those that the page has.
	// FirstRequest is the oldest one kept.
	Requests     []requestView `json:"requests"`
	FirstRequest int           `json:"first_request"`
	Changes      []changeView  `json:"changes"`
}

type baseView struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// People are its collaborators, if the seed names any.
	People []person `json:"people"`
	// BlockedUntil is the end of a penalty under way.
	BlockedUntil *time.Time  `json:"blocked_until,omitempty"`
	Tables       []tableView `json:"tables"`
}

type tableView struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Records int    `json:"records"`
	// Button is the checkbox field whose automation replays a row; such a table holds dead letters.
	Button string `json:"button,omitempty"`
}

type tokenView struct {
	Label string     `json:"label"`
	State tokenState `json:"state"`
}

// requestView is a line of the log of requests without what the page does not show.
type requestView struct {
	Request
	Query string `json:"query,omitempty"`
	Body  string `json:"body,omitempty"`
}

// changeView is a line of the log of changes as a person reads it.
type changeView struct {
	Change
	// Title is the record's primary cell, empty when it is gone.
	Title   string `json:"title"`
	OldText string `json:"old_text"`
	NewText string `json:"new_text"`
}

const (
	maxPageLines = 300
	maxPageBody  = 4 << 10
)

// pageView answers the page: ?base=&table=&rows=&find= choose what the grid
// shows, ?requests_after=&changes_after= the lines that the page has already.
func (c *control) pageView() (any, error) {
	query := c.r.URL.Query()
	after := map[string]int{"requests_after": 0, "changes_after": 0, "rows": defaultGridRows}
	for name := range after {
		text := query.Get(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, refuse(http.StatusBadRequest, "%s: %q is no number", name, text)
		}
		after[name] = n
	}
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settleDue()
	view := pageView{Now: s.clock.now(), Offset: Duration(s.clock.currentOffset()), Bases: s.baseViews(),
		Tokens: s.tokenViews(), Options: s.options, Faults: s.armed(), Requests: s.requestViews(after["requests_after"]),
		FirstRequest: s.lastRequest - len(s.requests) + 1, Changes: s.changeViews(after["changes_after"])}
	if b := s.base(query.Get("base")); b != nil {
		if t := b.table(query.Get("table")); t != nil {
			view.Grid = s.gridView(t, min(after["rows"], maxGridRows), query.Get("find"))
		}
	}
	return view, nil
}

func (s *Sandbox) baseViews() []baseView {
	out := make([]baseView, len(s.bases))
	for i, b := range s.bases {
		v := baseView{ID: b.id, Name: b.name, People: append([]person{}, b.people...), Tables: make([]tableView, len(b.tables))}
		if b.traffic.blocked.After(s.clock.now()) {
			v.BlockedUntil = &b.traffic.blocked
		}
		for j, t := range b.tables {
			v.Tables[j] = tableView{ID: t.id, Name: t.name, Records: len(t.records), Button: s.button(t)}
		}
		out[i] = v
	}
	return out
}

// button is the ID of the checkbox that starts the table's automation.
func (s *Sandbox) button(t *table) string {
	for _, a := range s.automations {
		if a.table == t && !a.checkbox.gone() {
			return a.checkbox.id
		}
	}
	return ""
}

func (s *Sandbox) tokenViews() []tokenView {
	out := make([]tokenView, len(s.tokens))
	for i, t := range s.tokens {
		out[i] = tokenView{t.label(), t.state}
	}
	return out
}

// requestViews are the last lines of the log, of those after the given one.
func (s *Sandbox) requestViews(after int) []requestView {
	first := s.lastRequest - len(s.requests) + 1
	lines := s.requests[max(0, min(len(s.requests), after-first+1), len(s.requests)-maxPageLines):]
	out := make([]requestView, len(lines))
	for i, r := range lines {
		out[i] = requestView{Request: *r, Query: r.decodedQuery, Body: r.Body}
		if len(r.Body) > maxPageBody {
			out[i].Body, out[i].BodyCut = r.Body[:maxPageBody], true
		}
	}
	return out
}

func (s *Sandbox) changeViews(after int) []changeView {
	lines := s.changes[max(0, min(len(s.changes), after), len(s.changes)-maxPageLines):]
	out := make([]changeView, len(lines))
	readers := map[string]*reader{}
	for i, line := range lines {
		out[i] = changeView{Change: line}
		b := s.base(line.Base)
		if readers[b.id] == nil {
			readers[b.id] = b.reader(s.clock.now())
		}
		out[i].describe(readers[b.id])
	}
	return out
}

// describe puts names in place of IDs, as far as they are still there.
func (v *changeView) describe(rd *reader) {
	var f *field
	if t := rd.base.table(v.Table); t != nil {
		if r := t.byID[v.Record]; r != nil {
			v.Title = rd.text(r, t.primary)
		}
		f = t.field(v.FieldID)
	}
	v.OldText, v.NewText = rd.told(f, v.Old), rd.told(f, v.New)
}

// told is the text of a value in the log of changes.
func (rd *reader) told(f *field, v any) string {
	if ids, ok := v.([]string); ok {
		names := make([]any, len(ids))
		for i, id := range ids {
			names[i] = id
			if f == nil || f.linked == nil {
				continue
			}
			if r := f.linked.byID[id]; r != nil {
				names[i] = rd.title(f.linked, r)
			}
		}
		return displayText(names)
	}
	if p, ok := v.(person); ok {
		return p.label()
	}
	if people, ok := v.([]person); ok {
		return displayText(nativePeople(rd, f, people))
	}
	return displayText(v)
}
