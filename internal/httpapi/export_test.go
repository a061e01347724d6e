package httpapi

// Operation is one row of the operations table, for the test that holds it and the spec together.
type Operation struct {
	Name, Scope string
	Creates     bool
}

// Operations is the operations table.
func Operations() map[string]Operation {
	out := map[string]Operation{}
	for route, op := range operations {
		out[route] = Operation{op.name, op.scope, op.creates}
	}
	return out
}

// Internals that are tested on their own.
var (
	UnescapeHTML  = unescapeHTML
	LoneSurrogate = loneSurrogate
)
