package app_test

import (
	"net/http"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// A field that the checks rely on and that is gone fails loudly; it never reads as "never changed" (C4).
func TestStoryGuardFieldIsGone(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"Delivery Date Changed At", "Source Updated At", "Order ID"} {
		for name, gone := range map[string]func(w *apptest.World) error{
			"renamed": func(w *apptest.World) error {
				return w.Sandbox.RenameField(apptest.BaseID, "Orders", field, "Something Else")
			},
			"deleted": func(w *apptest.World) error { return w.Sandbox.DeleteField(apptest.BaseID, "Orders", field) },
		} {
			if field == "Order ID" && name == "deleted" {
				continue // a table's first field cannot be deleted
			}
			t.Run(field+" "+name, func(t *testing.T) {
				t.Parallel()
				w := apptest.New(t, apptest.Options{})
				apptest.RequireOutcome(t, pressed(t, w, "O-1", second, shipped), "replayed", "")
				require.NoError(t, gone(w))
				writes := w.Writes()
				e := pressed(t, w, "O-2", second, shipped)
				apptest.RequireOutcome(t, e, "replay_failed", "unknown_field")
				require.Contains(t, apptest.Outcome(e)["notes"], field)
				require.Equal(t, writes, w.Writes())
			})
		}
	}
}

// A guard that watches other fields says nothing about this one.
func TestStoryGuardThatWatchesAnotherField(t *testing.T) {
	t.Parallel()
	seed := apptest.Change(t, apptest.DefaultSeed, "watches: [Delivery Date]", "watches: [Note]")
	w := apptest.New(t, apptest.Options{Seed: seed})
	e := pressed(t, w, "O-2", second, shipped)
	apptest.RequireOutcome(t, e, "replay_failed", "unknown_field")
	require.Contains(t, apptest.Outcome(e)["notes"], "does not watch Delivery Date")
	require.Zero(t, w.Writes())
}

// The margin covers clocks that differ: a change shortly before the failure counts as after it (C2).
func TestStoryMarginOfTheSharedFieldCheck(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	require.NoError(t, w.Sandbox.SetOptions(func(o *sandbox.Options) { o.StampAhead = 0 }))
	for _, c := range []struct {
		name    string
		at      time.Duration // from First Attempt At
		outcome string
	}{{"within", -10 * time.Second, "needs_review"}, {"before", -11 * time.Second, "replayed"}, {"at once", 0, "needs_review"}} {
		w.Hand(t, "Orders", place(t, w, c.name), apptest.Failed.Add(c.at), apptest.Doc{"Delivery Date": "2026-10-20"})
		require.Equal(t, c.outcome, apptest.Outcome(pressed(t, w, c.name, second, shipped))["outcome"], c.name)
	}
}

// A live write that had to wait is decided with both checks, from the moment it was accepted (R6).
func TestStoryLiveWriteThatWaited(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{SimulatedClock: true})
	for _, wait := range []time.Duration{10 * time.Second, 2 * time.Minute} {
		key := wait.String()
		record := place(t, w, key)
		status, _ := w.Call(t, 0, "POST", "/v1/bases/orders/halt", apptest.Doc{"reason": "maintenance"})
		require.Equal(t, http.StatusOK, status)
		id := w.Accept(t, "order-system", apptest.Order(key, second, shipped))
		w.Advance(t, 5*time.Second)
		w.Hand(t, "Orders", record, w.Sandbox.Now(), apptest.Doc{"Delivery Date": "2026-10-20"})
		w.Advance(t, wait)
		status, _ = w.Call(t, 0, "POST", "/v1/bases/orders/resume", nil)
		require.Equal(t, http.StatusOK, status)
		write := w.Decided(t, id)
		if wait < time.Minute {
			require.Equal(t, "written", write["status"])
			continue
		}
		require.Equal(t, "dead_lettered", write["status"])
		require.Equal(t, "shared_field_changed", write["reason"])
		require.Equal(t, "Pending", w.OrderCells(t, key)["Status"])
		e := w.Entry(t, write["entry_id"].(string))
		require.Equal(t, write["accepted_at"], e["first_attempt_at"])
		apptest.RequireOutcome(t, w.Replay(t, e["id"].(string), apptest.Doc{"mode": "unchanged_fields"}), "partially_replayed", "shared_field_changed")
		require.Equal(t, "2026-10-20", w.OrderCells(t, key)["Delivery Date"])
		require.Equal(t, "Shipped", w.OrderCells(t, key)["Status"])
	}
}

// Somebody makes the row between our read and our write. One row: it is updated, and flagged. Two: the
// upsert would have to guess, and both stay as they are.
func TestStoryRowMadeInBetween(t *testing.T) {
	t.Parallel()
	for rows := 1; rows <= 2; rows++ {
		t.Run(map[int]string{1: "one", 2: "two"}[rows], func(t *testing.T) {
			t.Parallel()
			var w *apptest.World
			w = apptest.New(t, apptest.Options{Probe: onceAtRead(func() {
				for range rows {
					place(t, w, "N-1")
				}
			})})
			id := w.File(t, apptest.Order("N-1", second, shipped), apptest.Doc{"operation": "upsert"})
			e := w.Replay(t, id, nil)
			if rows == 1 {
				apptest.RequireOutcome(t, e, "replayed", "")
				require.Equal(t, []any{"created_elsewhere"}, e["flags"])
				require.Equal(t, "Shipped", w.OrderCells(t, "N-1")["Status"])
				return
			}
			apptest.RequireOutcome(t, e, "replay_failed", "write_failed")
			require.Contains(t, apptest.Outcome(e)["notes"], w.Sandbox.Options().MultiMatchMessage)
			apptest.RequireOutcome(t, w.Replay(t, id, nil), "replay_failed", "multiple_matches")
			require.Len(t, records(t, w, "Orders"), 5)
			for _, r := range records(t, w, "Orders")[3:] {
				require.Equal(t, "Pending", r.Fields["Status"])
			}
		})
	}
}

// A listing whose cursor expires starts again from its first page.
func TestStoryCursorExpires(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	for range 101 {
		place(t, w, "many")
	}
	w.Fault(t, sandbox.Fault{Method: http.MethodGet, Contains: "offset=", Status: 422, Body: []byte(`{"error":{"type":"LIST_RECORDS_ITERATOR_NOT_AVAILABLE"}}`)})
	e := pressed(t, w, "many", second, shipped)
	apptest.RequireOutcome(t, e, "replay_failed", "multiple_matches")
	require.Contains(t, apptest.Outcome(e)["notes"], "101 records match")
}
