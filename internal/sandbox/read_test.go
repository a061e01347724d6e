package sandbox_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func TestRecordReadsWithComputedFieldsAndWithoutEmptyCells(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	got := w.api("GET", "/Orders/recOrder000000002", "").json()
	require.Equal(t, "2020-01-01T00:00:00.000Z", got["createdTime"])
	want := map[string]any{
		"Order ID": "O-2", "Status": "Pending", "Qty": number("0"), "Account": []any{"recAcme0000000001"},
		"Account Name": []any{"Acme"}, "Accounts Held": number("1"), "Account Names": "Acme",
		"Label": "O-2/Pending", "Ratio": map[string]any{"specialValue": "Infinity"}, "Number": number("2"),
		"Created": "2020-01-01T00:00:00.000Z", "Changed": "2020-01-01T00:00:00.000Z",
		"Delivery Date Changed At": "2020-01-01T00:00:00.000Z",
		"Changed By":               map[string]any{"id": "usrSandboxSeed0000", "name": "Seed"},
		"Open":                     map[string]any{"label": "Open", "url": "https://shop.example/O-2"},
	}
	require.Empty(t, cmp.Diff(want, got["fields"]))
}

func TestSeededModificationTimeIsTheGuardsValue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	fields := w.api("GET", "/Orders/recOrder000000001", "").fields()
	require.Equal(t, "2026-09-28T10:00:00.000Z", fields["Delivery Date Changed At"])
	require.Equal(t, "2026-10-04T08:00:00.000Z", fields["Source Updated At"])
	require.Equal(t, "2026-10-01", fields["Delivery Date"])
}

func TestMissingRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, noLimits())
	for _, method := range []string{"GET", "DELETE", "PATCH", "PUT"} {
		w.api(method, "/Orders/recAAAAAAAAAAAAAA", `{"fields":{}}`).fails(http.StatusNotFound, "MODEL_ID_NOT_FOUND", "Record not found")
	}
	w.api("GET", "/Orders/junk", "").is(http.StatusNotFound, `{"error":"NOT_FOUND"}`)
}
