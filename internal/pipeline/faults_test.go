package pipeline_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/pipeline"
)

func TestFaultsOfABase(t *testing.T) {
	t.Parallel()
	b := book(t)
	list := func(s *pipeline.Schema) []string {
		var lines []string
		for _, f := range b.Faults("main", s) {
			lines = append(lines, fmt.Sprintf("%s/%s/%s: %s", f.Target, f.Field, f.Rule, f.Detail))
		}
		return lines
	}
	// The fixture has fields that cannot be written, and a rule for dates on a number.
	standing := []string{
		`Orders/Weight/rules: the rules "omitempty,datetime=2006-01-02" suit no value of a number field`,
		`Things/Created/computed: is a createdTime field, which Airtable computes; take it out of the source's fields`,
		`Things/From Order/computed: is a multipleLookupValues field, which Airtable computes; take it out of the source's fields`,
		`Things/Full Name/computed: is a formula field, which Airtable computes; take it out of the source's fields`,
		`Things/Odd/computed: is of the type hologram, which this service does not know how to write`,
	}
	require.Equal(t, standing, list(schema()))
	require.Empty(t, b.Faults("other", schema()))

	broken := changed("Orders", func(f *airtable.Field) {
		switch f.Name {
		case "Source Updated At", "Status":
			f.Name += " (old)"
		case "Account":
			f.Options.LinkedTableID = "tblOrders000000001"
		}
	})
	got := list(broken)
	require.Contains(t, got, `Orders/Source Updated At/exists: no field "Source Updated At" in table Orders; the nearest is "Source Updated At (old)"`)
	require.Contains(t, got, `Orders/Account/exists: is no link to the table "Accounts", as link: Accounts says; it is a multipleRecordLinks field`)
	require.Len(t, got, len(standing)+3, "each once, though two sources feed the target")

	all := tables()
	all[3].Name = "Renamed"
	require.Contains(t, list(pipeline.NewSchema(all)), `Numbers//exists: no table "Numbers" in the base main`)
}
