package formula

import (
	"fmt"
	"math"
)

// function is one entry of the library. Exactly one of apply and lazy is set: apply gets evaluated arguments none of
// which is an error, lazy decides itself what to evaluate.
type function struct {
	min, max int
	apply    func(ev *evaluation, args []Value) Value
	lazy     func(ev *evaluation, args []node) Value
	volatile bool // its value depends on when it is computed
}

// many is the upper bound of functions that take any number of arguments.
const many = math.MaxInt

func (f *function) arity() string {
	plural := func(n int) string {
		if n == 1 {
			return "1 argument"
		}
		return fmt.Sprintf("%d arguments", n)
	}
	switch {
	case f.max == many:
		return "at least " + plural(f.min)
	case f.min == f.max:
		return plural(f.min)
	default:
		return fmt.Sprintf("%d to %s", f.min, plural(f.max))
	}
}

// functions is the library by upper-case name.
var functions = library(
	logicFunctions,
	textFunctions, editFunctions, regexFunctions,
	numberFunctions, arrayFunctions,
	dateFunctions, calendarFunctions,
)

func library(parts ...map[string]*function) map[string]*function {
	all := map[string]*function{}
	for _, part := range parts {
		for name, fn := range part {
			all[name] = fn
		}
	}
	return all
}
