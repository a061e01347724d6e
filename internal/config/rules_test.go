package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/config"
)

func TestCheckRules(t *testing.T) {
	t.Parallel()
	for _, tags := range []string{
		"", "required", "required,oneof=Pending Shipped Delivered", "omitempty,datetime=2006-01-02", "min=1.5",
		"omitempty,min=0,max=100", "dive,required,max=20", "email|url", "eq=0x2C", "oneof='In Progress' Done", "gt=0",
		"unique", "len=2", "boolean", "iscolor", "startswith=ACC-", "omitempty,e164", "uuid4", "ne=0",
	} {
		require.NoError(t, config.CheckRules(tags), tags)
	}
	for tags, want := range map[string]string{
		"nosuch": "no such rule", "required,": "no such rule", "email,min=x": "not a number", "required_with=A": "another field",
		"excluded_if=A b": "another field", "image": "disk", "ip_addr": "network", "structonly": "structs", "email|eqfield=B": "another field",
		"dive,min=three": "not a number", "rgb|nosuch=1": "no such rule",
	} {
		require.ErrorContains(t, config.CheckRules(tags), want, tags)
	}
}
