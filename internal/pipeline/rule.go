package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-playground/validator/v10"

	"airtable-replay/internal/deadletter"
)

// rules is validator's engine; it caches the tags of the configuration and is safe for concurrent use.
var rules = validator.New(validator.WithRequiredStructEnabled())

// judge runs a field's configured rules on a value that has passed its type. Null breaks required
// alone: it clears the cell, so there is nothing for the other rules to judge. Numbers and checkboxes
// count as present whatever they hold (0 and false are values); empty text and [] do not.
func judge(field Field, value any) []fault {
	if field.Rules == "" {
		return nil
	}
	if value == nil {
		if field.Required {
			return []fault{newFault(field.Name, "required", deadletter.ReasonValidationFailed, "is required and cannot be cleared")}
		}
		return nil
	}
	err := tryForms(field.Rules, value)
	broken, ok := errors.AsType[validator.ValidationErrors](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return []fault{newFault(field.Name, "rules", deadletter.ReasonValidationFailed,
			"the configured rules %q do not suit the value (%v); mend them in the configuration", field.Rules, err)}
	}
	var faults []fault
	for _, one := range broken {
		faults = append(faults, newFault(field.Name, one.Tag(), deadletter.ReasonValidationFailed, "%s", complaint(one, value)))
	}
	return faults
}

// misfit is a panic of validator: a rule met a type that it cannot judge.
type misfit struct{ cause any }

// Error is what validator panicked with.
func (m misfit) Error() string { return fmt.Sprint(m.cause) }

// tryForms tries the forms of a value until the rules suit one.
func tryForms(tags string, value any) (err error) {
	for _, form := range forms(value) {
		if err = try(form, tags); !errors.As(err, new(misfit)) {
			return err
		}
	}
	return err
}

func try(value any, tags string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = misfit{p}
		}
	}()
	return rules.Var(value, tags)
}

// forms are the Go values that rules may judge for a JSON value, the most fitting first. Pointers
// tell validator that a zero is present.
func forms(value any) []any {
	switch v := value.(type) {
	case json.Number:
		fraction, _ := v.Float64()
		if whole, err := v.Int64(); err == nil {
			return []any{&whole, &fraction}
		}
		return []any{&fraction}
	case bool:
		return []any{&v}
	case []any:
		return []any{listForm(v)}
	case map[string]any:
		return []any{objectForm(v)}
	}
	return []any{value}
}

// listForm is a list of texts: options and IDs as they are, objects by what names them.
func listForm(list []any) []string {
	var values []string
	for _, element := range list {
		switch v := element.(type) {
		case string:
			values = append(values, v)
		case map[string]any:
			values = append(values, objectForm(v))
		}
	}
	return values
}

// objectForm is what names a collaborator, an attachment or a barcode.
func objectForm(object map[string]any) string {
	for _, key := range []string{"url", "email", "text", "id"} {
		if text, ok := object[key].(string); ok && text != "" {
			return text
		}
	}
	return ""
}

func complaint(broken validator.FieldError, value any) string {
	what := describe(value)
	if place := strings.Trim(broken.Namespace(), "."); place != "" {
		what = fmt.Sprintf("the element %s", place)
	}
	switch broken.Tag() {
	case "required":
		return "is required and must not be empty"
	case "oneof":
		return fmt.Sprintf("%s is none of: %s", what, broken.Param())
	case "datetime":
		return fmt.Sprintf("%s is not a date of the form %s", what, broken.Param())
	}
	if broken.Param() == "" {
		return fmt.Sprintf("%s breaks the rule %s", what, broken.Tag())
	}
	return fmt.Sprintf("%s breaks the rule %s=%s", what, broken.Tag(), broken.Param())
}

func texts(keys []string) []any {
	list := make([]any, len(keys))
	for i, key := range keys {
		list[i] = key
	}
	return list
}
