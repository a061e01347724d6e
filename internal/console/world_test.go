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
	file := func(n int, reason, detail string, code int, at func(i int) time.Time, id func(i int) string) {
		for i := range n {
			w.File(t, order(id(i), "Shipped", "2026-10-05"), apptest.Doc{
				"reason_code": reason, "error_detail": detail, "status_code": code, "first_attempt_at": at(i).Format(time.RFC3339),
				"operation": "upsert",
			})
		}
	}
	file(24, "transient_exhausted", "Airtable answered 503 five times: Service Temporarily Unavailable", 503,
		func(i int) time.Time { return day.Add(3*time.Hour + time.Duration(i*7)*time.Minute) }, func(i int) string { return fmt.Sprintf("N-%d", 100+i) })
	file(7, "no_response_exhausted", "No answer within 20 s, five times", 0,
		func(i int) time.Time { return day.Add(4*time.Hour + time.Duration(i*11)*time.Minute) }, func(i int) string { return fmt.Sprintf("N-%d", 200+i) })
	file(3, "invalid_option", `Status: "Shiped" is no option; the nearest is "Shipped"`, 422,
		func(i int) time.Time { return day.Add(time.Duration(8+i*5) * time.Hour) }, func(i int) string { return fmt.Sprintf("N-%d", 300+i) })
	return w
}

// edited is an entry of O-1 whose delivery date somebody changed by hand after the failure.
func edited(t *testing.T, w *apptest.World) string {
	t.Helper()
	id := w.File(t, order("O-1", "Shipped", "2026-10-05"), apptest.Doc{"error_detail": "Airtable answered 503 five times"})
	w.Hand(t, "Orders", "recOrd00000000001", apptest.Failed.Add(26*time.Hour), apptest.Doc{"Delivery Date": "2026-10-09"})
	return id
}
