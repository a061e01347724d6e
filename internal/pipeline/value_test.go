package pipeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/deadletter"
)

func TestValuesOfEachType(t *testing.T) {
	t.Parallel()
	for name, values := range map[string]struct{ good, bad []string }{
		"Name":    {good: []string{`""`, `"A"`, `" A "`, `"007"`, `"line\nbreak"`, `"\u00e9😀"`}, bad: []string{`7`, `true`, `["A"]`, `{}`, `"a\u0000b"`}},
		"Mail":    {good: []string{`"a@example.com"`, `"not an address"`}, bad: []string{`{"email":"a"}`}},
		"Rich":    {good: []string{`"# T\n* a"`}, bad: []string{`1.5`}},
		"Qty":     {good: []string{`0`, `-1`, `1.5`, `1e3`, `540.8333333333334`, `9007199254740991`, `9007199254740992`, `3.14159265358979323846`}, bad: []string{`"1"`, `""`, `true`, `[]`, `9007199254740993`, `1e400`, `1e-400`, `18446744073709551616`, `1234567890123456.78`}},
		"Amount":  {good: []string{`1323.25`}, bad: []string{`"1323.25"`, `{"amount":1}`}},
		"Stars":   {good: []string{`1`, `5`, `5.0`}, bad: []string{`0`, `6`, `-1`, `1.5`, `"3"`, `1e300`}},
		"Active":  {good: []string{`true`, `false`}, bad: []string{`"true"`, `1`, `0`, `""`}},
		"Status":  {good: []string{`"In Progress"`}, bad: []string{`["Paid"]`, `{"name":"Paid"}`, `1`, `true`}},
		"Tags":    {good: []string{`[]`, `["red","blue"]`}, bad: []string{`"red"`, `[1]`, `[""]`, `[["red"]]`, `["red",null]`}},
		"Due":     {good: []string{`"2024-02-29"`, `"0999-01-01"`}, bad: []string{`"2023-02-29"`, `"2026-13-01"`, `""`}},
		"Meeting": {good: []string{`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05.678+02:00"`}, bad: []string{`"2026-01-02T03:04:05"`, `"2026-01-02"`, `"2026-01-02 03:04:05Z"`, `"2026-01-02T03:04:05,5Z"`, `"2026-01-02T3:04:05Z"`, `1640520000000`, `""`}},
		"Owner":   {good: []string{`["recAAAAAAAAAAAAAA","recBBBBBBBBBBBBBB"]`}, bad: []string{`["recAAAAAAAAAAAAAA","recAAAAAAAAAAAAAA"]`, `[{"id":"recAAAAAAAAAAAAAA"}]`}},
		"Person":  {good: []string{`{"id":"usrAAAAAAAAAAAAAA"}`, `{"email":"a@example.com","name":"A"}`}, bad: []string{`"a@example.com"`, `{}`, `{"name":"A"}`, `{"id":7}`, `{"id":"usr","permission":"x"}`, `[{"id":"usr"}]`}},
		"People":  {good: []string{`[]`, `[{"id":"usrA"},{"email":"a@example.com"}]`}, bad: []string{`{"id":"usrA"}`, `["usrA"]`, `[null]`}},
		"Code":    {good: []string{`{"text":"4006381333931"}`, `{"text":"x","type":"ean13"}`}, bad: []string{`"4006381333931"`, `{"text":""}`, `{"text":7}`, `{"text":"x","colour":"red"}`, `{"text":"a\u0000"}`}},
	} {
		for _, value := range values.good {
			got := accept(t, fmt.Sprintf(`{%q:%s}`, name, value))
			require.Empty(t, cmp.Diff(map[string]any{name: plain(t, value)}, got), "%s takes %s as it is", name, value)
		}
		for _, value := range values.bad {
			invalid := refuse(t, fmt.Sprintf(`{%q:%s}`, name, value))
			require.Equal(t, deadletter.ReasonInvalidValue, reasonOfType(invalid.Reason), "%s takes no %s", name, value)
			for _, e := range invalid.Errors {
				require.Equal(t, name, e.Field)
				require.NotEmpty(t, e.Detail)
			}
		}
		require.Equal(t, map[string]any{name: nil}, accept(t, fmt.Sprintf(`{%q:null}`, name)), "null clears")
	}
}

// reasonOfType takes the two reasons that name a wrong value as one.
func reasonOfType(reason deadletter.Reason) deadletter.Reason {
	if reason == deadletter.ReasonInvalidOption {
		return deadletter.ReasonInvalidValue
	}
	return reason
}

func TestUnknownTypeIsNotWritten(t *testing.T) {
	t.Parallel()
	_, invalid := source(t, "computed").Validate([]byte(`{"id":"T-1","fields":{"Odd":"x"}}`), deadletter.Update, schema())
	require.NotNil(t, invalid)
	require.Equal(t, "Odd", invalid.Errors[0].Field)
	require.Contains(t, invalid.Errors[0].Detail, "hologram")
}

func TestAllFaultsAtOnceAndTheMostTellingReason(t *testing.T) {
	t.Parallel()
	invalid := refuse(t, `{"Qty":"1","Status":"Blue","Due":"","Name":7,"Short":"123456789","Tags":["pink","rose"],"Stars":9}`)
	require.Equal(t, deadletter.ReasonPayloadTooLarge, invalid.Reason)
	var fields []string
	for _, e := range invalid.Errors {
		fields = append(fields, e.Field)
	}
	require.Equal(t, []string{"Due", "Name", "Qty", "Short", "Stars", "Status", "Tags", "Tags"}, fields)
	detail := invalid.Problem().Detail
	require.NotContains(t, detail, "\n")
	for _, name := range fields {
		require.Contains(t, detail, name+": ")
	}
}

func TestProblemTextIsBounded(t *testing.T) {
	t.Parallel()
	tags := strings.Repeat(`"`+strings.Repeat("x", 500)+`",`, 200)
	invalid := refuse(t, `{"Tags":[`+tags+`"red"]}`)
	detail := invalid.Problem().Detail
	require.Less(t, len(detail), 2100)
	require.Regexp(t, `; and \d+ more$`, detail)
}
