package sandbox

func writePerson(w *writer, f *field, v any) (any, error) {
	p, ok := w.person(v)
	if !ok {
		return nil, cannotAccept(f)
	}
	return p, nil
}

// person takes {id} or {email}. Where the seed names the base's people it must
// be one of them.
func (w *writer) person(v any) (person, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return person{}, false
	}
	id, _ := m["id"].(string)
	email, _ := m["email"].(string)
	for _, p := range w.base.people {
		if (id != "" && p.ID == id) || (id == "" && email != "" && p.Email == email) {
			return p, true
		}
	}
	switch {
	case len(w.base.people) > 0:
		return person{}, false
	case prefixedID("usr", id):
		return person{ID: id, Email: email}, true
	case id == "" && email != "":
		return person{ID: fixedID("usr", email), Email: email}, true
	}
	return person{}, false
}

// writePeople replaces the whole cell; bare ids are taken too, since the
// documented shapes differ.
func writePeople(w *writer, f *field, v any) (any, error) {
	items, ok := v.([]any)
	if !ok {
		return nil, cannotAccept(f)
	}
	var people []person
	for _, item := range items {
		if id, ok := item.(string); ok {
			item = map[string]any{"id": id}
		}
		p, ok := w.person(item)
		if !ok {
			return nil, cannotAccept(f)
		}
		people = append(people, p)
	}
	if len(people) == 0 {
		return nil, nil
	}
	return people, nil
}

func nativePerson(_ *reader, _ *field, v any) any {
	p, _ := v.(person)
	return p.label()
}

func nativePeople(_ *reader, _ *field, v any) any {
	people, _ := v.([]person)
	var names []any
	for _, p := range people {
		names = append(names, p.label())
	}
	return names
}

// label is how a person reads in a formula.
func (p person) label() string {
	switch {
	case p.Name != "":
		return p.Name
	case p.Email != "":
		return p.Email
	}
	return p.ID
}
