package app_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// Airtable leaves empty cells out of its answers: absent is false, [] and "", but not 0.
func TestB33EmptyCellsAreMissingFromAnswers(t *testing.T) {
	t.Parallel()
	w := newThings(t, apptest.Options{})
	const empty = `{"Active":false,"Tags":[],"Notes":"","Qty":0}`
	for name, c := range map[string]struct {
		record  apptest.Doc
		sent    map[string]string
		effect  string
		changes int
	}{
		"empty record":   {apptest.Doc{}, map[string]string{"Qty": "0"}, "updated", 1},
		"present zero":   {apptest.Doc{"Qty": 0}, map[string]string{}, "unchanged", 0},
		"ticked box":     {apptest.Doc{"Qty": 0, "Active": true}, map[string]string{"Active": "false"}, "updated", 1},
		"filled cells":   {apptest.Doc{"Qty": 1, "Active": true, "Tags": []string{"red"}, "Notes": "old"}, map[string]string{"Qty": "0", "Active": "false", "Tags": "[]", "Notes": `""`}, "updated", 4},
		"unticked, text": {apptest.Doc{"Qty": 0, "Notes": "old"}, map[string]string{"Notes": `""`}, "updated", 1},
	} {
		t.Run(name, func(t *testing.T) {
			for _, way := range apptest.Ways() {
				key := name + " " + string(way)
				record := apptest.Doc{"Thing ID": key, "Version": "2026-09-30T08:00:00Z"}
				for field, value := range c.record {
					record[field] = value
				}
				id := w.Make(t, "Things", record)
				got := w.Send(t, way, "thing-system", thing(key, empty))
				require.True(t, got.Written, got.Note)
				writes := w.WriteRequests()
				want := map[string]json.RawMessage{}
				for field, value := range c.sent {
					want[field] = json.RawMessage(value)
				}
				requireBody(t, writes[len(writes)-1], want)
				changes := 0
				for field := range map[string]int{"Active": 0, "Tags": 0, "Notes": 0, "Qty": 0} {
					changes += len(w.CellChanges(id, field))
				}
				require.Equal(t, c.changes, changes)
				if got.Entry != nil {
					history := w.History(t, got.Entry["id"].(string))
					require.Equal(t, c.effect, history[len(history)-1]["detail"].(apptest.Doc)["effect"])
				}
			}
		})
	}
}

// Closed failed and was set aside, Reopened arrived and was applied, then Closed is replayed.
func TestB73OldChangeNeverLandsOnTheNewOne(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	now := w.Sandbox.Now()
	closed := now.Add(-4 * time.Minute).Truncate(time.Second)
	old := w.File(t, apptest.Order("O-1", closed.Format(time.RFC3339), apptest.Doc{"status": "Delivered", "delivery_date": "2026-10-05"}),
		apptest.Doc{"first_attempt_at": closed.Format(time.RFC3339)})
	reopened := closed.Add(3 * time.Second).Format(time.RFC3339)
	require.True(t, w.Send(t, apptest.Live, "order-system", apptest.Order("O-1", reopened, apptest.Doc{"status": "Pending", "delivery_date": "2026-10-09"})).Written)
	moved := w.OrderCells(t, "O-1")["Delivery Date Changed At"]

	e := w.Replay(t, old, nil)
	apptest.RequireOutcome(t, e, "superseded", "newer_from_sender")
	notes := apptest.Outcome(e)["notes"].(string)
	require.Contains(t, notes, reopened)
	require.Contains(t, notes, closed.Format(time.RFC3339))
	require.Contains(t, notes, "Delivery Date was changed at "+instant(t, moved).Format(time.RFC3339))
	require.Equal(t, "Pending", w.OrderCells(t, "O-1")["Status"])
	require.Equal(t, 1, w.Writes())
}

func instant(t *testing.T, cell any) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, fmt.Sprint(cell))
	require.NoError(t, err)
	return at.UTC()
}

// Only what is newer on the record blocks an entry; the wall clock does not.
func TestB75AgeIsNotStaleness(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	for _, age := range []time.Duration{time.Minute, 3 * 24 * time.Hour, 59 * 24 * time.Hour} {
		place(t, w, age.String())
		failed := w.Sandbox.Now().Add(-age).Truncate(time.Second).Format(time.RFC3339)
		e := w.Replay(t, w.File(t, apptest.Order(age.String(), failed, shipped), apptest.Doc{"first_attempt_at": failed}), nil)
		apptest.RequireOutcome(t, e, "replayed", "")
		require.Equal(t, "Shipped", w.OrderCells(t, age.String())["Status"])
	}
}
