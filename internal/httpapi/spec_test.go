package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func TestSpecAndOperationsTableAgree(t *testing.T) {
	t.Parallel()
	doc, err := spec()
	require.NoError(t, err)
	described := map[string]httpapi.Operation{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			scope, _ := op.Extensions["x-scope"].(string)
			creates, _ := op.Extensions["x-creates"].(bool)
			described[method+" "+path] = httpapi.Operation{Name: op.OperationID, Scope: scope, Creates: creates}
			require.Equal(t, scope == "", op.Security != nil && len(*op.Security) == 0, "%s: security and x-scope", op.OperationID)
			require.Equal(t, creates, slices.ContainsFunc(op.Parameters, isIdempotencyKey), "%s: x-creates and Idempotency-Key", op.OperationID)
		}
	}
	require.Empty(t, cmp.Diff(described, httpapi.Operations()))
}

func isIdempotencyKey(p *openapi3.ParameterRef) bool { return p.Value.Name == "Idempotency-Key" }

func TestSpecEnumsAreTheDomains(t *testing.T) {
	t.Parallel()
	doc, err := spec()
	require.NoError(t, err)
	for schema, want := range map[string][]string{
		"Reason":  texts(deadletter.Reasons()),
		"Outcome": texts(deadletter.Outcomes()),
		"Status":  texts([]deadletter.Status{deadletter.PendingReview, deadletter.Replaying, deadletter.Resolved, deadletter.Ignored}),
		"Mode":    texts([]deadletter.Mode{deadletter.Checked, deadletter.UnchangedFields, deadletter.ChosenFields, deadletter.Overwrite}),
		"Flag": texts([]deadletter.Flag{
			deadletter.MayHaveBeenWritten, deadletter.Landed, deadletter.LateLanding, deadletter.ChangedInWindow, deadletter.CreatedElsewhere,
		}),
	} {
		var got []string
		for _, v := range doc.Components.Schemas[schema].Value.Enum {
			got = append(got, fmt.Sprint(v))
		}
		require.Empty(t, cmp.Diff(want, got), schema)
	}
}

func texts[T ~string](ts []T) []string {
	out := make([]string, len(ts))
	for i, t := range ts {
		out[i] = string(t)
	}
	return out
}

func TestSpecIsServedAsItIs(t *testing.T) {
	t.Parallel()
	a := setup(t).call(t, request{method: http.MethodGet, path: "/openapi.yaml", token: "-"})
	require.Equal(t, http.StatusOK, a.status)
	require.Equal(t, "application/yaml", a.header.Get("Content-Type"))
	require.Contains(t, a.body, "operationId: PressReplay")
}
