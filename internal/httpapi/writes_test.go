package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/live"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// TestPayloadBytes holds what counts as the payload: a JSON value as it stands, or a string's text.
func TestPayloadBytes(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		`{ "a" : 1.0,"b":"\u00e4\ud800" }`: `{ "a" : 1.0,"b":"\u00e4\ud800" }`,
		`[1, 2]`:                           `[1, 2]`,
		`12345678901234567890.10`:          `12345678901234567890.10`,
		`true`:                             `true`,
		`"{\"a\": 1}"`:                     `{"a": 1}`,
		`"not <JSON>\u0000"`:               "not <JSON>\x00",
		`""`:                               ``,
	} {
		for _, body := range []string{
			`{"source_system": "s", "payload":  ` + sent + `  }`,
			`{"writes": [{"payload":` + sent + `,"source_system": "s"}]}`,
		} {
			b := setup(t)
			require.Equal(t, 202, b.call(t, request{method: "POST", path: "/v1/writes", body: body}).status, body)
			require.Empty(t, cmp.Diff([]any{[]live.Incoming{{SourceSystem: "s", Payload: []byte(want), Operation: deadletter.Upsert}}}, b.calls))
		}
		b := setup(t)
		b.check.Errors = []deadletter.FieldError{}
		require.Equal(t, 200, b.call(t, request{method: "POST", path: "/v1/validate", body: `{"source_system": "s", "operation": "update", "payload": ` + sent + `}`}).status)
		require.Empty(t, cmp.Diff([]any{live.Incoming{SourceSystem: "s", Payload: []byte(want), Operation: deadletter.Update}}, b.calls))
	}
}

func TestWritesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 1000 {
		list = append(list, fmt.Sprintf(`{"source_system": "s%d", "payload": %d}`, i, i))
	}
	b := setup(t)
	require.Equal(t, 202, b.call(t, request{method: "POST", path: "/v1/writes", token: "write", body: `{"writes": [` + strings.Join(list, ",") + `]}`}).status)
	got := b.calls[0].([]live.Incoming)
	require.Len(t, got, 1000)
	for i, in := range got {
		require.Equal(t, fmt.Sprint(i), string(in.Payload))
		require.Equal(t, fmt.Sprintf("s%d", i), in.SourceSystem)
	}
	list = append(list, list[0])
	a := b.call(t, request{method: "POST", path: "/v1/writes", body: `{"writes": [` + strings.Join(list, ",") + `]}`})
	require.Equal(t, 422, a.status)
	require.Equal(t, []string{"writes size"}, a.problem(t).rules())
}

// TestMalformedEnvelopeRefusesAll: what is acknowledged is the whole request (contract: writes).
func TestMalformedEnvelopeRefusesAll(t *testing.T) {
	t.Parallel()
	const good = `{"source_system": "s", "payload": {}}`
	for body, rules := range map[string][]string{
		`{}`:                     {"source_system required", "payload required"},
		`{"source_system": "s"}`: {"payload required"},
		`{"source_system": "s", "payload": null}`: {"payload required"},
		`{"writes": []}`: {"writes size"},
		`{"writes": [` + good + `, {"payload": {}}, {"source_system": " ", "payload": 1, "operation": "delete"}]}`: {
			"writes[1].source_system required", "writes[2].source_system required", "writes[2].operation one_of",
		},
		`{"writes": [` + good + `], "source_system": "s"}`:          {"writes excluded"},
		`{"writes": [` + good + `], "payload": 1}`:                  {"writes excluded"},
		`{"writes": [{"source_system": "s", "payload": "\ud800"}]}`: {"writes[0].payload unicode"},
	} {
		b := setup(t)
		a := b.call(t, request{method: "POST", path: "/v1/writes", body: body})
		require.Equal(t, 422, a.status, body)
		require.ElementsMatch(t, rules, a.problem(t).rules(), body)
		require.Empty(t, b.calls)
	}
}
