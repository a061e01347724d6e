package formula

import "math"

var numberFunctions = map[string]*function{
	"ABS":       {min: 1, max: 1, apply: numeric(func(n []float64) float64 { return math.Abs(n[0]) })},
	"INT":       {min: 1, max: 1, apply: numeric(func(n []float64) float64 { return math.Floor(n[0]) })},
	"SQRT":      {min: 1, max: 1, apply: numeric(func(n []float64) float64 { return math.Sqrt(n[0]) })},
	"EXP":       {min: 1, max: 1, apply: numeric(func(n []float64) float64 { return math.Exp(n[0]) })},
	"EVEN":      {min: 1, max: 1, apply: numeric(func(n []float64) float64 { return 2 * math.Ceil(n[0]/2) })},
	"ODD":       {min: 1, max: 1, apply: numeric(odd)},
	"LOG":       {min: 1, max: 2, apply: numeric(logarithm)},
	"MOD":       {min: 2, max: 2, apply: numeric(func(n []float64) float64 { return math.Mod(n[0], n[1]) })},
	"POWER":     {min: 2, max: 2, apply: numeric(func(n []float64) float64 { return math.Pow(n[0], n[1]) })},
	"ROUND":     {min: 1, max: 2, apply: numeric(rounded(func(n float64) float64 { return math.Floor(n + 0.5) }))},
	"ROUNDDOWN": {min: 1, max: 2, apply: numeric(rounded(math.Trunc))},
	"ROUNDUP":   {min: 1, max: 2, apply: numeric(rounded(awayFromZero))},
	"CEILING":   {min: 1, max: 2, apply: numeric(multiple(math.Ceil))},
	"FLOOR":     {min: 1, max: 2, apply: numeric(multiple(math.Floor))},

	"SUM":     {min: 1, max: many, apply: aggregate(sum)},
	"AVERAGE": {min: 1, max: many, apply: aggregate(func(n []float64) float64 { return divide(sum(n), float64(len(n))) })},
	"MIN":     {min: 1, max: many, apply: extreme(-1)},
	"MAX":     {min: 1, max: many, apply: extreme(1)},
}

// numeric lifts a computation on numbers to values; an argument that is no number is #ERROR!.
func numeric(compute func(n []float64) float64) func(*evaluation, []Value) Value {
	return func(_ *evaluation, args []Value) Value {
		numbers := make([]float64, len(args))
		for i, arg := range args {
			n, ok := arg.toNumber()
			if !ok {
				return errorValue()
			}
			numbers[i] = n
		}
		return numberValue(positiveZero(compute(numbers)))
	}
}

// odd rounds away from zero to an odd number.
func odd(n []float64) float64 {
	magnitude := 2*math.Ceil((math.Abs(n[0])-1)/2) + 1
	return math.Copysign(max(magnitude, 1), n[0])
}

// logarithm has base 10 unless another is given.
func logarithm(n []float64) float64 {
	switch {
	case len(n) == 1 || n[1] == 10:
		return math.Log10(n[0])
	case n[1] == 2:
		return math.Log2(n[0])
	default:
		return math.Log(n[0]) / math.Log(n[1])
	}
}

func awayFromZero(n float64) float64 {
	return math.Copysign(math.Ceil(math.Abs(n)), n)
}

// rounded applies a rounding at a number of decimals, none unless given; more than a number holds change nothing.
func rounded(round func(float64) float64) func([]float64) float64 {
	return func(n []float64) float64 {
		decimals := 0
		if len(n) == 2 {
			decimals = clampInt(n[1])
		}
		scale := math.Pow10(decimals)
		scaled := n[0] * scale
		if scale == 0 {
			return 0
		}
		if math.IsInf(scaled, 0) || math.IsInf(scale, 0) {
			return n[0]
		}
		return round(scaled) / scale
	}
}

// multiple rounds to a multiple of a significance, 1 unless given.
func multiple(round func(float64) float64) func([]float64) float64 {
	return func(n []float64) float64 {
		if len(n) == 1 {
			return round(n[0])
		}
		return round(n[0]/n[1]) * n[1]
	}
}

// aggregate computes over the numbers among its arguments and in their lists; text and blanks do not count.
func aggregate(compute func(n []float64) float64) func(*evaluation, []Value) Value {
	return func(_ *evaluation, args []Value) Value {
		var numbers []float64
		for _, item := range flatten(args) {
			if item.IsError() {
				return item
			}
			if item.isNumeric() {
				numbers = append(numbers, item.number)
			}
		}
		return numberValue(compute(numbers))
	}
}

func sum(numbers []float64) float64 {
	total := 0.0
	for _, n := range numbers {
		total += n
	}
	return total
}

// extreme is MIN (-1) or MAX (1) over numbers or, where there are none, over dates; 0 for neither.
func extreme(sign int) func(*evaluation, []Value) Value {
	return func(_ *evaluation, args []Value) Value {
		var number, date Value
		for _, item := range flatten(args) {
			switch {
			case item.IsError():
				return item
			case item.isNumeric() && (number.kind == kindBlank || math.IsNaN(item.number)):
				number = numberValue(item.number)
			case item.isNumeric() && float64(sign)*(item.number-number.number) > 0:
				number = numberValue(item.number)
			case item.kind == kindTime && (date.kind == kindBlank || item.time.Compare(date.time) == sign):
				date = item
			}
		}
		switch {
		case number.kind == kindNumber:
			return number
		case date.kind == kindTime:
			return date
		default:
			return numberValue(0)
		}
	}
}
