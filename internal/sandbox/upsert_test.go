package sandbox_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/sandbox"
)

func upsertBody(records string, keys string) string {
	return `{"performUpsert":{"fieldsToMergeOn":[` + keys + `]},"records":[` + records + `]}`
}

func TestUpsertCreatesUpdatesAndKeepsTheOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	body := upsertBody(`{"fields":{"Order ID":"O-9","Qty":3}},{"id":"recOrder000000002","fields":{"Qty":4}},{"fields":{"Order ID":"O-1","Qty":5}}`, `"Order ID"`)
	a := w.api("PATCH", "/Orders", body)
	ids := a.ids()
	require.Equal(t, []string{"recOrder000000002", "recOrder000000001"}, ids[1:])
	require.Equal(t, []any{ids[0]}, a.json()["createdRecords"])
	require.Equal(t, []any{"recOrder000000002", "recOrder000000001"}, a.json()["updatedRecords"])
	fields := a.records()[2]["fields"].(map[string]any)
	require.Equal(t, "Delivered", fields["Status"], "PATCH leaves what is not sent")

	again := w.api("PATCH", "/Orders", body)
	require.Equal(t, ids, again.ids(), "a repeated upsert makes no second record")
	require.Equal(t, []any{}, again.json()["createdRecords"])
	require.NotContains(t, w.api("PATCH", "/Orders", `{"records":[{"id":"recOrder000000001","fields":{}}]}`).json(), "createdRecords", "only upserts say so")
}

func TestUpsertByPutClearsTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	got := w.api("PUT", "/Orders", upsertBody(`{"fields":{"Order ID":"O-1"}}`, `"Order ID"`)).records()[0]["fields"].(map[string]any)
	require.NotContains(t, got, "Status")
}

func TestUpsertMergesOnUpToThreeFields(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	item := func(id, status string, qty int) string {
		return fmt.Sprintf(`{"fields":{"Order ID":%q,"Status":%q,"Qty":%d}}`, id, status, qty)
	}
	keys := `"Order ID","Status","Qty"`
	first := w.api("PATCH", "/Orders", upsertBody(item("M", "Pending", 1)+","+item("M", "Pending", 2), keys)).ids()
	require.NotEqual(t, first[0], first[1])
	require.Equal(t, first[:1], w.api("PATCH", "/Orders", upsertBody(item("M", "Pending", 1), keys)).ids())
	for _, bad := range []string{``, keys + `,"Notes"`, `5`} {
		w.api("PATCH", "/Orders", upsertBody(item("M", "Pending", 1), bad)).fails(http.StatusUnprocessableEntity, "INVALID_REQUEST_UNKNOWN", "")
	}
}

func TestUpsertRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	for _, computed := range []string{"Label", "Account Name", "Number", "Changed", "Account", "Files"} {
		w.api("PATCH", "/Orders", upsertBody(`{"fields":{"Order ID":"x"}}`, `"`+computed+`"`)).fails(http.StatusUnprocessableEntity, "INVALID_REQUEST_UNKNOWN", "")
	}
	w.api("PATCH", "/Orders", upsertBody(`{"fields":{"Order ID":"x"}}`, `"Nope"`)).fails(http.StatusUnprocessableEntity, "UNKNOWN_FIELD_NAME", `Unknown field name: "Nope"`)
	w.api("PATCH", "/Orders", upsertBody(`{"fields":{"Qty":1}}`, `"Order ID"`)).fails(http.StatusUnprocessableEntity, "INVALID_RECORDS", "")
	w.api("PATCH", "/Orders", upsertBody(`{"id":null,"fields":{"Order ID":"O-1"}}`, `"Order ID"`)).fails(http.StatusUnprocessableEntity, "INVALID_RECORDS", "")
	w.api("PATCH", "/Orders", upsertBody(`{"id":"recAAAAAAAAAAAAAA","fields":{}}`, `"Order ID"`)).
		fails(http.StatusUnprocessableEntity, "ROW_DOES_NOT_EXIST", "Record ID recAAAAAAAAAAAAAA does not exist in this table")
	w.api("PATCH", "/Orders", upsertBody(`{"fields":{"Order ID":"O-1"}},{"id":"recOrder000000001","fields":{}}`, `"Order ID"`)).
		fails(http.StatusUnprocessableEntity, "INVALID_RECORDS", "You cannot update the same record multiple times in a single request.")
	w.api("PATCH", "/Orders", upsertBody(`{"fields":{"Order ID":"new"}},{"fields":{"Order ID":"other","Status":"Nope"}}`, `"Order ID"`)).
		fails(http.StatusUnprocessableEntity, "INVALID_MULTIPLE_CHOICE_OPTIONS", "")
	require.Empty(t, w.box.Changes(), "a refused upsert changes nothing")
}

func TestUpsertFailsWholeWhenSeveralMatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.api("POST", "/Orders", `{"fields":{"Order ID":"O-1"}}`).fields()
	before := len(w.box.Changes())
	body := upsertBody(`{"fields":{"Order ID":"fresh"}},{"fields":{"Order ID":"O-1","Qty":1}}`, `"Order ID"`)
	w.api("PATCH", "/Orders", body).fails(http.StatusUnprocessableEntity, "INVALID_RECORDS", "More than one record matches the fields to merge on.")
	w.set(func(o *sandbox.Options) { o.MultiMatchError, o.MultiMatchMessage = "MULTIPLE", "Two of them." })
	w.api("PATCH", "/Orders", body).fails(http.StatusUnprocessableEntity, "MULTIPLE", "Two of them.")
	require.Len(t, w.box.Changes(), before)
}

func TestUpsertSwitches(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	created := func(records string) int {
		t.Helper()
		a := w.api("PATCH", "/Orders", upsertBody(records, `"Order ID"`))
		require.Equal(t, http.StatusOK, a.status, a.body)
		return len(a.json()["createdRecords"].([]any))
	}
	twice := `{"fields":{"Order ID":"T-1"}},{"fields":{"Order ID":"T-1"}}`
	require.Equal(t, 2, created(twice))
	w.set(func(o *sandbox.Options) { o.DuplicateKeyInRequest = "fail" })
	w.api("PATCH", "/Orders", upsertBody(`{"fields":{"Order ID":"T-2"}},{"fields":{"Order ID":"T-2"}}`, `"Order ID"`)).
		fails(http.StatusUnprocessableEntity, "INVALID_RECORDS", "")

	require.Equal(t, 1, created(`{"fields":{"Order ID":"o-1"}}`))
	w.set(func(o *sandbox.Options) { o.MergeKeyCase = "insensitive" })
	w.api("PATCH", "/Orders", upsertBody(`{"fields":{"Order ID":"O-1"}}`, `"Order ID"`)).fails(http.StatusUnprocessableEntity, "INVALID_RECORDS", "")
	require.Equal(t, 0, created(`{"fields":{"Order ID":"o-2"}}`))

	require.Equal(t, 1, created(`{"fields":{"Order ID":null}}`))
	require.Equal(t, 0, created(`{"fields":{"Order ID":null}}`), "an empty key matches the empty cell")
	w.set(func(o *sandbox.Options) { o.UpsertNullKey = "create" })
	require.Equal(t, 1, created(`{"fields":{"Order ID":null}}`))

	require.Equal(t, http.StatusOK, w.api("PATCH", "/Orders", upsertBody(`{"fields":{"Mail":"a@example.com"}}`, `"Mail"`)).status)
	w.set(func(o *sandbox.Options) { o.MergeFieldTypes = "documented" })
	w.api("PATCH", "/Orders", upsertBody(`{"fields":{"Mail":"a@example.com"}}`, `"Mail"`)).fails(http.StatusUnprocessableEntity, "INVALID_REQUEST_UNKNOWN", "")
}

// Two upserts of a new key that arrive at nearly the same time may both create,
// as nothing unique stands behind the key. Afterwards it matches twice.
func TestUpsertsThatRaceBothCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	upsert := func() answer {
		return w.api("PATCH", "/Orders", upsertBody(`{"fields":{"Order ID":"N-1","Qty":1}}`, `"Order ID"`))
	}
	created := func(a answer) int {
		t.Helper()
		require.Equal(t, http.StatusOK, a.status, a.body)
		return len(a.json()["createdRecords"].([]any))
	}
	w.set(func(o *sandbox.Options) { o.UpsertRace = sandbox.Duration(100 * time.Millisecond) })
	require.Equal(t, 1, created(upsert()))
	w.pass(99 * time.Millisecond)
	require.Equal(t, 1, created(upsert()))
	w.pass(99 * time.Millisecond)
	require.Equal(t, 0, created(upsert()), "the first is seen, the second is not yet")
	w.pass(time.Millisecond)
	upsert().fails(422, "INVALID_RECORDS", "More than one record matches the fields to merge on.")

	w.api("PATCH", "/Orders", upsertBody(`{"fields":{"Order ID":"O-1","Qty":1}}`, `"Order ID"`))
	require.Equal(t, 0, created(w.api("PATCH", "/Orders", upsertBody(`{"fields":{"Order ID":"O-1","Qty":2}}`, `"Order ID"`))), "a key that was there does not race")
	w.pass(time.Second)
	w.set(func(o *sandbox.Options) { o.UpsertRace = 0 })
	again := func() answer {
		return w.api("PATCH", "/Orders", upsertBody(`{"fields":{"Order ID":"N-2"}}`, `"Order ID"`))
	}
	require.Equal(t, 1, created(again()))
	require.Equal(t, 0, created(again()), "without the switch nothing races")
}

// What races is told by the arrival, also of a request that lands later.
func TestALateUpsertRacesByItsArrival(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	w.set(func(o *sandbox.Options) { o.UpsertRace = sandbox.Duration(time.Second) })
	_, err := w.box.AddFault(sandbox.Fault{Method: http.MethodPatch, Times: 1, Status: 503, ApplyLater: sandbox.Duration(time.Minute)})
	require.NoError(t, err)
	body := upsertBody(`{"fields":{"Order ID":"N-1"}}`, `"Order ID"`)
	require.Equal(t, 503, w.api("PATCH", "/Orders", body).status)
	require.Equal(t, http.StatusOK, w.api("PATCH", "/Orders", body).status)
	w.pass(time.Minute)
	require.Len(t, w.api("GET", "/Orders?filterByFormula="+url.QueryEscape("{Order ID}='N-1'"), "").ids(), 2)
}
