package airtable_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
)

func TestClassAndFateOfAnswers(t *testing.T) { // W1
	t.Parallel()
	fault := func(typ, message string) string {
		return fmt.Sprintf(`{"error":{"type":%q,"message":%q}}`, typ, message)
	}
	const quota = "PUBLIC_API_BILLING_LIMIT_EXCEEDED"
	for _, tc := range []struct {
		status int
		body   string
		class  airtable.Class
		fate   airtable.Fate
	}{
		{429, `{"errors":[{"error":"RATE_LIMIT_REACHED","message":"Rate limit exceeded. Please try again later"}]}`, airtable.Wait, airtable.FateRefused},
		{429, fault("RATE_LIMIT_REACHED", "Rate limit exceeded. Please try again later"), airtable.Wait, airtable.FateRefused},
		{429, ``, airtable.Wait, airtable.FateRefused},
		{429, `<html>slow down</html>`, airtable.Wait, airtable.FateRefused},
		{429, `{"errors":[{"error":"` + quota + `","message":"API billing plan limit exceeded."}]}`, airtable.Halt, airtable.FateRefused},
		{429, fault(quota, "API billing plan limit exceeded."), airtable.Halt, airtable.FateRefused},
		{500, ``, airtable.Retry, airtable.FateUnknown},
		{502, `<html>Bad Gateway</html>`, airtable.Retry, airtable.FateUnknown},
		{503, fault("RETRIABLE_ERROR", "safe to retry the request"), airtable.Retry, airtable.FateUnknown},
		{504, ``, airtable.Retry, airtable.FateUnknown},
		{599, ``, airtable.Retry, airtable.FateUnknown},
		{408, ``, airtable.Retry, airtable.FateUnknown},
		{425, ``, airtable.Retry, airtable.FateUnknown},
		{304, ``, airtable.Retry, airtable.FateUnknown},
		{401, fault("AUTHENTICATION_REQUIRED", "Authentication required"), airtable.Halt, airtable.FateRefused},
		{401, ``, airtable.Halt, airtable.FateRefused},
		{403, fault("INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND", "Invalid permissions, or the requested model was not found."), airtable.Halt, airtable.FateRefused},
		{403, `<html>`, airtable.Halt, airtable.FateRefused},
		{400, fault("AUTHENTICATION_REQUIRED", "Authentication required"), airtable.Halt, airtable.FateRefused},
		{400, `{"error":"invalid_token"}`, airtable.Halt, airtable.FateRefused},
		{400, fault("", "Invalid authentication token"), airtable.Halt, airtable.FateRefused},
		{400, fault("", "Invalid API key provided"), airtable.Halt, airtable.FateRefused},
		{400, fault("INVALID_REQUEST_BODY", "Could not parse request body"), airtable.Permanent, airtable.FateRefused},
		{400, fault("INVALID_REQUEST", "Unexpected token < in JSON"), airtable.Permanent, airtable.FateRefused},
		{400, ``, airtable.Permanent, airtable.FateRefused},
		{404, `{"error":"NOT_FOUND"}`, airtable.Permanent, airtable.FateRefused},
		{404, fault("TABLE_NOT_FOUND", "Could not find table X in application app"), airtable.Permanent, airtable.FateRefused},
		{409, ``, airtable.Permanent, airtable.FateRefused},
		{413, ``, airtable.Permanent, airtable.FateRefused},
		{418, ``, airtable.Permanent, airtable.FateRefused},
		{422, `{}`, airtable.Permanent, airtable.FateRefused},
		{422, fault("INVALID_MULTIPLE_CHOICE_OPTIONS", `Insufficient permissions to create new select option ""Foo""`), airtable.Permanent, airtable.FateRefused},
		{422, fault("INVALID_RECORDS", "authentication"), airtable.Permanent, airtable.FateRefused},
	} {
		t.Run(fmt.Sprint(tc.status, " ", tc.body), func(t *testing.T) {
			t.Parallel()
			_, err := writeTo(t, fixed(tc.status, tc.body))
			e := failureOf(t, err)
			require.Equal(t, tc.class, airtable.Classify(err), "%s", airtable.Classify(err))
			require.Equal(t, tc.class, airtable.Classify(fmt.Errorf("write order: %w", err)))
			require.Equal(t, tc.fate, e.Fate, "%s", e.Fate)
		})
	}
}

func TestClassifyOfOtherErrors(t *testing.T) {
	t.Parallel()
	require.Equal(t, airtable.Done, airtable.Classify(nil))
	require.Equal(t, airtable.Retry, airtable.Classify(errors.New("something")))
	require.Equal(t, airtable.Retry, airtable.Classify(context.DeadlineExceeded))
}

func TestNamesOfClassesAndFates(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for c := airtable.Done; c <= airtable.Permanent; c++ {
		names[c.String()] = true
	}
	for f := airtable.FateRefused; f <= airtable.FateUnknown; f++ {
		names[f.String()] = true
	}
	require.Len(t, names, 8)
	require.False(t, names["none"])
	require.Equal(t, "none", airtable.Fate(0).String())
	require.Equal(t, "none", airtable.Class(-1).String())
}
