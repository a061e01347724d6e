package formula

import (
	"strconv"
	"strings"
)

// Parse reads a formula under [DefaultOptions]. Its error is always a *[SyntaxError].
func Parse(src string) (*Expr, error) {
	return ParseWith(src, DefaultOptions())
}

// ParseWith reads a formula under the given options. Its error is always a *[SyntaxError].
// Unknown functions and fields are no syntax errors; see [Expr.UnknownFunctions] and [Expr.Fields].
func ParseWith(src string, options Options) (*Expr, error) {
	if len(src) > MaxSource {
		return nil, syntaxErrorf(MaxSource, "formula is longer than %d bytes", MaxSource)
	}
	p := &parser{lexer: lexer{src: src, options: options}}
	root, err := p.formula()
	if err != nil {
		return nil, err
	}
	return &Expr{root: root, options: options, fields: p.fields.list, unknown: p.unknown.list}, nil
}

// levels lists the binary operators, loosest first; those of one level bind from the left.
var levels = [][]string{
	{"=", "!=", "<", ">", "<=", ">="},
	{"&"},
	{"+", "-"},
	{"*", "/"},
}

type parser struct {
	lexer   lexer
	current token
	depth   int
	fields  nameList
	unknown nameList
}

// nameList keeps names in order of first appearance.
type nameList struct {
	list []string
	seen map[string]bool
}

func (n *nameList) add(name string) {
	if n.seen[name] {
		return
	}
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	n.seen[name] = true
	n.list = append(n.list, name)
}

func (p *parser) formula() (node, *SyntaxError) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	root, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	if p.current.kind != tokenEnd {
		return nil, p.unexpected("an operator or the end")
	}
	return root, nil
}

func (p *parser) advance() *SyntaxError {
	t, err := p.lexer.next()
	if err == nil {
		p.current = t
	}
	return err
}

func (p *parser) unexpected(wanted string) *SyntaxError {
	return syntaxErrorf(p.current.offset, "found %s, expected %s", p.current, wanted)
}

func (p *parser) isSymbol(text string) bool {
	return p.current.kind == tokenSymbol && p.current.text == text
}

// binary reads a run of operators of one level as one flat chain, so that long runs cost no depth.
func (p *parser) binary(level int) (node, *SyntaxError) {
	if level == len(levels) {
		return p.unary()
	}
	first, err := p.binary(level + 1)
	if err != nil {
		return nil, err
	}
	run := &chain{first: first}
	for p.atOperator(level) {
		op := p.current.text
		if err := p.advance(); err != nil {
			return nil, err
		}
		operand, err := p.binary(level + 1)
		if err != nil {
			return nil, err
		}
		run.rest = append(run.rest, link{op: op, operand: operand})
	}
	if len(run.rest) == 0 {
		return first, nil
	}
	return run, nil
}

func (p *parser) atOperator(level int) bool {
	for _, op := range levels[level] {
		if p.isSymbol(op) {
			return true
		}
	}
	return false
}

func (p *parser) unary() (node, *SyntaxError) {
	if p.depth++; p.depth > MaxDepth {
		return nil, syntaxErrorf(p.current.offset, "formula is nested deeper than %d levels", MaxDepth)
	}
	defer func() { p.depth-- }()
	if !p.isSymbol("-") {
		return p.primary()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	operand, err := p.unary()
	if err != nil {
		return nil, err
	}
	return negation{operand}, nil
}

func (p *parser) primary() (node, *SyntaxError) {
	t := p.current
	switch t.kind {
	case tokenText:
		return literal{textValue(t.text)}, p.advance()
	case tokenNumber:
		return p.number()
	case tokenField:
		p.fields.add(t.text)
		return fieldRef{t.text}, p.advance()
	case tokenName:
		return p.name()
	case tokenSymbol:
		if t.text == "(" {
			return p.parenthesized()
		}
	case tokenEnd:
	}
	return nil, p.unexpected("a value")
}

func (p *parser) number() (node, *SyntaxError) {
	t := p.current
	n, err := strconv.ParseFloat(t.text, 64)
	if err != nil {
		return nil, syntaxErrorf(t.offset, "number %s is out of range", clip(t.text))
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.current.kind == tokenName && p.current.offset == t.end {
		return nil, syntaxErrorf(t.offset, "name starts with a digit; write it as {%s…}", clip(t.text+p.current.text))
	}
	return literal{numberValue(n)}, nil
}

// name reads a bare field name or, when a parenthesis follows at once, a call.
func (p *parser) name() (node, *SyntaxError) {
	t := p.current
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.isSymbol("(") && p.current.offset == t.end {
		return p.call(t)
	}
	p.fields.add(t.text)
	return fieldRef{t.text}, nil
}

func (p *parser) parenthesized() (node, *SyntaxError) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	inner, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	if !p.isSymbol(")") {
		return nil, p.unexpected("an operator or ')'")
	}
	return inner, p.advance()
}

func (p *parser) call(name token) (node, *SyntaxError) {
	args, err := p.arguments()
	if err != nil {
		return nil, err
	}
	fn, ok := functions[strings.ToUpper(name.text)]
	if !ok {
		p.unknown.add(name.text)
		return unknownCall{}, nil
	}
	if len(args) < fn.min || len(args) > fn.max {
		return nil, syntaxErrorf(name.offset, "%s takes %s, found %d", strings.ToUpper(name.text), fn.arity(), len(args))
	}
	return &call{name: strings.ToUpper(name.text), function: fn, args: args}, nil
}

// arguments reads "(a, b, …)", starting at the parenthesis.
func (p *parser) arguments() ([]node, *SyntaxError) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	var args []node
	for !p.isSymbol(")") || len(args) > 0 {
		arg, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
		if p.isSymbol(")") {
			break
		}
		if !p.isSymbol(",") {
			return nil, p.unexpected("',' or ')'")
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	return args, p.advance()
}
