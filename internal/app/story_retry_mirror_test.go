package app_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// The dead letter table during a halt (R9).

const withTable = "dead_letters: {base: orders, table: Dead Letter Queue}\n"

func haltWorld(t *testing.T) *apptest.World {
	t.Helper()
	return apptest.New(t, apptest.Options{
		Seed: apptest.SeedWith(deadLetterTable), Config: withTable + apptest.DefaultConfig, SimulatedClock: true, Replicas: 2,
	})
}

// row is the status in an entry's row of the dead letter table, empty while there is none.
func row(t *testing.T, w *apptest.World, id string) string {
	t.Helper()
	status, _ := w.Cells(t, "Dead Letter Queue", "DLQ Record ID", id)["Status"].(string)
	return status
}

func call(t *testing.T, w *apptest.World, method, path string, body any) {
	t.Helper()
	status, answer := w.Call(t, 1, method, path, body)
	require.Equal(t, http.StatusOK, status, "%v", answer)
}

// Five writes failed alike, or an admin stopped the base: people still see in Airtable what happens to
// entries, while no data is read or written. After the resume everything goes on.
func TestStoryMirrorGoesOnDuringAHalt(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(t *testing.T, w *apptest.World){
		"of its own": func(t *testing.T, w *apptest.World) {
			require.NoError(t, w.Sandbox.RenameField(apptest.BaseID, "Orders", "Status", "State"))
			_, payloads := newOrders("N", 5)
			acceptAll(t, w, 0, payloads...)
			halted(t, w)
			require.NoError(t, w.Sandbox.RenameField(apptest.BaseID, "Orders", "State", "Status"))
			for _, e := range w.Read(t, "/v1/entries?reason=unknown_field")["entries"].([]any) {
				id := e.(apptest.Doc)["id"].(string)
				apptest.Eventually(t, func() bool { return row(t, w, id) == "Pending Review" }, "what failed is in the table")
			}
		},
		"by an admin": func(t *testing.T, w *apptest.World) {
			call(t, w, "POST", "/v1/bases/orders/halt", apptest.Doc{"reason": "a migration"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := haltWorld(t)
			stop(t, w)
			w.Sandbox.ClearRequests()
			live := w.Accept(t, "order-system", apptest.Order("O-1", second, shipped))
			id := w.File(t, apptest.Order("O-3", second, shipped), nil)
			apptest.Eventually(t, func() bool { return row(t, w, id) == "Pending Review" }, "a new entry is in the table")
			call(t, w, "POST", "/v1/entries/"+id+"/ignore", apptest.Doc{"reason": "not needed"})
			apptest.Eventually(t, func() bool { return row(t, w, id) == "Ignored" }, "and so is what becomes of it")
			require.Equal(t, "queued", w.Read(t, "/v1/writes/"+live)["status"])
			require.Empty(t, w.Requests("Orders"), "no data was touched")
			require.Equal(t, "halted", state(t, w)["state"])

			call(t, w, "POST", "/v1/bases/orders/resume", nil)
			require.Equal(t, "written", w.Decided(t, live)["status"])
		})
	}
}

// A halt for the token or the quota is about every request, so the mirror waits as well; the latest
// state is told after the resume.
func TestStoryMirrorWaitsForTheToken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ refuse, mend func(w *apptest.World) error }{
		"token": {
			func(w *apptest.World) error { return w.Sandbox.SetToken("patSandbox.full", "revoked") },
			func(w *apptest.World) error { return w.Sandbox.SetToken("patSandbox.full", "valid") },
		},
		"role": {
			func(w *apptest.World) error { return w.Sandbox.SetPermission("patSandbox", "", "read") },
			func(w *apptest.World) error { return w.Sandbox.SetPermission("patSandbox", "", "edit") },
		},
		"quota": {
			func(w *apptest.World) error {
				return w.Sandbox.SetOptions(func(o *sandbox.Options) { o.QuotaExceeded = true })
			},
			func(w *apptest.World) error {
				return w.Sandbox.SetOptions(func(o *sandbox.Options) { o.QuotaExceeded = false })
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := haltWorld(t)
			require.NoError(t, c.refuse(w))
			live := w.Accept(t, "order-system", apptest.Order("O-1", second, shipped))
			halted(t, w)
			apptest.Eventually(t, func() bool { return w.Idle(t) }, "nobody works")
			require.NoError(t, c.mend(w))
			requests := len(w.Sandbox.Requests())
			id := w.File(t, apptest.Order("O-3", second, shipped), nil)
			for range 10 {
				w.Advance(t, time.Minute)
				require.Empty(t, row(t, w, id))
			}
			require.Len(t, w.Sandbox.Requests(), requests, "nothing is sent at all")
			call(t, w, "POST", "/v1/bases/orders/resume", nil)
			require.Equal(t, "written", w.Decided(t, live)["status"])
			apptest.Eventually(t, func() bool { return row(t, w, id) == "Pending Review" }, "the entry is in the table")
		})
	}
}

// The resume comes while a row is on its way: the pass that sends it finds the data by itself or asks for
// another, whichever replica it runs in.
func TestStoryResumeInTheMiddleOfTheMirror(t *testing.T) {
	t.Parallel()
	w := haltWorld(t)
	call(t, w, "POST", "/v1/bases/orders/halt", apptest.Doc{"reason": "a migration"})
	_, err := w.Sandbox.AddFault(sandbox.Fault{Method: http.MethodPatch, Table: "Dead Letter Queue", Times: 3, AnswerDelay: sandbox.Duration(500 * time.Millisecond)})
	require.NoError(t, err)
	for i := range 3 {
		_, payloads := newOrders(fmt.Sprint("N", i), 3)
		ids := acceptAll(t, w, i%2, payloads...)
		entry := w.File(t, apptest.Order("O-3", second, apptest.Doc{"status": "Shipped", "quantity": i}), nil)
		sent := len(w.Requests("Dead Letter Queue"))
		apptest.Eventually(t, func() bool { return len(w.Requests("Dead Letter Queue")) > sent || row(t, w, entry) != "" }, "the row is on its way")
		call(t, w, "POST", "/v1/bases/orders/resume", nil)
		for _, id := range ids {
			require.Equal(t, "written", w.Decided(t, id)["status"])
		}
		call(t, w, "POST", "/v1/bases/orders/halt", apptest.Doc{"reason": "again"})
	}
}
