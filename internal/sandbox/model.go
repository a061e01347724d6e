package sandbox

import (
	"strings"
	"time"
)

// base is one Airtable base. Everything in it is guarded by the sandbox's lock.
type base struct {
	id, name     string
	tables       []*table
	people       []person
	open         bool // no token is listed for it
	transactions int
	hooks        []*webhook
	badFiles     map[string][]time.Time // by URL: when fetching it failed
	traffic      meter
}

// table finds a table by its ID or its name.
func (b *base) table(ref string) *table {
	for _, t := range b.tables {
		if t.id == ref || t.name == ref {
			return t
		}
	}
	return nil
}

// table holds its records in the order of their creation.
type table struct {
	base       *base
	id, name   string
	desc       string
	fields     []*field
	primary    *field
	views      []*view
	records    []*record
	byID       map[string]*record
	lastSeq    int
	lastNumber int
	indexes    map[string]index // by field, of stored values
	lookups    []*lookup        // by formula, the one used last at the end
}

// field finds a field by its ID or its exact name.
func (t *table) field(ref string) *field {
	for _, f := range t.fields {
		if f.id == ref || f.name == ref {
			return f
		}
	}
	return nil
}

// formulaField finds a field as a formula names it: letter case does not count.
func (t *table) formulaField(ref string) *field {
	if f := t.field(ref); f != nil {
		return f
	}
	for _, f := range t.fields {
		if strings.EqualFold(f.name, ref) {
			return f
		}
	}
	return nil
}

// field is a column. Which of the optional members are set depends on its type.
type field struct {
	table    *table
	id, name string
	desc     string
	kind     *kind
	config   map[string]any // options that only change how a value is shown

	choices []*choice
	zone    *time.Location // dateTime: where text without an offset is read
	max     int            // rating

	linked  *table // multipleRecordLinks
	inverse *field

	watches []*field // lastModifiedTime, lastModifiedBy; none: all editable
	dateish bool     // its result is a date without a time

	via    *field // lookup, rollup, count: the link they go through
	target *field // lookup, rollup: the field of the linked table
	code   *code  // formula, rollup, button
}

// choice is an option of a select field. Cells hold its ID.
type choice struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Color string `json:"color,omitempty"`
}

// choice finds an option by its exact name.
func (f *field) choice(name string) *choice {
	for _, c := range f.choices {
		if c.Name == name {
			return c
		}
	}
	return nil
}

func (f *field) choiceByID(id string) *choice {
	for _, c := range f.choices {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// record is a row. Cells are keyed by field ID, so that they survive a rename;
// an empty cell has no key.
type record struct {
	id        string
	seq       int // order of creation
	number    int // autoNumber
	created   time.Time
	createdBy person
	cells     map[string]any
	stamps    map[string]stamp // per field: the last change

	upserted   int // the API request whose upsert created it, 0 for none
	upsertedAt time.Time
}

// stamp is when a cell was last changed, and by whom.
type stamp struct {
	at   time.Time
	by   person
	turn int // tells apart what happened within one second
}

// person is a collaborator, or the owner of a token.
type person struct {
	ID    string `json:"id"`
	Email string `json:"email,omitempty"`
	Name  string `json:"name,omitempty"`
}

// view narrows and orders a table. An empty one shows everything.
type view struct {
	id, name, kind string
	filter         *code
	sort           []sortKey
}

func (t *table) view(ref string) *view {
	for _, v := range t.views {
		if v.id == ref || v.name == ref {
			return v
		}
	}
	return nil
}
