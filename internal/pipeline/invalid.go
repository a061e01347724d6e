package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"airtable-replay/internal/deadletter"
)

// Invalid is why a payload cannot be written: every fault of it, and the reason that says most.
type Invalid struct {
	Reason deadletter.Reason
	Errors []FieldError
	// Mismatch says that configuration and base disagree (a renamed, deleted or computed field), so
	// that no payload of the source could pass. Such refusals count towards a halt (mission W7).
	Mismatch bool
	// Schema says that the schema had a say, so that a newer one might let the payload pass.
	Schema bool
}

// FieldError is one fault. Detail is safe to show and says how to mend it.
type FieldError struct {
	Field  string `json:"field"` // the target's field; empty: the payload as a whole
	Rule   string `json:"rule"`  // type, option, max_length, exists, …, or the validator tag
	Detail string `json:"detail"`
}

// maxDetail bounds the text of a Problem, in bytes.
const maxDetail = 2000

// Problem is the refusal as a member of a decision carries it, on one line.
func (i *Invalid) Problem() *deadletter.Problem {
	return &deadletter.Problem{Reason: i.Reason, Detail: i.text()}
}

func (i *Invalid) text() string {
	var text strings.Builder
	for n, e := range i.Errors {
		part := e.Detail
		if e.Field != "" {
			part = e.Field + ": " + e.Detail
		}
		if n > 0 {
			part = "; " + part
		}
		if n > 0 && text.Len()+len(part) > maxDetail {
			fmt.Fprintf(&text, "; and %d more", len(i.Errors)-n)
			break
		}
		text.WriteString(part)
	}
	return text.String()
}

// fault is a FieldError with the reason it stands for.
type fault struct {
	FieldError
	reason deadletter.Reason
}

func newFault(field, rule string, reason deadletter.Reason, format string, args ...any) fault {
	return fault{FieldError{field, rule, fmt.Sprintf(format, args...)}, reason}
}

// telling orders the reasons: of several, the first is the one to mend first.
var telling = []deadletter.Reason{
	deadletter.ReasonUnparseablePayload, deadletter.ReasonUnknownField, deadletter.ReasonComputedField,
	deadletter.ReasonPayloadTooLarge, deadletter.ReasonVersionKindMismatch, deadletter.ReasonInvalidOption,
	deadletter.ReasonInvalidValue, deadletter.ReasonValidationFailed, deadletter.ReasonDependencyMissing,
	deadletter.ReasonMultipleMatches,
}

// newInvalid is nil for no faults.
func newInvalid(faults []fault) *Invalid {
	if len(faults) == 0 {
		return nil
	}
	i := &Invalid{}
	best := len(telling)
	for _, f := range faults {
		i.Errors = append(i.Errors, f.FieldError)
		if n := slices.Index(telling, f.reason); n < best {
			best, i.Reason = n, f.reason
		}
		switch f.Rule {
		case "exists", "computed", "guard":
			i.Mismatch, i.Schema = true, true
		case "type", "option", "link":
			i.Schema = true
		}
	}
	return i
}
