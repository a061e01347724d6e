package sandbox

import (
	"fmt"
	"time"
)

// configure sets what a field has of its own: options, zone, links. The answer
// says what is wrong with it, "" for nothing.
func (f *field) configure(sf SeedField) string {
	if problem := f.refuseForeign(sf); problem != "" {
		return problem
	}
	f.dateish = sf.Result == "date"
	f.max = sf.Max
	if f.max == 0 {
		f.max = 5
	}
	if sf.Label != "" {
		f.config["label"] = sf.Label
	}
	switch {
	case f.is("singleSelect", "multipleSelects"):
		return f.setChoices(sf.Choices)
	case f.is("dateTime"):
		return f.setZone(sf.TimeZone)
	case f.is("multipleRecordLinks"):
		return f.connect(sf.LinkedTable, sf.Inverse)
	}
	return ""
}

// refuseForeign names a setting that means nothing for the field's type.
func (f *field) refuseForeign(sf SeedField) string {
	for _, setting := range []struct {
		name  string
		given bool
		types []string
	}{
		{"choices", sf.Choices != nil, []string{"singleSelect", "multipleSelects"}},
		{"linked_table", sf.LinkedTable != "", []string{"multipleRecordLinks"}},
		{"inverse", sf.Inverse != "", []string{"multipleRecordLinks"}},
		{"watches", sf.Watches != nil, []string{"lastModifiedTime", "lastModifiedBy"}},
		{"link", sf.Link != "", []string{"multipleLookupValues", "rollup", "count"}},
		{"field", sf.Field != "", []string{"multipleLookupValues", "rollup"}},
		{"formula", sf.Formula != "", []string{"formula", "rollup", "button"}},
		{"label", sf.Label != "", []string{"button"}},
		{"time_zone", sf.TimeZone != "", []string{"dateTime"}},
		{"result", sf.Result != "", []string{"createdTime", "lastModifiedTime"}},
		{"max", sf.Max != 0, []string{"rating"}},
	} {
		if setting.given && !f.is(setting.types...) {
			return fmt.Sprintf("%s means nothing for a field of type %s", setting.name, f.kind.name)
		}
	}
	if sf.Result != "" && sf.Result != "date" && sf.Result != "dateTime" {
		return fmt.Sprintf("result %q is neither date nor dateTime", sf.Result)
	}
	return ""
}

func (f *field) setChoices(names []string) string {
	for i, name := range names {
		if f.choice(name) != nil {
			return fmt.Sprintf("choices: %q is there twice", name)
		}
		f.choices = append(f.choices, &choice{ID: fixedID("sel", f.id, name), Name: name, Color: choiceColor(i)})
	}
	return ""
}

func (f *field) setZone(name string) string {
	f.zone = time.UTC
	if name == "" || name == "utc" || name == "client" {
		return ""
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return fmt.Sprintf("time_zone: %q is unknown", name)
	}
	f.zone = zone
	f.config["timeZone"] = name
	return ""
}

// connect points a link at its table and pairs it with the field that mirrors
// it, which is made when it is not there.
func (f *field) connect(tableName, inverse string) string {
	f.linked = f.table.base.table(tableName)
	if f.linked == nil {
		return fmt.Sprintf("linked_table: there is no table %q", tableName)
	}
	if inverse == "" || f.inverse != nil {
		return ""
	}
	other := f.linked.field(inverse)
	if other == nil {
		other = f.linked.addField("", inverse, f.kind)
	}
	if !other.is("multipleRecordLinks") || other == f || (other.linked != nil && other.linked != f.table) {
		return fmt.Sprintf("inverse: %q is no link from %s to %s", inverse, f.linked.name, f.table.name)
	}
	other.linked, other.inverse, f.inverse = f.table, f, other
	return ""
}

// bind resolves what a computed field refers to, once all fields are there.
func (f *field) bind(sf SeedField, o Options) string {
	t := f.table
	for _, name := range sf.Watches {
		w := t.field(name)
		if w == nil {
			return fmt.Sprintf("watches: there is no field %q", name)
		}
		if w.kind.computed {
			return fmt.Sprintf("watches: %q is computed; only editable fields can be watched", name)
		}
		f.watches = append(f.watches, w)
	}
	if f.is("multipleLookupValues", "rollup", "count") {
		if problem := f.follow(sf); problem != "" {
			return problem
		}
	}
	if sf.Formula == "" {
		if f.is("formula", "rollup") {
			return "formula: is needed"
		}
		return ""
	}
	var free []string
	if f.is("rollup") {
		free = []string{"values"}
	}
	code, complaint := t.compile(sf.Formula, o.formula(), free...)
	if complaint != "" {
		return "formula: " + complaint
	}
	f.code = code
	return ""
}

func (f *field) follow(sf SeedField) string {
	f.via = f.table.field(sf.Link)
	if f.via == nil || !f.via.is("multipleRecordLinks") {
		return fmt.Sprintf("link: %q is no link field of %s", sf.Link, f.table.name)
	}
	if f.is("count") {
		return ""
	}
	if f.target = f.via.linked.field(sf.Field); f.target == nil {
		return fmt.Sprintf("field: %s has no field %q", f.via.linked.name, sf.Field)
	}
	return ""
}
