package apptest

import (
	"net/http"
	"testing"
	"time"

	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// Hand edits a record as a person does, at a moment that its Last modified times will say.
func (w *World) Hand(t testing.TB, table, record string, at time.Time, fields Doc) {
	t.Helper()
	_, err := w.Sandbox.Edit(sandbox.Edit{Base: BaseID, Table: table, Record: record, Fields: fields, At: at, By: "Paula"})
	require.NoError(t, err)
}

// Make creates a record as a person does, long before any entry failed, and returns its ID.
func (w *World) Make(t testing.TB, table string, fields Doc) string {
	t.Helper()
	id, err := w.Sandbox.Edit(sandbox.Edit{Base: BaseID, Table: table, Fields: fields, At: Failed.Add(-30 * 24 * time.Hour), By: "Paula"})
	require.NoError(t, err)
	return id
}

// Fault makes the sandbox misbehave.
func (w *World) Fault(t testing.TB, f sandbox.Fault) {
	t.Helper()
	_, err := w.Sandbox.AddFault(f)
	require.NoError(t, err)
}

// Answer is a JSON body for a fault.
func Answer(status int, body string) sandbox.Fault {
	return sandbox.Fault{Method: http.MethodPatch, Status: status, Body: []byte(body)}
}

// WriteRequests are the requests of the sandbox's log that were to write records.
func (w *World) WriteRequests() []sandbox.Request {
	var out []sandbox.Request
	for _, r := range w.Sandbox.Requests() {
		if r.Method == http.MethodPatch || r.Method == http.MethodPut || r.Method == http.MethodPost && r.Records > 0 {
			out = append(out, r)
		}
	}
	return out
}

// Requests are those of the sandbox's log that are about a table.
func (w *World) Requests(table string) []sandbox.Request {
	var out []sandbox.Request
	for _, r := range w.Sandbox.Requests() {
		if r.Table == table {
			out = append(out, r)
		}
	}
	return out
}

// CellChanges are the changes that the service made to a field of a record, the oldest first.
func (w *World) CellChanges(record, field string) []sandbox.Change {
	var out []sandbox.Change
	for _, c := range w.Sandbox.Changes() {
		if c.Record == record && c.Field == field && c.Request != 0 {
			out = append(out, c)
		}
	}
	return out
}
