package formula

import (
	"math"
	"strconv"
)

// Lookup is a formula that asks whether one subject equals one of some constants, which an index can answer: it holds
// for a record exactly when the subject's [Value.Key] is among Keys.
type Lookup struct {
	// Subject is what is compared, a formula of its own.
	Subject *Expr
	// Keys are those of the constants, and of what else counts as equal to them under the formula's options.
	Keys []Key
}

// Key tells values apart as = does between a value and a constant. The zero Key is that of blank.
type Key struct {
	kind   kind
	text   string
	number float64
}

// Key is what a record is found by. Values that equal no constant, such as dates and errors, share one key.
func (v Value) Key() Key {
	v = v.scalar()
	switch {
	case v.isBlank():
		return Key{}
	case v.kind == kindText:
		return Key{kind: kindText, text: v.text}
	case v.kind == kindBool && v.number == 0:
		return Key{kind: kindBool}
	case v.isNumeric():
		return numberKey(v.number)
	default:
		return Key{kind: kindError}
	}
}

func numberKey(n float64) Key {
	switch {
	case math.IsNaN(n):
		return Key{kind: kindNumber, text: "NaN"} // as a number it would not even equal itself
	case n == 0:
		return Key{kind: kindNumber} // of either sign
	default:
		return Key{kind: kindNumber, number: n}
	}
}

// keys are those of all values that equal the constant v.
func (o Options) keys(v Value) []Key {
	own := v.Key()
	keys := []Key{own}
	zero := own == Key{kind: kindNumber}
	if own.kind == kindBlank || zero {
		keys = append(keys, Key{kind: kindBool})
		if o.ZeroEqualsBlank {
			keys = append(keys, Key{}, Key{kind: kindNumber})
		}
	}
	if !o.NumberEqualsText {
		return keys
	}
	if own.kind == kindNumber {
		return append(keys, Key{kind: kindText, text: numberText(v.number)})
	}
	if n, err := strconv.ParseFloat(own.text, 64); err == nil && numberText(n) == own.text {
		keys = append(keys, numberKey(n))
		if n == 0 {
			keys = append(keys, Key{kind: kindBool})
		}
	}
	return keys
}

// Lookup recognises S='x', S=5 and OR(S='x', S=5, …) for one subject S, spelled the same every time.
func (e *Expr) Lookup() (Lookup, bool) {
	alternatives := []node{e.root}
	if or, isCall := e.root.(*call); isCall && or.name == "OR" {
		alternatives = or.args
	}
	var found Lookup
	var spelled string
	for _, alternative := range alternatives {
		subject, constant, ok := equality(alternative)
		if !ok {
			return Lookup{}, false
		}
		s := &Expr{root: subject, options: e.options}
		switch spelling := s.Spelling(nil); {
		case found.Subject == nil:
			found.Subject, spelled = s, spelling
		case spelling != spelled:
			return Lookup{}, false
		}
		found.Keys = append(found.Keys, e.options.keys(constant)...)
	}
	found.Subject.collect()
	return found, true
}

// equality takes apart subject = constant, either way round.
func equality(n node) (subject node, constant Value, ok bool) {
	run, isChain := n.(*chain)
	if !isChain || len(run.rest) != 1 || run.rest[0].op != "=" {
		return nil, Value{}, false
	}
	left, right := run.first, run.rest[0].operand
	if _, swapped := constantOf(left); swapped {
		left, right = right, left
	}
	constant, ok = constantOf(right)
	if _, both := constantOf(left); both {
		return nil, Value{}, false
	}
	return left, constant, ok
}

// constantOf is the value of a literal, or of a number with its sign.
func constantOf(n node) (Value, bool) {
	switch n := n.(type) {
	case literal:
		return n.Value, true
	case negation:
		if inner, ok := n.operand.(literal); ok && inner.kind == kindNumber {
			return numberValue(-inner.number), true
		}
	}
	return Value{}, false
}
