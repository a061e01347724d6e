package sandbox

import (
	"slices"
	"strings"
)

// writeLinks replaces the linked records. They are named by record ID;
// typecast also takes the text of the primary field and creates what is missing.
func writeLinks(w *writer, f *field, v any) (any, error) {
	items, ok := v.([]any)
	if text, isText := v.(string); isText && w.typecast {
		items, ok = nil, true
		for part := range strings.SplitSeq(text, ",") {
			items = append(items, strings.TrimSpace(part))
		}
	}
	if !ok {
		return nil, notRecordIDs()
	}
	var ids []string
	for _, item := range items {
		ref, ok := item.(string)
		if !ok {
			return nil, notRecordIDs()
		}
		id, err := w.link(f, ref)
		if err != nil {
			return nil, err
		}
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return ids, nil
}

func notRecordIDs() *apiError { return invalidValue("Value is not an array of record IDs.") }

func (w *writer) link(f *field, ref string) (string, error) {
	if f.linked.byID[ref] != nil {
		return ref, nil
	}
	if !w.typecast {
		if !prefixedID("rec", ref) {
			return "", notRecordIDs()
		}
		return "", rowMissing(ref)
	}
	if shapedID("rec", ref) {
		return "", rowMissing(ref)
	}
	if ref == "" {
		return "", nil
	}
	if r := w.base.reader(w.plan.now).byPrimary(f.linked, ref); r != nil {
		return r.id, nil
	}
	return w.plan.mintRecord(w, f.linked, ref)
}

// byPrimary finds the first record whose primary field reads as text.
func (rd *reader) byPrimary(t *table, text string) *record {
	if t.primary.texty() {
		for _, r := range t.indexed(t.primary).find(text) {
			return r
		}
		return nil
	}
	for _, r := range t.records {
		if rd.text(r, t.primary) == text {
			return r
		}
	}
	return nil
}

func nativeLinks(rd *reader, f *field, v any) any {
	ids, _ := v.([]string)
	var names []any
	for _, id := range ids {
		if r := f.linked.byID[id]; r != nil {
			names = append(names, rd.deeper().title(f.linked, r))
		}
	}
	return names
}

// title is what a linked record is shown as.
func (rd *reader) title(t *table, r *record) string {
	if name := rd.text(r, t.primary); name != "" {
		return name
	}
	return "Unnamed record"
}
