package formula

var logicFunctions = map[string]*function{
	"AND":     {min: 1, max: many, apply: and},
	"OR":      {min: 1, max: many, apply: or},
	"XOR":     {min: 1, max: many, apply: xor},
	"NOT":     {min: 1, max: 1, apply: not},
	"IF":      {min: 2, max: 3, lazy: conditional},
	"SWITCH":  {min: 2, max: many, lazy: choose},
	"TRUE":    {apply: constant(boolValue(true))},
	"FALSE":   {apply: constant(boolValue(false))},
	"BLANK":   {apply: constant(Value{})},
	"ERROR":   {max: 1, apply: constant(errorValue())},
	"ISERROR": {min: 1, max: 1, lazy: isError},

	"RECORD_ID": {apply: recordID},
}

func constant(v Value) func(*evaluation, []Value) Value {
	return func(*evaluation, []Value) Value { return v }
}

func and(_ *evaluation, args []Value) Value {
	for _, arg := range args {
		if !arg.Truthy() {
			return boolValue(false)
		}
	}
	return boolValue(true)
}

func or(_ *evaluation, args []Value) Value {
	for _, arg := range args {
		if arg.Truthy() {
			return boolValue(true)
		}
	}
	return boolValue(false)
}

// xor is true for an odd number of true arguments.
func xor(_ *evaluation, args []Value) Value {
	odd := false
	for _, arg := range args {
		odd = odd != arg.Truthy()
	}
	return boolValue(odd)
}

func not(_ *evaluation, args []Value) Value { return boolValue(!args[0].Truthy()) }

// conditional evaluates only the branch it takes; a missing else is blank.
func conditional(ev *evaluation, args []node) Value {
	condition := args[0].eval(ev)
	switch {
	case condition.IsError():
		return condition
	case condition.Truthy():
		return args[1].eval(ev)
	case len(args) == 3:
		return args[2].eval(ev)
	default:
		return Value{}
	}
}

// choose is SWITCH(value, pattern, result, …, [default]).
func choose(ev *evaluation, args []node) Value {
	value := args[0].eval(ev)
	if value.IsError() {
		return value
	}
	rest := args[1:]
	for ; len(rest) >= 2; rest = rest[2:] {
		pattern := rest[0].eval(ev)
		if pattern.IsError() {
			return pattern
		}
		if ev.equal(value, pattern) {
			return rest[1].eval(ev)
		}
	}
	if len(rest) == 1 {
		return rest[0].eval(ev)
	}
	return Value{}
}

func isError(ev *evaluation, args []node) Value { return boolValue(args[0].eval(ev).IsError()) }

func recordID(ev *evaluation, _ []Value) Value { return textValue(ev.env.RecordID()) }
