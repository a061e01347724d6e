package sandbox

import (
	"fmt"
	"net/http"
)

// apiError is a refusal as Airtable words it: a status and a body.
type apiError struct {
	status int
	header http.Header
	body   any
}

func (e *apiError) Error() string { return fmt.Sprintf("status %d: %v", e.status, e.body) }

// problem is the usual envelope's inside. Message is left out for the few
// types that Airtable sends alone.
type problem struct {
	Type    string `json:"type"`
	Message string `json:"message,omitempty"`
}

func typed(status int, kind, message string) *apiError {
	return &apiError{status: status, body: map[string]any{"error": problem{Type: kind, Message: message}}}
}

func unprocessable(kind, format string, args ...any) *apiError {
	return typed(http.StatusUnprocessableEntity, kind, fmt.Sprintf(format, args...))
}

// bareNotFound answers undefined routes and malformed ids.
func bareNotFound() *apiError {
	return &apiError{status: http.StatusNotFound, body: map[string]any{"error": "NOT_FOUND"}}
}

func unauthenticated() *apiError {
	return typed(http.StatusUnauthorized, "AUTHENTICATION_REQUIRED", "Authentication required")
}

// forbidden is today's answer to an unknown base or table, to a base that is
// not on the token and to a missing scope alike.
func forbidden() *apiError {
	return typed(http.StatusForbidden, "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND",
		"Invalid permissions, or the requested model was not found. Check that both your user and your token "+
			"have the required permissions, and that the model names and/or ids are correct.")
}

// notPermitted answers a token that has the scope while its owner's role on
// the base is too low; what says which thing is refused, "" for the operation.
func notPermitted(what string) *apiError {
	if what == "" {
		what = "perform this operation"
	}
	return typed(http.StatusForbidden, "INVALID_PERMISSIONS", "You are not permitted to "+what)
}

func recordNotFound() *apiError {
	return typed(http.StatusNotFound, "MODEL_ID_NOT_FOUND", "Record not found")
}

func rowMissing(id string) *apiError {
	return unprocessable("ROW_DOES_NOT_EXIST", "Record ID %s does not exist in this table", id)
}

func invalidRequest() *apiError {
	return unprocessable("INVALID_REQUEST_UNKNOWN",
		"Invalid request: parameter validation failed. Check your request data.")
}

func missingFields() *apiError {
	return unprocessable("INVALID_REQUEST_MISSING_FIELDS", "Could not find field \"fields\" in the request body")
}

func unknownField(name string) *apiError {
	return unprocessable("UNKNOWN_FIELD_NAME", "Unknown field name: \"%s\"", name)
}

func invalidValue(format string, args ...any) *apiError {
	return unprocessable("INVALID_VALUE_FOR_COLUMN", format, args...)
}

func cannotAccept(f *field) *apiError {
	return invalidValue("Field \"%s\" cannot accept the provided value", f.name)
}

func computedValue(f *field) *apiError {
	return invalidValue("Field \"%s\" cannot accept a value because the field is computed", f.name)
}

func invalidRecords(message string) *apiError {
	return unprocessable("INVALID_RECORDS", "%s", message)
}

func invalidFormula(reason string) *apiError {
	return unprocessable("INVALID_FILTER_BY_FORMULA", "The formula for filtering records is invalid: %s", reason)
}
