package sandbox

import (
	"strings"
)

const (
	defaultGridRows = 100
	maxGridRows     = 2_000
)

// gridView is a table as the page shows it.
type gridView struct {
	Base    string      `json:"base"`
	Table   string      `json:"table"`
	Primary string      `json:"primary"`
	Fields  []fieldView `json:"fields"`
	// Total counts the records that were found, Rows shows the first of them.
	Total int       `json:"total"`
	Rows  []rowView `json:"rows"`
}

type fieldView struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Type     string    `json:"type"`
	Computed bool      `json:"computed,omitempty"`
	Choices  []*choice `json:"choices,omitempty"`
	Max      int       `json:"max,omitempty"`
	// Linked is the ID of the table that a link points to.
	Linked string `json:"linked,omitempty"`
}

type rowView struct {
	ID string `json:"id"`
	// Cells are the non-empty ones, by field ID.
	Cells map[string]cellView `json:"cells"`
}

// cellView is a cell as the API gives it, and as a person reads it.
type cellView struct {
	Value any    `json:"value"`
	Text  string `json:"text"`
}

// gridView shows the first rows of those in which some cell reads as find.
func (s *Sandbox) gridView(t *table, rows int, find string) *gridView {
	rd := t.base.reader(s.clock.now())
	v := &gridView{Base: t.base.id, Table: t.id, Primary: t.primary.id, Fields: make([]fieldView, len(t.fields)), Rows: []rowView{}}
	for i, f := range t.fields {
		v.Fields[i] = fieldView{ID: f.id, Name: f.name, Type: f.kind.name, Computed: f.kind.computed, Choices: f.choices, Max: f.max}
		if f.linked != nil {
			v.Fields[i].Linked = f.linked.id
		}
	}
	find = strings.ToLower(find)
	for _, r := range t.records {
		if find != "" && !rd.reads(t, r, find) {
			continue
		}
		v.Total++
		if len(v.Rows) < rows {
			v.Rows = append(v.Rows, rd.row(t, r))
		}
	}
	return v
}

// reads says whether some cell of the record contains the text, in lower case.
func (rd *reader) reads(t *table, r *record, text string) bool {
	for _, f := range t.fields {
		if strings.Contains(strings.ToLower(rd.text(r, f)), text) {
			return true
		}
	}
	return false
}

func (rd *reader) row(t *table, r *record) rowView {
	row := rowView{ID: r.id, Cells: map[string]cellView{}}
	for _, f := range t.fields {
		if v := rd.wire(r, f); v != nil {
			row.Cells[f.id] = cellView{v, rd.text(r, f)}
		}
	}
	return row
}
