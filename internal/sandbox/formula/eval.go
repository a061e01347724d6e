package formula

import "math"

// evaluation is one run of a formula against one record.
type evaluation struct {
	env     Env
	options Options
	work    int
}

// spend accounts for the bytes an operation touches and says whether it may go on.
func (ev *evaluation) spend(bytes int) bool {
	if bytes < 0 || bytes > ev.work {
		ev.work = 0
		return false
	}
	ev.work -= bytes
	return true
}

// text makes a computed text, unless it is longer than a formula may produce.
func (ev *evaluation) text(s string) Value {
	if len(s) > MaxText || !ev.spend(len(s)) {
		return errorValue()
	}
	return textValue(s)
}

// cost is what touching a value takes; an item of a list counts more than its text, for the memory it needs.
func (v Value) cost() int {
	const perItem = 128
	total := 1 + len(v.text)
	if v.kind == kindObject {
		total += len(objectText(v.object))
	}
	for _, item := range v.list {
		total += perItem + item.cost()
	}
	return total
}

type node interface {
	eval(ev *evaluation) Value
}

type literal struct{ Value }

type fieldRef struct{ name string }

type negation struct{ operand node }

// chain is a run of operators of one level: first op operand op operand …, from left to right.
type chain struct {
	first node
	rest  []link
}

type link struct {
	op      string
	operand node
}

type call struct {
	name     string
	function *function
	args     []node
}

// unknownCall stands for a function nobody knows; a caller that ignores UnknownFunctions gets #ERROR!.
type unknownCall struct{}

func (n literal) eval(*evaluation) Value { return n.Value }

func (n fieldRef) eval(ev *evaluation) Value {
	cell, ok := ev.env.Field(n.name)
	if !ok {
		return errorValue()
	}
	value := cellValue(cell, 0)
	if !ev.spend(value.cost()) {
		return errorValue()
	}
	return value
}

func (n negation) eval(ev *evaluation) Value {
	number, ok := n.operand.eval(ev).toNumber()
	if !ok {
		return errorValue()
	}
	return numberValue(-number)
}

func (n unknownCall) eval(*evaluation) Value { return errorValue() }

func (n *chain) eval(ev *evaluation) Value {
	result := n.first.eval(ev)
	for _, l := range n.rest {
		result = ev.operate(l.op, result, l.operand.eval(ev))
	}
	return result
}

// eval passes a failed argument on as the result, except to functions that look at their arguments themselves.
func (n *call) eval(ev *evaluation) Value {
	if !ev.spend(1) {
		return errorValue()
	}
	if n.function.lazy != nil {
		return n.function.lazy(ev, n.args)
	}
	args := make([]Value, len(n.args))
	for i, arg := range n.args {
		args[i] = arg.eval(ev)
		if args[i].IsError() || !ev.spend(args[i].cost()) {
			return errorValue()
		}
	}
	return n.function.apply(ev, args)
}

func (ev *evaluation) operate(op string, a, b Value) Value {
	if a.IsError() || b.IsError() || !ev.spend(a.cost()+b.cost()) {
		return errorValue()
	}
	switch op {
	case "=":
		return boolValue(ev.equal(a, b))
	case "!=":
		return boolValue(!ev.equal(a, b))
	case "&":
		return ev.concat(a, b)
	case "+":
		// + joins when either side is a text, as in JavaScript.
		if a.isText() || b.isText() {
			return ev.concat(a, b)
		}
		return arithmetic(op, a, b)
	case "-", "*", "/":
		return arithmetic(op, a, b)
	default:
		return boolValue(ordered(op, a, b))
	}
}

func (ev *evaluation) concat(a, b Value) Value { return ev.text(a.Text() + b.Text()) }

func arithmetic(op string, a, b Value) Value {
	x, okA := a.toNumber()
	y, okB := b.toNumber()
	if !okA || !okB {
		return errorValue()
	}
	switch op {
	case "+":
		return numberValue(x + y)
	case "-":
		return numberValue(x - y)
	case "*":
		return numberValue(x * y)
	default:
		return numberValue(divide(x, y))
	}
}

// divide gives Infinity and NaN for a zero divisor, which Airtable shows as special values.
func divide(x, y float64) float64 {
	if y == 0 {
		if x == 0 || math.IsNaN(x) {
			return math.NaN()
		}
		return math.Inf(int(math.Copysign(1, x)))
	}
	return x / y
}
