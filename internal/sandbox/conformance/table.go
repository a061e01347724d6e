package conformance

import "fmt"

// Field is one column that the exchanges need.
type Field struct {
	// Name and Type are as in Airtable's schema.
	Name, Type string
	// Config is the rest of the field in the sandbox's seed, and how to set it up by hand.
	Config string
}

// Fields are those of the table, in order; the first is the primary one.
var Fields = []Field{
	{"Name", "singleLineText", ""},
	{"Notes", "multilineText", ""},
	{"Story", "richText", ""},
	{"Mail", "email", ""},
	{"Site", "url", ""},
	{"Phone", "phoneNumber", ""},
	{"Qty", "number", ""},
	{"Price", "currency", ""},
	{"Share", "percent", ""},
	{"Wait", "duration", ""},
	{"Stars", "rating", "max: 5"},
	{"Done", "checkbox", ""},
	{"Kind", "singleSelect", "choices: [red, green, blue]"},
	{"Kinds", "multipleSelects", "choices: [red, green, blue]"},
	{"Day", "date", ""},
	{"Instant", "dateTime", ""},
	{"Code", "barcode", ""},
	{"Friends", "multipleRecordLinks", "linked_table: Conformance, inverse: Befriended"},
	{"Befriended", "multipleRecordLinks", "linked_table: Conformance, inverse: Friends"},
	{"Friends Held", "count", "link: Friends"},
	{"Label", "formula", `formula: "{Name} & '!'"`},
	{"Faulty", "formula", `formula: "ERROR()"`},
	{"Nothing Over Nothing", "formula", `formula: "({Qty}-{Qty})/({Qty}-{Qty})"`},
	{"Number", "autoNumber", ""},
	{"Created", "createdTime", ""},
	{"Changed", "lastModifiedTime", ""},
	{"Qty Changed", "lastModifiedTime", "watches: [Qty]"},
	{"Open", "button", "label: Open"},
}

// Seed is a sandbox with such a table, as a seed file.
func Seed(base, token string) string {
	out := fmt.Sprintf("bases:\n  - id: %s\n    tokens: [%s]\n    tables:\n      - name: Conformance\n        fields:\n", base, token)
	for _, f := range Fields {
		config := f.Config
		if config != "" {
			config = ", " + config
		}
		out += fmt.Sprintf("          - {name: %s, type: %s%s}\n", f.Name, f.Type, config)
	}
	return out
}
