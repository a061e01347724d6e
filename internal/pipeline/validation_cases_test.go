package pipeline_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
)

func TestB12KeyArrivesAsOneElementArray(t *testing.T) {
	t.Parallel()
	s := source(t, "things")
	require.Equal(t, "04-19", s.Identify([]byte(`{"id":["04-19"],"at":"2026-10-04T08:00:00Z"}`)).TargetID)
	require.NotNil(t, s.Identify([]byte(`{"id":["04-19","04-20"]}`)).Problem)
	kind, ok := schema().Kind("Things", "From Order")
	require.True(t, ok)
	require.Equal(t, deadletter.KindLookup, kind)
	require.True(t, deadletter.Equal(kind, []any{"04-19"}, "04-19"))
}

func TestB16NumberSentAsString(t *testing.T) {
	t.Parallel()
	invalid := refuse(t, `{"Qty":"113034809"}`)
	require.Equal(t, &pipeline.Invalid{
		Reason: deadletter.ReasonInvalidValue, Schema: true,
		Errors: []pipeline.FieldError{{Field: "Qty", Rule: "type", Detail: `is a number field and takes a number, not the text "113034809"; send it without the quotes`}},
	}, invalid)
	require.Equal(t, map[string]any{"Qty": number("113034809")}, accept(t, `{"Qty":113034809}`))
}

func TestB17MoneyObject(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`{"cents":132325,"currency":"USD"}`: "takes a number, not an object",
		`"$1,323.25"`:                       `takes a number, not the text "$1,323.25"`,
	} {
		invalid := refuse(t, `{"Amount":`+value+`}`)
		require.Equal(t, deadletter.ReasonInvalidValue, invalid.Reason)
		require.Equal(t, "Amount", invalid.Errors[0].Field)
		require.Contains(t, invalid.Errors[0].Detail, want)
	}
	require.Equal(t, map[string]any{"Amount": number("1323.25")}, accept(t, `{"Amount":1323.25}`))
	refuse(t, `{"Notes":{"cents":1}}`)
}

func TestB20BigNumbersKeepTheirDigits(t *testing.T) {
	t.Parallel()
	identity := source(t, "things").Identify([]byte(`{"id":1970670598291982290,"at":"2026-10-04T08:00:00Z"}`))
	require.Nil(t, identity.Problem)
	require.Equal(t, "1970670598291982290", identity.TargetID)
	require.Equal(t, map[string]any{"Notes": "1970670598291982290"}, accept(t, `{"Notes":"1970670598291982290"}`))
	invalid := refuse(t, `{"Qty":1970670598291982290}`)
	require.Equal(t, deadletter.ReasonInvalidValue, invalid.Reason)
	require.Contains(t, invalid.Errors[0].Detail, "1970670598291982290")
	require.Contains(t, invalid.Errors[0].Detail, "use a text field")
	refuse(t, `{"Notes":1970670598291982290}`)
}

func TestB21EveryComputedFieldIsNamed(t *testing.T) {
	t.Parallel()
	payload := []byte(`{"id":"T-1","fields":{"Status":"Paid","Full Name":"A B","Created":"2026-01-01T00:00:00.000Z","From Order":["x"]}}`)
	_, invalid := source(t, "computed").Validate(payload, deadletter.Update, schema())
	require.NotNil(t, invalid)
	require.Equal(t, deadletter.ReasonComputedField, invalid.Reason)
	require.True(t, invalid.Mismatch)
	var named []string
	for _, e := range invalid.Errors {
		require.Equal(t, "computed", e.Rule)
		named = append(named, e.Field)
	}
	require.Equal(t, []string{"Created", "From Order", "Full Name"}, named)
	require.Contains(t, invalid.Problem().Detail, "Full Name: is a formula field")
}

func TestB23OptionsMatchExactly(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"Paid ":          `has no option "Paid·"; the nearest is "Paid", which differs only in blanks (· is a blank, ⍽ a no-break blank)`,
		"paid":           `has no option "paid"; the nearest is "Paid", which differs only in upper and lower case`,
		"Owner’s share":  `has no option "Owner’s share"; the nearest is "Owner's share", which differs only in the form of a quotation mark or dash`,
		"Paid\u00a0":     `has no option "Paid⍽"; the nearest is "Paid", which differs only in blanks (· is a blank, ⍽ a no-break blank)`,
		"In  Progress":   `has no option "In··Progress"; the nearest is "In Progress", which differs only in blanks (· is a blank, ⍽ a no-break blank)`,
		"Pald":           `has no option "Pald"; the nearest is "Paid"`,
		" owner’s SHARE": `has no option "·owner’s SHARE"; the nearest is "Owner's share", which differs only in blanks, case or quotation marks (· is a blank, ⍽ a no-break blank)`,
	} {
		encoded, err := json.Marshal(sent)
		require.NoError(t, err)
		invalid := refuse(t, `{"Status":`+string(encoded)+`}`)
		require.Equal(t, deadletter.ReasonInvalidOption, invalid.Reason)
		require.Equal(t, []pipeline.FieldError{{Field: "Status", Rule: "option", Detail: want}}, invalid.Errors)
		refuse(t, `{"Tags":["red",`+string(encoded)+`]}`)
	}
	require.Equal(t, map[string]any{"Status": "Owner's share"}, accept(t, `{"Status":"Owner's share"}`))
	require.Contains(t, refuse(t, `{"Status":""}`).Errors[0].Detail, "send null")
	require.Contains(t, refuse(t, `{"Tags":["red","red"]}`).Errors[0].Detail, "twice")
}

// B24: no path mints an option; that the key typecast is absent is the client's to show.
func TestB24NewOptionIsRefusedForEveryOperation(t *testing.T) {
	t.Parallel()
	for _, op := range []deadletter.Operation{deadletter.Update, deadletter.Upsert} {
		_, invalid := source(t, "things").Validate(thing(`{"Status":"Blue"}`), op, schema())
		require.NotNil(t, invalid)
		require.Equal(t, deadletter.ReasonInvalidOption, invalid.Reason)
	}
}

func TestB26LinkFields(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`"recAAAAAAAAAAAAAA"`, `["user_42"]`, `[7]`, `["recA"]`, `[["recAAAAAAAAAAAAAA"]]`, `[null]`, `""`} {
		invalid := refuse(t, `{"Owner":`+value+`}`)
		require.Equal(t, deadletter.ReasonInvalidValue, invalid.Reason)
		require.Equal(t, "Owner", invalid.Errors[0].Field, value)
	}
	require.Equal(t, map[string]any{"Owner": []any{}}, accept(t, `{"Owner":[]}`), "[] clears the links")
	require.Equal(t, map[string]any{"Owner": nil}, accept(t, `{"Owner":null}`))
	require.Equal(t, map[string]any{"Owner": []any{"recAAAAAAAAAAAAAA"}}, accept(t, `{"Owner":["recAAAAAAAAAAAAAA"]}`))
}

func TestB27Attachments(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		`["https://files.example.test/a.pdf"]`, `"https://files.example.test/a.pdf"`, `{"url":"https://files.example.test/a.pdf"}`,
		`[{"href":"https://files.example.test/a.pdf"}]`, `[{"url":"file:///etc/passwd"}]`, `[{"url":"https://x.test/a","size":1}]`, `[{}]`,
	} {
		invalid := refuse(t, `{"Invoice PDF":`+value+`}`)
		require.Equal(t, deadletter.ReasonInvalidValue, invalid.Reason)
		require.Equal(t, "Invoice PDF", invalid.Errors[0].Field)
		require.Contains(t, invalid.Errors[0].Detail, `{"url": "https://…"`, value)
	}
	want := []any{map[string]any{"url": "https://files.example.test/a.pdf", "filename": "a.pdf"}, map[string]any{"id": "attAAAAAAAAAAAAAA"}}
	got := accept(t, `{"Invoice PDF":[{"url":"https://files.example.test/a.pdf","filename":"a.pdf"},{"id":"attAAAAAAAAAAAAAA"}]}`)
	require.Equal(t, map[string]any{"Invoice PDF": want}, got)
	require.Equal(t, map[string]any{"Invoice PDF": []any{}}, accept(t, `{"Invoice PDF":[]}`))
}

func TestB30EmptyStringForADate(t *testing.T) {
	t.Parallel()
	invalid := refuse(t, `{"Paid On":""}`)
	require.Equal(t, deadletter.ReasonInvalidValue, invalid.Reason)
	require.Equal(t, `Paid On: is a date field and takes a calendar date as YYYY-MM-DD, not empty text; send null to clear it`, invalid.Problem().Detail)
	require.Equal(t, map[string]any{"Paid On": nil}, accept(t, `{"Paid On":null}`))
	require.Equal(t, map[string]any{"Name": "A"}, accept(t, `{"Name":"A"}`), "the absent date is not touched")
}

func TestB32OnlyTheStoredKeysAreWritten(t *testing.T) {
	t.Parallel()
	got := accept(t, `{"Status":"Paid","Unrelated":"x"}`)
	require.Equal(t, map[string]any{"Status": "Paid"}, got)
}

func TestB33EmptyValuesAreValues(t *testing.T) {
	t.Parallel()
	got := accept(t, `{"Active":false,"Tags":[],"Notes":"","Qty":0}`)
	want := map[string]any{"Active": false, "Tags": []any{}, "Notes": "", "Qty": number("0")}
	require.Empty(t, cmp.Diff(want, got))
	for name, value := range got {
		require.Equal(t, name != "Qty", deadletter.Empty(value), name)
	}
}

func TestB35TextLengthCountsUTF16Units(t *testing.T) {
	t.Parallel()
	long := func(text string, n int) string { return `{"Notes":"` + strings.Repeat(text, n) + `"}` }
	require.Len(t, accept(t, long("a", 100_000))["Notes"], 100_000)
	require.Len(t, accept(t, long("é", 100_000))["Notes"], 200_000)
	require.Len(t, accept(t, long("😀", 50_000))["Notes"], 200_000)
	for units, payload := range map[int]string{100_001: long("a", 100_001), 120_000: long("😀", 60_000), 100_002: long("😀", 50_001)} {
		invalid := refuse(t, payload)
		require.Equal(t, deadletter.ReasonPayloadTooLarge, invalid.Reason)
		require.Equal(t, "max_length", invalid.Errors[0].Rule)
		require.Contains(t, invalid.Errors[0].Detail, fmt.Sprintf("is %d UTF-16 code units long; at most 100000", units))
		require.Less(t, len(invalid.Problem().Detail), 300, "the text itself is not repeated")
	}
	require.Contains(t, refuse(t, `{"Short":"123456"}`).Errors[0].Detail, "at most 5", "the limit is a setting")
	accept(t, `{"Short":"12😀5"}`)
}

func TestB37DateOnlyStaysText(t *testing.T) {
	t.Parallel()
	got := accept(t, `{"Due":"2026-05-10"}`)
	require.Equal(t, map[string]any{"Due": "2026-05-10"}, got)
	for _, value := range []string{`"2026-05-10T00:00:00Z"`, `"10.05.2026"`, `"2026-02-30"`, `"2026-5-10"`, `" 2026-05-10"`, `20260510`, `true`} {
		require.Equal(t, deadletter.ReasonInvalidValue, refuse(t, `{"Due":`+value+`}`).Reason, value)
	}
}

func TestB38RenamedField(t *testing.T) {
	t.Parallel()
	now := changed("Things", func(f *airtable.Field) {
		if f.Name == "Status" {
			f.Name = "State"
		}
	})
	s := source(t, "things")
	_, invalid := s.Validate(thing(`{"Status":"Paid"}`), deadletter.Update, now.After(schema()))
	require.NotNil(t, invalid)
	require.Equal(t, deadletter.ReasonUnknownField, invalid.Reason)
	require.True(t, invalid.Mismatch)
	require.Equal(t, []pipeline.FieldError{{Field: "Status", Rule: "exists", Detail: `no field "Status" in table Things; field fldStatus is now "State"`}}, invalid.Errors)

	name, ok := now.RenamedFrom(schema(), "Things", "Status")
	require.True(t, ok)
	require.Equal(t, "State", name)
	_, ok = now.RenamedFrom(schema(), "Things", "Name")
	require.False(t, ok)

	later := schema().After(now.After(schema()))
	_, invalid = s.Validate(thing(`{"Status":"Paid"}`), deadletter.Update, later)
	require.Nil(t, invalid, "renamed back")

	_, invalid = s.Validate(thing(`{"Status":"Paid"}`), deadletter.Update, now)
	require.NotNil(t, invalid, "with no memory the nearest name is shown")
	require.Contains(t, invalid.Errors[0].Detail, `no field "Status" in table Things; the nearest is "Sta`)

	blank := changed("Things", func(f *airtable.Field) {
		if f.Name == "Status" {
			f.Name = "Status "
		}
	})
	_, invalid = s.Validate(thing(`{"Status":"Paid"}`), deadletter.Update, blank)
	require.Equal(t, `no field "Status" in table Things; the nearest is "Status·", which differs only in blanks (· is a blank, ⍽ a no-break blank)`, invalid.Errors[0].Detail)

	gone := changed("Things", func(f *airtable.Field) {
		if f.Name == "Status" {
			*f = airtable.Field{ID: "fldOther", Name: "Other", Type: "number"}
		}
	})
	_, invalid = s.Validate(thing(`{"Status":"Paid"}`), deadletter.Update, gone.After(schema()))
	require.Equal(t, `no field "Status" in table Things; field fldStatus was deleted`, invalid.Errors[0].Detail)
}

func TestB45NothingToWrite(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{"", " \n", `{}`, `{"fields":{}}`, `{"id":"T-1","fields":{}}`, `{"id":"T-1","fields":null}`, `[]`, `null`, `"x"`, `7`, `{"id":"T-1","fields":{"Other":1}}`} {
		_, invalid := source(t, "things").Validate([]byte(payload), deadletter.Update, schema())
		require.NotNil(t, invalid, payload)
		require.Equal(t, deadletter.ReasonValidationFailed, invalid.Reason, payload)
		require.Contains(t, invalid.Errors[0].Detail, "nothing to write", payload)
	}
	require.Contains(t, source(t, "things").Identify(nil).Problem.Detail, "nothing to write")
}

// B116: keys are any text; what no column can hold is refused, never mangled.
func TestB116ArbitraryKeysSurvive(t *testing.T) {
	t.Parallel()
	s := source(t, "things")
	random := rand.New(rand.NewPCG(1, 116))
	for range 200 {
		runes := make([]rune, 1+random.IntN(40))
		for i := range runes {
			for runes[i] == 0 || runes[i] >= 0xD800 && runes[i] <= 0xDFFF {
				runes[i] = rune(random.IntN(0x110000))
			}
		}
		key := string(runes)
		encoded, err := json.Marshal(map[string]any{"id": key, "at": "2026-10-04T08:00:00Z"})
		require.NoError(t, err)
		identity := s.Identify(encoded)
		require.Nil(t, identity.Problem, "%q", key)
		require.Equal(t, key, identity.TargetID)
	}
	for _, payload := range []string{"{\"id\":\"a\xffb\"}", `{"id":"a\ud800b"}`, `{"id":"a\u0000b"}`, `{"id":"` + strings.Repeat("x", 1025) + `"}`} {
		identity := s.Identify([]byte(payload))
		require.Empty(t, identity.TargetID, payload)
		require.NotNil(t, identity.Problem, payload)
	}
}
