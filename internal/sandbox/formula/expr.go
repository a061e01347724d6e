package formula

import (
	"slices"
	"time"
)

// Env is the record a formula is evaluated against. Names arrive as written in the formula: by name or by field ID,
// in any case; the implementer does the lookup.
type Env interface {
	// Field returns a cell as nil, string, float64, bool, []any, map[string]any, [time.Time] or [Date]; an integer
	// type counts as float64. Linked records are a []any of display names. False means there is no such field.
	Field(name string) (any, bool)
	// RecordID is the value of RECORD_ID().
	RecordID() string
	// CreatedTime is the value of CREATED_TIME().
	CreatedTime() time.Time
	// LastModified is the value of LAST_MODIFIED_TIME(); no fields means any editable field. Zero means never.
	LastModified(fields []string) time.Time
	// Now is the value of NOW(), and of TODAY() with its time cut off.
	Now() time.Time
}

// Expr is a parsed formula. It is immutable and safe for concurrent use.
type Expr struct {
	root    node
	options Options
	fields  []string
	unknown []string
}

// Fields lists the fields the formula mentions, as written, each spelling once, in order of appearance.
func (e *Expr) Fields() []string { return slices.Clone(e.fields) }

// UnknownFunctions lists the called functions this package does not know, as written, each spelling once.
// Airtable refuses a formula that has any.
func (e *Expr) UnknownFunctions() []string { return slices.Clone(e.unknown) }

// Eval computes the formula for one record. Runtime failures are #ERROR! values, never panics.
func (e *Expr) Eval(env Env) Value {
	return e.root.eval(&evaluation{env: env, options: e.options, work: maxWork})
}
