package sandbox

import (
	"fmt"
	"strings"
	"time"
)

// Seed is what a sandbox starts with. Write it in Go, or read it with [ParseSeed].
type Seed struct {
	Bases       []SeedBase
	Automations []SeedAutomation
}

// SeedBase is one base. Its ID begins with app. Without tokens it is open to
// everybody, unless Config.RequireToken says otherwise.
type SeedBase struct {
	ID, Name string
	Tokens   []SeedToken
	// People are its collaborators; without any, every well-formed one is accepted.
	People []SeedPerson
	Tables []SeedTable

	line int
}

// SeedToken lets a token reach the base. Scopes are all of them by default, and
// Owner is the token's own by default; tokens of one owner share its rate limit.
type SeedToken struct {
	Token  string
	Scopes []string
	Owner  string
	// Permission is the owner's role on the base: none, read, comment, edit or create, the default.
	Permission string

	line int
}

// SeedPerson is a collaborator.
type SeedPerson struct{ ID, Email, Name string }

// SeedTable is one table. Primary is its first field by default.
type SeedTable struct {
	ID, Name, Description string
	Primary               string
	Fields                []SeedField
	Views                 []SeedView
	Records               []SeedRecord

	line int
}

// SeedField is one field. Type is Airtable's name for it; the members after
// Description belong to some types only.
type SeedField struct {
	ID, Name, Type, Description string
	// Choices are the options of a select.
	Choices []string
	// LinkedTable is where a link points, Inverse the field there that mirrors
	// it; that is made when it is not listed.
	LinkedTable, Inverse string
	// Watches are the fields that a last modified field follows; none: all.
	Watches []string
	// Link and Field say what a lookup, rollup or count goes through and shows.
	Link, Field string
	// Formula is that of a formula, of a rollup (over "values"), of a button's URL.
	Formula string
	// Label is a button's.
	Label string
	// TimeZone is where a dateTime reads text without an offset, UTC by default.
	TimeZone string
	// Result is "date" for a created or last modified time without a time of day.
	Result string
	// Max is a rating's highest value, 5 by default.
	Max int

	line int
}

// SeedView is a view: a filter formula and an order, both optional.
type SeedView struct {
	Name, Filter string
	Sort         []SeedSort

	line int
}

// SeedSort is one key of a view's order.
type SeedSort struct {
	Field string
	Desc  bool
}

// SeedRecord is one record. Fields are keyed by name; links may be given by
// record ID or by the text of the linked record's primary field.
type SeedRecord struct {
	ID string
	// Created is long ago by default, so that nothing looks freshly edited.
	Created time.Time
	// Modified sets when a cell was last changed; by default at the creation.
	Modified map[string]time.Time
	Fields   map[string]any

	line  int
	lines map[string]int
}

// SeedAutomation posts to a URL when a checkbox becomes checked. {record} in
// the URL is the record's ID; ${NAME} in URL and token comes from the environment.
type SeedAutomation struct {
	Base, Table, Checkbox string
	Post, Token           string

	line int
}

// SeedFault is one thing wrong with a seed.
type SeedFault struct {
	// Line is that of the file, 0 when the seed was made in Go.
	Line    int
	Path    string
	Problem string
}

// SeedError lists every fault of a seed.
type SeedError []SeedFault

// Error gives one line per fault.
func (e SeedError) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		if f.Line > 0 {
			lines[i] = fmt.Sprintf("line %d: %s: %s", f.Line, f.Path, f.Problem)
		} else {
			lines[i] = fmt.Sprintf("%s: %s", f.Path, f.Problem)
		}
	}
	return strings.Join(lines, "\n")
}

// seedEpoch is when seeded records were created unless they say otherwise.
var seedEpoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
