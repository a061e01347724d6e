package pipeline_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
)

// plain decodes JSON with numbers as json.Number.
func plain(t *testing.T, text string) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var value any
	require.NoError(t, decoder.Decode(&value))
	return value
}

func TestUnparseablePayloads(t *testing.T) {
	t.Parallel()
	deep := func(open, end string, n int) string {
		return `{"id":"T-1","x":` + strings.Repeat(open, n) + "1" + strings.Repeat(end, n) + `}`
	}
	for payload, want := range map[string]string{
		`{"id":`:               "is not JSON",
		`{"id":"T-1"}}`:        "is not JSON",
		`{'id':1}`:             "is not JSON",
		"\x00":                 "is not JSON",
		"{\"id\":\"a\x00\"}":   "is not JSON",
		"{\"id\":\"\xff\"}":    "not UTF-8: byte 7 is 0xff",
		"\ufeff{}":             "byte order mark",
		`{"id":1,"id":2}`:      `the key "id" stands twice in one object (byte 8)`,
		`{"id":1,"i\u0064":2}`: `the key "id" stands twice`,
		`{"id":1,"x":[{"a":1},{"a":2,"b":{"c":1,"d":[],"c":2}}]}`: `the key "c" stands twice`,
		`{"id":"\ud83d"}`:           "half a surrogate pair",
		`{"id":"\ude00\ud83d"}`:     "half a surrogate pair",
		`{"id":"\ud83dx"}`:          "half a surrogate pair",
		`{"id":1,"\uDC00":2}`:       "half a surrogate pair",
		deep("[", "]", 101):         "nests deeper than 100",
		deep(`{"a":`, "}", 20_000):  "JSON",
		strings.Repeat("[", 1<<20):  "is not JSON",
		`{"id":"T-1"} {"id":"T-2"}`: "is not JSON",
	} {
		identity := source(t, "things").Identify([]byte(payload))
		require.NotNil(t, identity.Problem)
		require.Equal(t, deadletter.ReasonUnparseablePayload, identity.Problem.Reason)
		require.Contains(t, identity.Problem.Detail, want)
		require.Empty(t, identity.TargetID)
		_, invalid := source(t, "things").Validate([]byte(payload), deadletter.Update, schema())
		require.NotNil(t, invalid)
		require.Equal(t, deadletter.ReasonUnparseablePayload, invalid.Reason)
		require.Equal(t, []pipeline.FieldError{{Rule: "json", Detail: identity.Problem.Detail}}, invalid.Errors)
	}
	for _, payload := range []string{
		`{"id":"T-1","x":[{"a":1},{"a":1}],"y":{"a":{"a":{"a":1}}}}`,
		`{"id":"T-1","x":"\ud83d\ude00 \\ud800 \" \\\\"}`,
		`{"x":"{\"id\":1,\"id\":2}","id":"T-1"}`,
		deep("[", "]", 99),
		"\t{\"id\" : \"T-1\" }\r\n",
	} {
		require.Equal(t, "T-1", source(t, "things").Identify([]byte(payload)).TargetID, payload)
	}
}

func TestPathsIntoPayloads(t *testing.T) {
	t.Parallel()
	payload := `{"keys":{"order.id":"T-9","order":{"id":"wrong"}},"@note#":"n","people":[{"name":"Ada"},{"name":"Bob"}],
		"lines":[{"kind":"order","id":17,"tag":"red"},{"kind":"gift","id":18,"tag":"blue"},{"kind":"order","id":"O-2","tag":"green"}]}`
	w, invalid := source(t, "lists").Validate([]byte(payload), deadletter.Update, schema())
	require.Nil(t, invalid, "%+v", invalid)
	require.Equal(t, "T-9", w.Key)
	require.Empty(t, cmp.Diff(map[string]any{"Tags": []any{"red", "blue", "green"}, "Name": "Ada", "Qty": number("3"), "Notes": "n"}, w.Fields))
	require.Equal(t, []pipeline.Link{{Field: "Order", Target: "Orders", Keys: []string{"17", "O-2"}}}, w.Links)

	_, invalid = source(t, "lists").Validate([]byte(`{"keys":{"order.id":"T-9"},"lines":[{"tag":"red"},{}]}`), deadletter.Update, schema())
	require.NotNil(t, invalid, "an element is not left out in silence")
	require.Equal(t, []pipeline.FieldError{{Field: "Tags", Rule: "type", Detail: "element 2 of the list has no tag"}}, invalid.Errors)

	w, invalid = source(t, "lists").Validate([]byte(`{"keys":{"order.id":"T-9"},"lines":[]}`), deadletter.Update, schema())
	require.Nil(t, invalid)
	require.Empty(t, cmp.Diff(map[string]any{"Tags": []any{}, "Order": []any{}, "Qty": number("0")}, w.Fields), "an empty list clears")
}
