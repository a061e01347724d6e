package formula

import "fmt"

// Limits that keep any input harmless. They are wider than what a client can send in a URL.
const (
	// MaxSource is the longest accepted formula, in bytes.
	MaxSource = 1 << 20
	// MaxDepth is the deepest accepted nesting of parentheses, calls and minus signs.
	MaxDepth = 200
	// MaxText is the longest text a formula may compute, in bytes; beyond it the result is #ERROR!.
	MaxText = 1 << 20
	// maxWork bounds one evaluation, in bytes touched or steps of a regular expression.
	maxWork = 1 << 26
)

// Options settle what is unconfirmed about Airtable's own evaluator.
type Options struct {
	// ZeroEqualsBlank makes the number 0 equal to an empty cell and to BLANK().
	ZeroEqualsBlank bool
	// NumberEqualsText makes 5 equal to '5', comparing the number's text.
	NumberEqualsText bool
	// NewlineInLiteral allows raw line breaks inside a quoted literal.
	NewlineInLiteral bool
}

// DefaultOptions are those of [Parse]: 0 equals BLANK() (a lookup for 0 finds empty cells), a number never equals
// a text (a quoted number finds nothing), raw line breaks are allowed in literals.
func DefaultOptions() Options {
	return Options{ZeroEqualsBlank: true, NewlineInLiteral: true}
}

// SyntaxError says why a formula cannot be read. Airtable answers 422 to such a formula.
type SyntaxError struct {
	// Offset is the position in the source, in bytes from its start.
	Offset int
	// Message names what was found and what was expected.
	Message string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("formula at byte %d: %s", e.Offset, e.Message)
}

func syntaxErrorf(offset int, format string, args ...any) *SyntaxError {
	return &SyntaxError{Offset: offset, Message: fmt.Sprintf(format, args...)}
}
