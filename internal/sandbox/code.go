package sandbox

import (
	"strings"
	"time"

	"airtable-replay/internal/sandbox/formula"
)

// code is a formula bound to the fields of a table, so that a rename does not
// break it, as in Airtable.
type code struct {
	source string
	expr   *formula.Expr
	refs   map[string]*field
}

// compile parses a formula and binds its names. What it cannot bind is
// returned in Airtable's words; "values" is left alone for a rollup.
func (t *table) compile(source string, options formula.Options, free ...string) (*code, string) {
	expr, err := formula.ParseWith(source, options)
	if err != nil {
		return nil, "Invalid formula. Please check your formula text."
	}
	c := &code{source: source, expr: expr, refs: map[string]*field{}}
	var unknown []string
names:
	for _, name := range expr.Fields() {
		for _, skip := range free {
			if strings.EqualFold(name, skip) {
				continue names
			}
		}
		if f := t.formulaField(name); f != nil {
			c.refs[name] = f
			continue
		}
		unknown = append(unknown, strings.ToLower(name))
	}
	if len(unknown) > 0 {
		return nil, "Unknown field names: " + strings.Join(unknown, ", ")
	}
	if names := expr.UnknownFunctions(); len(names) > 0 {
		return nil, "Unknown function names: " + strings.Join(names, ", ")
	}
	return c, ""
}

// part is a piece of the formula, bound to the same fields.
func (c *code) part(expr *formula.Expr) *code {
	p := &code{expr: expr, refs: map[string]*field{}}
	for _, name := range expr.Fields() {
		p.refs[name] = c.refs[name]
	}
	return p
}

// eval computes the formula for one record.
func (c *code) eval(rd *reader, r *record) formula.Value {
	return c.expr.Eval(&recordEnv{reader: rd, code: c, record: r})
}

// recordEnv shows one record to a formula.
type recordEnv struct {
	reader *reader
	code   *code
	record *record
	values []any // of a rollup
	rollup bool
}

// Field implements formula.Env.
func (e *recordEnv) Field(name string) (any, bool) {
	if e.rollup && strings.EqualFold(name, "values") {
		return e.values, true
	}
	f := e.code.refs[name]
	if f == nil || f.gone() {
		return nil, false
	}
	return e.reader.native(e.record, f), true
}

// RecordID implements formula.Env.
func (e *recordEnv) RecordID() string { return e.record.id }

// CreatedTime implements formula.Env.
func (e *recordEnv) CreatedTime() time.Time { return e.record.created }

// LastModified implements formula.Env.
func (e *recordEnv) LastModified(names []string) time.Time {
	var watched []*field
	for _, name := range names {
		if f := e.code.refs[name]; f != nil {
			watched = append(watched, f)
		}
	}
	return e.record.lastChange(watched).at
}

// Now implements formula.Env.
func (e *recordEnv) Now() time.Time { return e.reader.now }

// gone says whether the field was deleted from its table.
func (f *field) gone() bool { return f.table == nil }

// withIDs is the source with field IDs in place of names, as the schema shows it.
func (c *code) withIDs() string {
	out := c.source
	for name, f := range c.refs {
		out = strings.ReplaceAll(out, "{"+name+"}", "{"+f.id+"}")
	}
	return out
}

func (c *code) valid() bool {
	for _, f := range c.refs {
		if f.gone() {
			return false
		}
	}
	return true
}

func (c *code) fieldIDs() []string {
	ids := []string{}
	for _, name := range c.expr.Fields() {
		if f := c.refs[name]; f != nil {
			ids = append(ids, f.id)
		}
	}
	return ids
}
