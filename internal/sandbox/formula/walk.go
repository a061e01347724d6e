package formula

import (
	"strconv"
	"strings"
)

// Spelling writes the formula in one canonical form. Resolve gives each field's name in it, such as its ID; nil keeps
// names as written. Formulas of one spelling give one value.
func (e *Expr) Spelling(resolve func(name string) string) string {
	if resolve == nil {
		resolve = func(name string) string { return name }
	}
	var out strings.Builder
	spell(&out, e.root, resolve)
	return out.String()
}

// spell sets every chain in brackets and quotes every text and name, so that no two formulas read alike.
func spell(out *strings.Builder, n node, resolve func(string) string) {
	switch n := n.(type) {
	case literal:
		if n.kind == kindText {
			out.WriteString(strconv.Quote(n.text))
		} else {
			out.WriteString(n.Text())
		}
	case fieldRef:
		out.WriteString("{" + strconv.Quote(resolve(n.name)) + "}")
	case negation:
		out.WriteString("-")
		spell(out, n.operand, resolve)
	case *chain:
		out.WriteString("(")
		spell(out, n.first, resolve)
		for _, l := range n.rest {
			out.WriteString(l.op)
			spell(out, l.operand, resolve)
		}
		out.WriteString(")")
	case *call:
		out.WriteString(n.name + "(")
		for _, arg := range n.args {
			spell(out, arg, resolve)
			out.WriteString(",")
		}
		out.WriteString(")")
	default:
		out.WriteString("?()") // an unknown function, always #ERROR!
	}
}

// Volatile says whether the value depends on the time at which it is computed.
func (e *Expr) Volatile() bool {
	volatile := false
	walk(e.root, func(n node) {
		if c, ok := n.(*call); ok && c.function.volatile {
			volatile = true
		}
	})
	return volatile
}

// collect lists the fields that a part of a formula mentions.
func (e *Expr) collect() {
	var fields nameList
	walk(e.root, func(n node) {
		if ref, ok := n.(fieldRef); ok {
			fields.add(ref.name)
		}
	})
	e.fields = fields.list
}

// walk visits a node and everything below it. The parser bounds the depth.
func walk(n node, visit func(node)) {
	visit(n)
	switch n := n.(type) {
	case negation:
		walk(n.operand, visit)
	case *chain:
		walk(n.first, visit)
		for _, l := range n.rest {
			walk(l.operand, visit)
		}
	case *call:
		for _, arg := range n.args {
			walk(arg, visit)
		}
	}
}
