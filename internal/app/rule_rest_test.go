package app_test

import (
	"net/http"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
	"airtable-replay/internal/sandbox"

	"github.com/stretchr/testify/require"
)

// The worst run of the design: version 3 goes out and is not answered, version 4 comes in, version 3
// lands late. Version 4 is what the record ends with, however it came and however often version 3
// was sent (R4b).
func TestLateLandingNeverWins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		drops int
		live  bool
	}{{"answered at the second attempt, then live", 1, true}, {"answered at the second attempt, then pressed", 1, false},
		{"never answered, then live", 5, true}, {"never answered, then pressed", 5, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := apptest.New(t, apptest.Options{Replicas: 2, SimulatedClock: true})
			_, err := w.Sandbox.AddFault(sandbox.Fault{
				Method: http.MethodPatch, Table: "Orders", Times: c.drops, Drop: true, ApplyLater: sandbox.Duration(1500 * time.Millisecond),
			})
			require.NoError(t, err)
			v3 := w.File(t, apptest.Order("O-3", "2026-10-03T08:00:00Z", apptest.Doc{"status": "Shipped", "quantity": 3}), nil)
			w.Press(t, v3, nil)
			apptest.Eventually(t, func() bool { return w.Writes() > 0 }, "version 3 was sent")
			payload := apptest.Order("O-3", "2026-10-04T08:00:00Z", apptest.Doc{"status": "Delivered", "quantity": 4})
			done := later(t, w, payload, c.live)
			for range 60 {
				if done() && w.Entry(t, v3)["status"] != "replaying" {
					break
				}
				w.Advance(t, 250*time.Millisecond)
			}
			apptest.Eventually(t, func() bool { return done() && w.Entry(t, v3)["status"] != "replaying" }, "both are settled")
			w.Advance(t, time.Minute)
			cells := w.OrderCells(t, "O-3")
			require.Equal(t, "Delivered", cells["Status"])
			require.Equal(t, "2026-10-04T08:00:00.000Z", cells["Source Updated At"])
			apptest.RequireOutcome(t, w.Entry(t, v3), "replayed", "")
			require.Equal(t, apptest.Doc{"Status": "Pending", "Quantity": nil}, apptest.Outcome(w.Entry(t, v3))["values_before"])
		})
	}
}

// later brings a newer payload, live or as an entry that is pressed, and tells when it is settled.
func later(t *testing.T, w *apptest.World, payload string, live bool) (done func() bool) {
	t.Helper()
	if !live {
		id := w.File(t, payload, nil)
		w.Press(t, id, nil)
		return func() bool { return w.Entry(t, id)["status"] != "replaying" }
	}
	id := w.Accept(t, "order-system", payload)
	return func() bool {
		_, answer := w.Call(t, 0, http.MethodGet, "/v1/writes/"+id, nil)
		return answer["status"] != "queued"
	}
}
