package app_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// What happens to a record between a replay and its restore decides what goes back, field by field.
func TestStoryWhatHappensBeforeARestore(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	hand := func(fields apptest.Doc) func(t *testing.T, record, key string) {
		return func(t *testing.T, record, _ string) {
			t.Helper()
			w.Hand(t, "Orders", record, w.Sandbox.Now().Add(time.Hour), fields)
		}
	}
	live := func(version string, fields apptest.Doc, outcome string) func(t *testing.T, record, key string) {
		return func(t *testing.T, _, key string) {
			t.Helper()
			require.Equal(t, outcome, w.Send(t, apptest.Live, "order-system", apptest.Order(key, version, fields)).Outcome)
		}
	}
	for i, c := range []struct {
		name              string
		between           func(t *testing.T, record, key string)
		restored, refused int
		status, date      any // at the end
	}{
		{"nothing", func(*testing.T, string, string) {}, 2, 0, "Pending", "2026-10-01"},
		{"a person edits another field", hand(apptest.Doc{"Note": "call first"}), 2, 0, "Pending", "2026-10-01"},
		{"a person puts the former date back", hand(apptest.Doc{"Delivery Date": "2026-10-01"}), 2, 0, "Pending", "2026-10-01"},
		{"a person clears the date", hand(apptest.Doc{"Delivery Date": nil}), 1, 1, "Pending", nil},
		{"a person edits both", hand(apptest.Doc{"Delivery Date": "2026-12-01", "Status": "Delivered"}), 0, 2, "Delivered", "2026-12-01"},
		{"a person moves the version", hand(apptest.Doc{"Source Updated At": "2026-10-09T08:00:00Z"}), 0, 2, "Shipped", "2026-10-05"},
		{"a person changes the key", hand(apptest.Doc{"Order ID": "moved"}), 0, 2, "Shipped", "2026-10-05"},
		{"the sender repeats itself", live(second, shipped, "stale"), 2, 0, "Pending", "2026-10-01"},
		{"the sender confirms it anew", live(third, shipped, "written"), 0, 2, "Shipped", "2026-10-05"},
		{"the sender moves on", live(third, apptest.Doc{"status": "Delivered"}, "written"), 0, 2, "Delivered", "2026-10-05"},
		{"an older entry is superseded", func(t *testing.T, _, key string) {
			t.Helper()
			old := w.File(t, apptest.Order(key, "2026-10-01T08:00:00Z", apptest.Doc{"status": "Delivered"}), nil)
			apptest.RequireOutcome(t, w.Replay(t, old, nil), "superseded", "newer_from_sender")
		}, 2, 0, "Pending", "2026-10-01"},
		{"an older entry is forced", func(t *testing.T, _, key string) {
			t.Helper()
			old := w.File(t, apptest.Order(key, "2026-10-01T08:00:00Z", apptest.Doc{"status": "Delivered"}), nil)
			apptest.RequireOutcome(t, w.Replay(t, old, apptest.Doc{"mode": "overwrite", "reason": "so be it", "expect": apptest.Doc{"Status": "Shipped"}}), "replayed", "")
		}, 1, 1, "Delivered", "2026-10-01"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			key := fmt.Sprintf("R-%d", i)
			record := w.Make(t, "Orders", apptest.Doc{"Order ID": key, "Status": "Pending", "Delivery Date": "2026-10-01", "Source Updated At": "2026-09-30T08:00:00Z"})
			id := w.File(t, apptest.Order(key, second, shipped), nil)
			apptest.RequireOutcome(t, w.Replay(t, id, nil), "replayed", "")
			c.between(t, record, key)
			p := w.Read(t, "/v1/entries/"+id+"/restore")
			requireRestored(t, w.Finished(t, restore(t, w, id)), c.restored, c.refused)
			cells := cellsOf(t, w, record)
			require.Equal(t, []any{c.status, c.date}, []any{cells["Status"], cells["Delivery Date"]})

			foreseen := 0
			for _, f := range p["fields"].([]any) {
				if f.(apptest.Doc)["action"] != "skip" {
					foreseen++
				}
			}
			require.Equal(t, c.restored, foreseen, "the preview said so: %v", p)
			status, _ := w.Call(t, 0, http.MethodPost, "/v1/entries/"+id+"/restore", nil)
			require.Equal(t, c.restored > 0, status == http.StatusConflict, "only what was restored is refused the second time")
		})
	}
}

// cellsOf reads a record of Orders by its ID.
func cellsOf(t *testing.T, w *apptest.World, record string) apptest.Doc {
	t.Helper()
	recs, err := w.Sandbox.Records(apptest.BaseID, "Orders")
	require.NoError(t, err)
	for _, r := range recs {
		if r.ID == record {
			return r.Fields
		}
	}
	require.Fail(t, "no such record", record)
	return nil
}
