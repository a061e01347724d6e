package doctor

import (
	"fmt"
	"slices"
	"strings"

	"airtable-replay/internal/airtable"
)

// checkGuards looks at what the guards watch beside their fields, which the pipeline does not mind: it
// errs on the side of review (mission C2).
func (c *check) checkGuards(t *targetCheck) {
	done := map[string]bool{}
	for _, name := range t.target.FieldNames() {
		guardName := t.target.Fields[name].Guard
		guard, ok := t.schema.Field(t.target.Table, guardName)
		if guardName == "" || !ok || guard.Type != "lastModifiedTime" || done[guardName] {
			continue
		}
		done[guardName] = true
		c.checkGuard(t, guard)
	}
}

func (c *check) checkGuard(t *targetCheck, guard airtable.Field) {
	wants := strings.Join(t.guarded(guard.Name), " and ")
	subject, fix := t.subject(guard.Name), t.mendGuard(guard.Name)
	o := guard.Options
	switch {
	case o.IsValid != nil && !*o.IsValid:
		c.add(AreaTarget, subject, Fault, "has lost the fields that it watches", fix)
	case o.Result != nil && o.Result.Type != "dateTime":
		c.add(AreaTarget, subject, Fault, "shows a day without a time, so every replay goes to review", fix)
	case len(o.ReferencedFieldIDs) == 0:
		c.add(AreaTarget, subject, Fault, fmt.Sprintf("watches every field of the table, so a change of any of them counts as an edit of %s by hand", wants), fix)
	case len(t.others(guard)) > 0:
		c.add(AreaTarget, subject, Warning, fmt.Sprintf("watches %s as well, whose changes count as edits of %s", strings.Join(t.others(guard), ", "), wants), fix)
	}
}

// others lists the fields that a guard watches without need.
func (t *targetCheck) others(guard airtable.Field) []string {
	wanted := t.guarded(guard.Name)
	var names []string
	for _, f := range t.table.Fields {
		if slices.Contains(guard.Options.ReferencedFieldIDs, f.ID) && !slices.Contains(wanted, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// checkChoices looks for values that the rules let pass and the select field does not have.
func (c *check) checkChoices(t *targetCheck) {
	for _, name := range t.target.FieldNames() {
		field, ok := t.schema.Field(t.target.Table, name)
		if !ok || field.Type != "singleSelect" && field.Type != "multipleSelects" {
			continue
		}
		var absent []string
		for _, value := range oneOf(t.target.Fields[name].Rules) {
			if !slices.ContainsFunc(field.Options.Choices, func(o airtable.Choice) bool { return o.Name == value }) {
				absent = append(absent, fmt.Sprintf("%q", value))
			}
		}
		if len(absent) > 0 {
			c.add(AreaTarget, t.subject(name), Warning, "has no option "+strings.Join(absent, ", ")+", which its rules let pass",
				"add the option in Airtable, spelled the same, or take it out of the rules")
		}
	}
}

// oneOf lists the values of a validator's oneof rule; those in single quotes may hold spaces.
func oneOf(rules string) []string {
	for _, rule := range strings.Split(rules, ",") {
		list, ok := strings.CutPrefix(rule, "oneof=")
		if !ok {
			continue
		}
		var values []string
		for i, part := range strings.Split(list, "'") {
			if i%2 == 1 {
				values = append(values, part)
			} else {
				values = append(values, strings.Fields(part)...)
			}
		}
		return values
	}
	return nil
}
