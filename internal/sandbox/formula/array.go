package formula

var arrayFunctions = map[string]*function{
	"ARRAYJOIN":    {min: 1, max: 2, apply: arrayJoin},
	"ARRAYUNIQUE":  {min: 1, max: many, apply: arrayUnique},
	"ARRAYCOMPACT": {min: 1, max: many, apply: arrayCompact},
	"ARRAYFLATTEN": {min: 1, max: many, apply: arrayCompact}, // its documented example drops empty items, too
	"ARRAYSLICE":   {min: 2, max: 3, apply: arraySlice},

	"COUNT":    {min: 1, max: many, apply: count(func(v Value) bool { return v.kind == kindNumber })},
	"COUNTA":   {min: 1, max: many, apply: count(func(v Value) bool { return !v.isBlank() })},
	"COUNTALL": {min: 1, max: many, apply: count(func(Value) bool { return true })},
}

// flatten lists all items of the arguments and of the lists in them.
func flatten(args []Value) []Value {
	var items []Value
	for _, arg := range args {
		if arg.kind == kindList {
			items = append(items, flatten(arg.list)...)
		} else {
			items = append(items, arg)
		}
	}
	return items
}

func arrayJoin(ev *evaluation, args []Value) Value {
	separator := ", "
	if len(args) == 2 {
		separator = args[1].Text()
	}
	items := flatten(args[:1])
	if len(items) > 0 && len(separator) > MaxText/len(items) {
		return errorValue()
	}
	return ev.text(joinText(items, separator))
}

// arrayUnique keeps the first of equal items.
func arrayUnique(_ *evaluation, args []Value) Value {
	type identity struct {
		kind kind
		text string
	}
	seen := map[identity]bool{}
	unique := []Value{}
	for _, item := range flatten(args) {
		id := identity{item.kind, item.Text()}
		if !seen[id] {
			seen[id] = true
			unique = append(unique, item)
		}
	}
	return listValue(unique)
}

func arrayCompact(_ *evaluation, args []Value) Value {
	kept := []Value{}
	for _, item := range flatten(args) {
		if !item.isBlank() {
			kept = append(kept, item)
		}
	}
	return listValue(kept)
}

// arraySlice is ARRAYSLICE(array, start, [end]): positions count from 1, negative ones from the end.
func arraySlice(_ *evaluation, args []Value) Value {
	items := flatten(args[:1])
	bounds := []int{1, len(items)}
	for i, arg := range args[1:] {
		n, ok := arg.toNumber()
		if !ok {
			return errorValue()
		}
		bounds[i] = clampInt(n)
		if bounds[i] < 0 {
			bounds[i] += len(items) + 1
		}
	}
	from, to := max(bounds[0], 1), min(bounds[1], len(items))
	if from > to {
		return listValue([]Value{})
	}
	return listValue(items[from-1 : to])
}

func count(counts func(Value) bool) func(*evaluation, []Value) Value {
	return func(_ *evaluation, args []Value) Value {
		n := 0
		for _, item := range flatten(args) {
			if counts(item) {
				n++
			}
		}
		return numberValue(float64(n))
	}
}
