package pipeline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/pipeline"
)

// order is a payload of the source orders that passes, with one of its members replaced.
func order(member, value string) []byte {
	members := map[string]string{
		"status": `"Shipped"`, "delivery_date": `"2026-10-05"`, "qty": `3`, "active": `true`, "tags": `["a"]`, "account": `"ACC-1"`,
	}
	members[member] = value
	text := `{"updated_at":"2026-10-04T08:00:00Z","order":{"id":"O-1"`
	for name, value := range members {
		if value != "" {
			text += `,"` + name + `":` + value
		}
	}
	return []byte(text + `}}`)
}

func TestRulesOnTypedValues(t *testing.T) {
	t.Parallel()
	s := source(t, "orders")
	for member, values := range map[string]struct{ good, bad map[string]string }{
		"status": {
			good: map[string]string{`"Pending"`: ""},
			bad:  map[string]string{`null`: "required", ``: "required", `"Lost"`: "oneof", `""`: "type"},
		},
		"delivery_date": {good: map[string]string{`null`: "", ``: "", `"2026-01-01"`: ""}, bad: map[string]string{`"2026-1-1"`: "type"}},
		"qty":           {good: map[string]string{`1`: "", `1.5`: "", `9e14`: ""}, bad: map[string]string{`0`: "min", `-1`: "min", `0.5`: "min", `null`: "required", ``: "required", `"2"`: "type"}},
		"active":        {good: map[string]string{`false`: "", `true`: ""}, bad: map[string]string{`null`: "required", ``: "required"}},
		"tags":          {good: map[string]string{`["a","b"]`: ""}, bad: map[string]string{`["a","b","c"]`: "max", `["long"]`: "max", `[]`: "required", `null`: "required", ``: "required"}},
		"account":       {good: map[string]string{`"ACC-2"`: ""}, bad: map[string]string{`"X-2"`: "startswith", `null`: "required", `[]`: "required", ``: "required", `""`: "type"}},
	} {
		for value := range values.good {
			_, invalid := s.Validate(order(member, value), deadletter.Upsert, schema())
			require.Nil(t, invalid, "%s %s: %+v", member, value, invalid)
		}
		for value, rule := range values.bad {
			_, invalid := s.Validate(order(member, value), deadletter.Update, schema())
			require.NotNil(t, invalid, "%s %s", member, value)
			require.Len(t, invalid.Errors, 1)
			require.Equal(t, rule, invalid.Errors[0].Rule, "%s %s", member, value)
			if rule != "type" {
				require.Equal(t, deadletter.ReasonValidationFailed, invalid.Reason)
			}
		}
	}
}

func TestRuleComplaints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ member, value, want string }{
		{"status", `"Lost"`, `Status: the text "Lost" is none of: Pending Shipped Delivered`},
		{"status", ``, `Status: is required, and the payload has nothing at order.status`},
		{"status", `null`, `Status: is required and cannot be cleared`},
		{"qty", `0`, `Qty: the number 0 breaks the rule min=1`},
		{"tags", `["a","long"]`, `Tags: the element [1] breaks the rule max=3`},
	} {
		_, invalid := source(t, "orders").Validate(order(c.member, c.value), deadletter.Update, schema())
		require.NotNil(t, invalid)
		require.Equal(t, c.want, invalid.Problem().Detail)
	}
}

// Rules that panic on a type (R7) become a fault, not a crash.
func TestRuleThatDoesNotSuitTheType(t *testing.T) {
	t.Parallel()
	_, invalid := source(t, "order-changes").Validate([]byte(`{"rev":1,"order":{"id":"O-1","weight":12}}`), deadletter.Update, schema())
	require.NotNil(t, invalid)
	require.Equal(t, deadletter.ReasonValidationFailed, invalid.Reason)
	require.Equal(t, "rules", invalid.Errors[0].Rule)
	require.Contains(t, invalid.Errors[0].Detail, "mend them in the configuration")
}

func TestRequiredFieldsOfChangedFieldsSenders(t *testing.T) {
	t.Parallel()
	s := source(t, "order-changes")
	payload := []byte(`{"rev":7,"order":{"id":"O-1","delivery_date":"2026-10-05"}}`)
	for _, op := range []deadletter.Operation{deadletter.Update, deadletter.Upsert} {
		w, invalid := s.Validate(payload, op, schema())
		require.Nil(t, invalid, "an absent field is not touched")
		require.Equal(t, map[string]any{"Delivery Date": "2026-10-05"}, w.Fields)
		create := w.CreateFault()
		if op == deadletter.Update {
			require.Nil(t, create)
			continue
		}
		require.NotNil(t, create)
		require.Equal(t, deadletter.ReasonValidationFailed, create.Reason)
		var fields []string
		for _, e := range create.Errors {
			require.Equal(t, "required", e.Rule)
			fields = append(fields, e.Field)
		}
		require.Equal(t, []string{"Account", "Active", "Qty", "Status", "Tags"}, fields)
	}
	_, invalid := s.Validate([]byte(`{"rev":7,"order":{"id":"O-1","status":null}}`), deadletter.Update, schema())
	require.NotNil(t, invalid, "clearing a required field is a fault of any sender")
	require.Equal(t, []pipeline.FieldError{{Field: "Status", Rule: "required", Detail: "is required and cannot be cleared"}}, invalid.Errors)

	w, invalid := source(t, "orders").Validate(order("status", `"Shipped"`), deadletter.Upsert, schema())
	require.Nil(t, invalid)
	require.Nil(t, w.CreateFault())
}
