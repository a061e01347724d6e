package console_test

import (
	"fmt"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"
)

// day is when most of the dead letters of these tests failed.
var day = time.Date(2026, 10, 2, 0, 0, 0, 0, time.UTC)

// order is a payload of the order system.
func order(id, status, date string) string {
	return fmt.Sprintf(`{"order":{"id":%q,"status":%q,"delivery_date":%q,"number":1970670598291982290},"updated_at":"2026-10-01T08:00:00Z"}`, id, status, date)
}

// stocked is a world with dead letters of several reasons, over a night.
func stocked(t *testing.T, o apptest.Options) *apptest.World {
	t.Helper()
	w := apptest.New(t, o)
	for _, group := range []struct {
		reason, detail string
		code           int
		entries, id    int
		from, step     time.Duration
	}{
		{"transient_exhausted", "Airtable answered 503 five times: Service Temporarily Unavailable", 503, 24, 100, 3 * time.Hour, 7 * time.Minute},
		{"no_response_exhausted", "No answer within 20 s, five times", 0, 7, 200, 4 * time.Hour, 11 * time.Minute},
		{"invalid_option", `Status: "Posted" is no option; the nearest is "Pending"`, 422, 3, 300, 8 * time.Hour, 5 * time.Hour},
	} {
		for i := range group.entries {
			at := day.Add(group.from + time.Duration(i)*group.step)
			w.File(t, order(fmt.Sprintf("N-%d", group.id+i), "Shipped", "2026-10-05"), apptest.Doc{
				"reason_code": group.reason, "error_detail": group.detail, "status_code": group.code, "first_attempt_at": at.Format(time.RFC3339),
				"operation": "upsert",
			})
		}
	}
	return w
}

// edited is an entry of O-1 whose delivery date somebody changed by hand after the failure.
func edited(t *testing.T, w *apptest.World) string {
	t.Helper()
	id := w.File(t, order("O-1", "Shipped", "2026-10-05"), apptest.Doc{"error_detail": "Airtable answered 503 five times"})
	w.Hand(t, "Orders", "recOrd00000000001", apptest.Failed.Add(26*time.Hour), apptest.Doc{"Delivery Date": "2026-10-09"})
	return id
}
