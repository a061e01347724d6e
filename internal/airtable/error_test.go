package airtable_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
)

func TestEnvelopes(t *testing.T) { // B50, B52
	t.Parallel()
	for _, tc := range []struct {
		name, body, typ, message, reason string
		status                           int
	}{
		{"string", `{"error":"NOT_FOUND"}`, "NOT_FOUND", "", "NOT_FOUND (HTTP 404)", 404},
		{"type alone", `{"error":{"type":"NOT_FOUND"}}`, "NOT_FOUND", "", "NOT_FOUND (HTTP 404)", 404},
		{"type and message", `{"error":{"type":"X","message":"Y"}}`, "X", "Y", "X: Y (HTTP 422)", 422},
		{"message alone", `{"error":{"message":"Y"}}`, "", "Y", "Y (HTTP 422)", 422},
		{"plural", `{"errors":[{"error":"RATE_LIMIT_REACHED","message":"Rate limit exceeded. Please try again later"}]}`,
			"RATE_LIMIT_REACHED", "Rate limit exceeded. Please try again later", "RATE_LIMIT_REACHED: Rate limit exceeded. Please try again later (HTTP 429)", 429},
		{"plural of objects", `{"errors":[{},{"type":"X","message":"Y"}]}`, "X", "Y", "X: Y (HTTP 422)", 422},
		{"plural of strings", `{"errors":["X"]}`, "X", "", "X (HTTP 422)", 422},
		{"message beside the error", `{"error":"X","message":"Y"}`, "X", "Y", "X: Y (HTTP 422)", 422},
		{"type at the top", `{"type":"X","message":"Y"}`, "X", "Y", "X: Y (HTTP 422)", 422},
		{"empty object", `{}`, "", "", "no details given (HTTP 422)", 422},
		{"nothing", ``, "", "", "no details given (HTTP 422)", 422},
		{"odd kinds", `{"error":{"type":7,"message":["Y"]}}`, "", "", "no details given (HTTP 422)", 422},
		{"null error", `{"error":null}`, "", "", "no details given (HTTP 422)", 422},
		{"empty plural", `{"errors":[]}`, "", "", "no details given (HTTP 422)", 422},
		{"HTML", "<html><body>Service\n Temporarily   Unavailable</body></html>", "", "",
			"no details given (HTTP 503): <html><body>Service Temporarily Unavailable</body></html>", 503},
		{"text", `upstream connect error`, "", "", "no details given (HTTP 502): upstream connect error", 502},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, answer(tc.status, tc.body))
			_, err := writeTo(t, w.client())
			e := failureOf(t, err)
			require.Equal(t, []any{tc.status, tc.typ, tc.message, tc.body}, []any{e.Status, e.Type, e.Message, e.Body})
			require.Equal(t, tc.reason, e.Reason())
			require.Equal(t, "airtable: write records: "+tc.reason, err.Error())
		})
	}
}

func TestRefusalWithCutBodyIsStillARefusal(t *testing.T) {
	t.Parallel()
	for _, status := range []int{403, 422, 429} {
		whole := response(status, `{"error":{"type":"X","message":"Y"}}`)
		w := serve(t, cut(whole[:len(whole)-8]))
		_, err := writeTo(t, w.client())
		e := failureOf(t, err)
		require.Equal(t, status, e.Status)
		require.Equal(t, airtable.FateRefused, e.Fate)
		require.NotEqual(t, airtable.Retry, airtable.Classify(err))
	}
}

func TestTextOfErrorsIsStorable(t *testing.T) {
	t.Parallel()
	clean := `{"error":{"type":"X\u0000","message":"` + strings.Repeat("ü", 4000) + `"}}`
	_, err := writeTo(t, fixed(422, clean+"\xff\x00"))
	e := failureOf(t, err)
	require.Empty(t, e.Type, "trailing bytes: no JSON")
	_, err = writeTo(t, fixed(422, clean))
	e2 := failureOf(t, err)
	require.Equal(t, "X\uFFFD", e2.Type)
	require.Less(t, len(e2.Message), 4200)
	for _, s := range []string{e.Body, e2.Body, e2.Message, e2.Type, e2.Reason()} {
		require.True(t, utf8.ValidString(s))
		require.NotContains(t, s, "\x00")
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, tc := range []struct {
		name, header         string
		want, capped         time.Duration
		withoutServersOwnNow bool
	}{
		{name: "none"},
		{name: "seconds", header: "Retry-After: 30", want: 30 * time.Second, capped: 30 * time.Second},
		{name: "fraction", header: "Retry-After: 0.5", want: 500 * time.Millisecond, capped: 500 * time.Millisecond},
		{name: "spaces", header: "Retry-After:   7  ", want: 7 * time.Second, capped: 7 * time.Second},
		{name: "long", header: "Retry-After: 3600", want: time.Hour, capped: 2 * time.Minute},
		{name: "absurd", header: "Retry-After: 99999999999999999999999", want: 1e9 * time.Second, capped: 2 * time.Minute},
		{name: "infinite", header: "Retry-After: Inf", want: 1e9 * time.Second, capped: 2 * time.Minute},
		{name: "negative", header: "Retry-After: -5"},
		{name: "not a number", header: "Retry-After: NaN"},
		{name: "words", header: "Retry-After: soon"},
		{name: "date, by the server's clock", header: "Retry-After: " + date(90*time.Second), want: 90 * time.Second, capped: 90 * time.Second},
		{name: "date gone by", header: "Retry-After: " + date(-time.Hour)},
		{name: "date gone by for us", header: "Retry-After: " + date(-time.Hour), withoutServersOwnNow: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			headers := []string{"Date: " + date(0), tc.header}
			if tc.header == "" {
				headers = headers[:1]
			}
			if tc.withoutServersOwnNow {
				headers = headers[1:]
			}
			w := serve(t, answer(503, `{}`, headers...))
			_, err := writeTo(t, w.client())
			e := failureOf(t, err)
			require.Equal(t, tc.want, e.RetryAfter)
			require.Equal(t, tc.capped, e.RetryAfterCapped())
		})
	}
}

func TestRecordGone(t *testing.T) { // B09, B64
	t.Parallel()
	missing := func(id string) string {
		return `{"error":{"type":"ROW_DOES_NOT_EXIST","message":"Record ID ` + id + ` does not exist in this table"}}`
	}
	for _, tc := range []struct {
		name   string
		status int
		body   string
		gone   bool
		linked string
	}{
		{"the record itself", 422, missing(recA), true, ""},
		{"a stale link in a cell", 422, missing(recB), false, recB},
		{"no ID in the message", 422, `{"error":{"type":"ROW_DOES_NOT_EXIST"}}`, true, ""},
		{"single route", 404, `{"error":{"type":"MODEL_ID_NOT_FOUND","message":"Record not found"}}`, true, ""},
		{"table not found", 404, `{"error":{"type":"MODEL_ID_NOT_FOUND","message":"Table not found"}}`, false, ""},
		{"wrong URL", 404, `{"error":"NOT_FOUND"}`, false, ""},
		{"table gone", 404, `{"error":{"type":"TABLE_NOT_FOUND","message":"Could not find table B in application appA"}}`, false, ""},
		{"another 422", 422, `{"error":{"type":"INVALID_VALUE_FOR_COLUMN","message":"Record ID"}}`, false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := writeTo(t, fixed(tc.status, tc.body))
			e := failureOf(t, err)
			require.Equal(t, tc.gone, e.IsRecordGone())
			require.Equal(t, tc.linked, e.LinkedID)
			require.Equal(t, airtable.Permanent, airtable.Classify(err))
		})
	}
}

func TestKindsOfRefusal(t *testing.T) {
	t.Parallel()
	computed := airtable.Error{Status: 422, Type: "INVALID_VALUE_FOR_COLUMN", Message: `Field "X" cannot accept a value because the field is computed`}
	require.True(t, computed.IsComputedField())
	value := airtable.Error{Status: 422, Type: "INVALID_VALUE_FOR_COLUMN", Message: `Field "X" cannot accept the provided value`}
	require.False(t, value.IsComputedField())
	for _, e := range []airtable.Error{
		{Status: 422, Type: "UNKNOWN_FIELD_NAME", Message: `Unknown field name: "Qtty"`},
		{Status: 422, Type: "INVALID_FILTER_BY_FORMULA", Message: "The formula for filtering records is invalid: Unknown field names: qtty"},
	} {
		require.True(t, e.IsUnknownField(), e.Message)
	}
	formula := airtable.Error{Status: 422, Type: "INVALID_FILTER_BY_FORMULA", Message: "The formula for filtering records is invalid: Invalid formula. Please check your formula text."}
	require.False(t, formula.IsUnknownField())
	limit := airtable.Error{Status: 429, Type: "RATE_LIMIT_REACHED"}
	require.True(t, limit.IsRateLimit())
	require.False(t, limit.IsQuota())
	quota := airtable.Error{Status: 429, Type: "PUBLIC_API_BILLING_LIMIT_EXCEEDED"}
	require.False(t, quota.IsRateLimit())
	require.True(t, quota.IsQuota())
}

// FuzzAnswer: whatever a server answers, a write yields a result that fits the
// request or an error that can be read, stored and classified.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{recordsJSON(recA), `{"error":"X"}`, `{"errors":[{"error":"X","message":"Y"}]}`, `<html>`, ``, `{"records":[{}]}`, token} {
		f.Add(200, body)
		f.Add(422, body)
		f.Add(503, body)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			t.Skip("not a final HTTP status")
		}
		result, err := fixed(status, body).WriteRecords(t.Context(), writeOne())
		if err == nil {
			require.Equal(t, 2, status/100)
			require.Equal(t, recA, result.Records[0].ID)
			require.Equal(t, airtable.Done, airtable.Classify(err))
			return
		}
		e, ok := errors.AsType[*airtable.Error](err)
		require.True(t, ok)
		require.Equal(t, status, e.Status)
		require.NotEqual(t, airtable.FateUnsent, e.Fate)
		for _, s := range []string{e.Error(), e.Reason(), e.Body, e.Type, e.Message, e.Signature(), e.FieldName()} {
			require.True(t, utf8.ValidString(s), "%q", s)
			require.NotContains(t, s, token)
			require.NotContains(t, s, "\x00")
		}
		require.NotEmpty(t, e.Reason())
		require.True(t, strings.HasPrefix(e.Signature(), fmt.Sprint(status)))
		if status/100 == 5 || status/100 == 2 {
			require.Equal(t, airtable.FateUnknown, e.Fate)
		}
	})
}
