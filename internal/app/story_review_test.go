package app_test

import (
	"net/http"
	"testing"
	"time"

	"airtable-replay/internal/app/apptest"

	"github.com/stretchr/testify/require"
)

// A reviewer decides on what was shown (O1, R11).

// inReview is a world with an entry whose date a person changed after the failure.
func inReview(t *testing.T) (w *apptest.World, id string) {
	t.Helper()
	w = apptest.New(t, apptest.Options{})
	id = w.File(t, apptest.Order("O-2", "2026-10-02T08:00:00Z", shipped), nil)
	editDate(t, w, "2026-10-20")
	apptest.RequireOutcome(t, w.Replay(t, id, nil), "needs_review", "shared_field_changed")
	return w, id
}

func editDate(t *testing.T, w *apptest.World, date string) {
	t.Helper()
	w.Hand(t, "Orders", "recOrd00000000002", apptest.Failed.Add(26*time.Hour), apptest.Doc{"Delivery Date": date})
}

// shown is what the reviewer saw of O-2.
var shown = apptest.Doc{"Status": "Pending", "Delivery Date": "2026-10-20"}

func TestStoryReviewerChoosesFields(t *testing.T) {
	t.Parallel()
	w, id := inReview(t)
	order := apptest.Doc{"mode": "chosen_fields", "fields": []string{"Delivery Date"}, "expect": shown}
	e := w.Replay(t, id, order)
	apptest.RequireOutcome(t, e, "partially_replayed", "not_chosen")
	require.Equal(t, map[string]any{"Status": "not_chosen"}, skippedBy(e))
	require.Equal(t, apptest.Doc{"Delivery Date": "2026-10-20"}, apptest.Outcome(e)["values_before"])
	cells := w.OrderCells(t, "O-2")
	require.Equal(t, "2026-10-05", cells["Delivery Date"])
	require.Equal(t, "Pending", cells["Status"])
}

func TestStoryReviewerOverwrites(t *testing.T) {
	t.Parallel()
	w, id := inReview(t)
	e := w.Replay(t, id, apptest.Doc{"mode": "overwrite", "expect": shown, "reason": "the carrier confirmed the sender's date"})
	apptest.RequireOutcome(t, e, "replayed", "")
	require.Equal(t, shown, apptest.Outcome(e)["values_before"])
	require.Equal(t, "2026-10-05", w.OrderCells(t, "O-2")["Delivery Date"])
}

// An old payload that is forced never lowers the record's version (P6).
func TestStoryForcedOldPayloadKeepsTheVersion(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	id := w.File(t, apptest.Order("O-1", "2026-09-01T08:00:00Z", apptest.Doc{"status": "Shipped"}), nil)
	e := w.Replay(t, id, apptest.Doc{"mode": "overwrite", "expect": apptest.Doc{"Status": "Pending"}, "reason": "the newer one was a mistake"})
	apptest.RequireOutcome(t, e, "replayed", "")
	cells := w.OrderCells(t, "O-1")
	require.Equal(t, "Shipped", cells["Status"])
	require.Equal(t, "2026-09-30T08:00:00.000Z", cells["Source Updated At"])
}

// What changed since the reviewer looked is not overwritten, and neither is the rest.
func TestStoryFieldChangedSinceTheReviewerLooked(t *testing.T) {
	t.Parallel()
	for mode, order := range map[string]apptest.Doc{
		"chosen_fields": {"fields": []string{"Delivery Date"}},
		"overwrite":     {"reason": "as agreed"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w, id := inReview(t)
			editDate(t, w, "2026-10-25")
			order["mode"], order["expect"] = mode, shown
			e := w.Replay(t, id, order)
			apptest.RequireOutcome(t, e, "needs_review", "shared_field_changed")
			require.Equal(t, "shared_field_changed", skippedBy(e)["Delivery Date"])
			require.Zero(t, w.Writes())

			order["expect"] = apptest.Doc{"Status": "Pending", "Delivery Date": "2026-10-25"}
			w.Replay(t, id, order)
			require.Equal(t, "2026-10-05", w.OrderCells(t, "O-2")["Delivery Date"])
		})
	}
}

// An order without what was shown, or without a reason, is refused with the member named; the entry
// stays as it is and says why on itself.
func TestStoryOrderThatMustBeRefused(t *testing.T) {
	t.Parallel()
	w, id := inReview(t)
	before := w.Entry(t, id)
	for _, c := range []struct {
		order  apptest.Doc
		member string
	}{
		{apptest.Doc{"mode": "overwrite", "reason": "as agreed"}, "expect"},
		{apptest.Doc{"mode": "overwrite", "expect": shown}, "reason"},
		{apptest.Doc{"mode": "chosen_fields", "expect": shown}, "fields"},
		{apptest.Doc{"mode": "chosen_fields", "fields": []string{"Delivery Date"}}, "expect"},
		{apptest.Doc{"mode": "chosen_fields", "fields": []string{"Date"}, "expect": apptest.Doc{"Date": nil}}, "fields"},
		{apptest.Doc{"mode": "anything"}, "mode"},
	} {
		c.order["requested_by"] = "ann"
		status, answer := w.Call(t, 0, "POST", "/v1/entries/"+id+"/replay", c.order)
		require.Equal(t, http.StatusUnprocessableEntity, status, "%v: %v", c.order, answer)
		require.Equal(t, c.member, answer["errors"].([]any)[0].(apptest.Doc)["field"], "%v", answer)
	}
	require.Equal(t, before["status"], w.Entry(t, id)["status"])
	require.Zero(t, w.Writes())
}

// An order on one entry takes along those that the same decision sent to review.
func TestStoryReviewTakesItsSiblingsAlong(t *testing.T) {
	t.Parallel()
	w := apptest.New(t, apptest.Options{})
	older := w.File(t, apptest.Order("O-2", "2026-10-02T08:00:00Z", apptest.Doc{"status": "Shipped", "delivery_date": "2026-10-05", "note": "fragile"}), nil)
	newer := w.File(t, apptest.Order("O-2", "2026-10-03T08:00:00Z", apptest.Doc{"status": "Delivered", "quantity": 5}), nil)
	editDate(t, w, "2026-10-20")
	run := w.Finished(t, w.RunIDs(t, nil, older, newer))
	requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"needs_review": 2})

	e := w.Replay(t, newer, apptest.Doc{"mode": "unchanged_fields"})
	apptest.RequireOutcome(t, e, "replayed", "")
	o := w.Settled(t, older)
	apptest.RequireOutcome(t, o, "partially_replayed", "shared_field_changed")
	require.Equal(t, apptest.Outcome(e)["run_id"], apptest.Outcome(o)["run_id"])
	require.Equal(t, map[string]any{"Status": "newer_entry_in_batch", "Delivery Date": "shared_field_changed"}, skippedBy(o))
	require.Equal(t, 1, w.Writes())
	cells := w.OrderCells(t, "O-2")
	require.Equal(t, "Delivered", cells["Status"])
	require.Equal(t, "fragile", cells["Note"])
	require.Equal(t, "2026-10-20", cells["Delivery Date"])
}

// Runs take the modes of a reviewer only with what was shown, entry by entry.
func TestStoryRunOfReviewedEntries(t *testing.T) {
	t.Parallel()
	w, id := inReview(t)
	status, answer := w.Call(t, 0, "POST", "/v1/runs", apptest.Doc{"selector": apptest.Doc{"ids": []string{id}}, "mode": "overwrite", "note": "as agreed"})
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Equal(t, "expect", answer["errors"].([]any)[0].(apptest.Doc)["field"])
	run := w.Finished(t, w.RunIDs(t, apptest.Doc{"mode": "overwrite", "note": "as agreed", "expect": apptest.Doc{id: shown}}, id))
	requireCounts(t, run["counts"].(apptest.Doc), map[string]int{"replayed": 1})
	require.Equal(t, "2026-10-05", w.OrderCells(t, "O-2")["Delivery Date"])
}

// A preview tells what each mode would do, and writes and changes nothing (O2).
func TestStoryPreviewWritesNothing(t *testing.T) {
	t.Parallel()
	w, id := inReview(t)
	before := w.Entry(t, id)
	for query, outcome := range map[string]string{
		"":                       "needs_review",
		"?mode=unchanged_fields": "partially_replayed",
	} {
		preview := w.Read(t, "/v1/entries/"+id+"/preview"+query)
		require.Equal(t, outcome, preview["outcome"], query)
		actions := map[string]any{}
		for _, f := range preview["fields"].([]any) {
			actions[f.(apptest.Doc)["field"].(string)] = f.(apptest.Doc)["action"]
		}
		require.Equal(t, "skip", actions["Delivery Date"], query)
		if outcome == "partially_replayed" {
			require.Equal(t, "write", actions["Status"])
		}
	}
	require.Zero(t, w.Writes())
	require.Equal(t, before, w.Entry(t, id))
}
