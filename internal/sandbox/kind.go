package sandbox

// kind is a field type: what may be written into its cells, and how a cell
// reads on the wire and in a formula.
type kind struct {
	name     string
	computed bool
	// createRefused marks what the schema API will not create.
	createRefused bool
	// write turns a JSON value into what is stored; nil stores an empty cell.
	// It is never called for null, which clears every type.
	write func(w *writer, f *field, v any) (any, error)
	// wire turns what is stored into JSON; without it, it stands as it is.
	wire func(rd *reader, f *field, v any) any
	// native turns it into a value of the formula language; without it, as wire.
	native func(rd *reader, f *field, v any) any
	// compute gives a computed field's value in the formula language.
	compute func(rd *reader, r *record, f *field) any
}

// kinds are all field types by the name the API gives them.
var kinds map[string]*kind

func init() {
	kinds = map[string]*kind{}
	for _, k := range []*kind{
		{name: "singleLineText", write: writeText},
		{name: "multilineText", write: writeText},
		{name: "email", write: writeText},
		{name: "url", write: writeText},
		{name: "phoneNumber", write: writeText},
		{name: "richText", write: writeRichText},
		{name: "number", write: writeNumber},
		{name: "currency", write: writeNumber},
		{name: "percent", write: writeNumber},
		{name: "duration", write: writeNumber},
		{name: "rating", write: writeRating},
		{name: "checkbox", write: writeCheckbox},
		{name: "singleSelect", write: writeSelect, wire: wireSelect},
		{name: "multipleSelects", write: writeSelects, wire: wireSelects},
		{name: "date", write: writeDate, native: nativeDate},
		{name: "dateTime", write: writeDateTime, native: nativeDateTime},
		{name: "singleCollaborator", write: writePerson, native: nativePerson},
		{name: "multipleCollaborators", write: writePeople, native: nativePeople},
		{name: "multipleRecordLinks", write: writeLinks, native: nativeLinks},
		{name: "multipleAttachments", write: writeAttachments, wire: wireAttachments, native: nativeAttachments},
		{name: "barcode", write: writeBarcode, native: nativeBarcode},

		{name: "formula", computed: true, createRefused: true, compute: computeFormula},
		{name: "rollup", computed: true, createRefused: true, compute: computeRollup},
		{name: "multipleLookupValues", computed: true, createRefused: true, compute: computeLookup},
		{name: "count", computed: true, createRefused: true, compute: computeCount},
		{name: "autoNumber", computed: true, createRefused: true, compute: computeAutoNumber},
		{name: "createdTime", computed: true, createRefused: true, compute: computeCreatedTime},
		{name: "lastModifiedTime", computed: true, createRefused: true, compute: computeModifiedTime},
		{name: "createdBy", computed: true, createRefused: true, compute: computeCreatedBy},
		{name: "lastModifiedBy", computed: true, createRefused: true, compute: computeModifiedBy},
		{name: "button", computed: true, createRefused: true, compute: computeButton},
		{name: "aiText", computed: true, createRefused: true, compute: computeNothing},
		{name: "externalSyncSource", computed: true, createRefused: true, compute: computeNothing},
		{name: "manualSort", computed: true, createRefused: true, compute: computeNothing},
	} {
		kinds[k.name] = k
	}
	kinds["lookup"] = kinds["multipleLookupValues"]
}

// is says whether the field is of one of the named types.
func (f *field) is(names ...string) bool {
	for _, name := range names {
		if f.kind.name == name {
			return true
		}
	}
	return false
}

// texty says whether a cell of the field holds plain text, which a formula
// compares letter by letter.
func (f *field) texty() bool {
	return f.is("singleLineText", "multilineText", "email", "url", "phoneNumber")
}

// writer turns the values of one request into cells.
type writer struct {
	options  Options
	base     *base
	role     role // of who writes
	typecast bool
	plan     *plan
	current  any // the cell as it stands
}

// cell validates a written value.
func (w *writer) cell(f *field, current, v any) (any, error) {
	if f.kind.computed {
		return nil, computedValue(f)
	}
	if v == nil || (v == "" && f.is("richText")) {
		if f.is("richText") && current != nil && w.options.RichtextRewrite {
			return "\n", nil
		}
		return nil, nil
	}
	w.current = current
	return f.kind.write(w, f, v)
}
