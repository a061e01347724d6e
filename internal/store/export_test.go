package store

// For the tests of what is arithmetic or a table.
var (
	BookSpan       = bookSpan
	InterpretError = interpretError
)
