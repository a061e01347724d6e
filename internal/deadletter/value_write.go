package deadletter

// Writable gives a value as it was read in the form in which Airtable takes it. Attachments that were
// replaced are gone: the addresses of their files have expired.
func Writable(kind FieldKind, read any) (value any, ok bool) {
	if blank(kind, read) {
		return nil, true
	}
	switch kind {
	case KindAttachments, KindComputed, KindLookup:
		return nil, false
	case KindSelect:
		return textCell(optionName(read))
	case KindCollaborator:
		return personCell(read)
	case KindMultiSelect:
		return textsCell(parts(read, optionName))
	case KindLinks:
		return textsCell(parts(read, linkID))
	case KindCollaborators:
		return peopleCell(read)
	case KindText, KindLongText, KindRichText, KindNumber, KindCheckbox, KindDate, KindDateTime, KindBarcode:
	}
	return read, true
}

func unwritable(kind FieldKind) string {
	if kind == KindAttachments {
		return "attachments that were replaced are gone, for the addresses of their files have expired"
	}
	return "its former value cannot be written"
}

func textCell(s string, ok bool) (any, bool) { return s, ok }

func textsCell(list []string, ok bool) (any, bool) {
	values := make([]any, len(list))
	for i, s := range list {
		values[i] = s
	}
	return values, ok
}

func personCell(v any) (any, bool) {
	id, email := person(v)
	switch {
	case id != "":
		return map[string]any{"id": id}, true
	case email != "":
		return map[string]any{"email": email}, true
	}
	return nil, false
}

func peopleCell(v any) (any, bool) {
	people, ok := list(v)
	cells := make([]any, len(people))
	for i, one := range people {
		cell, known := personCell(one)
		cells[i], ok = cell, ok && known
	}
	return cells, ok
}
