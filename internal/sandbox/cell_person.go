package sandbox

// writePerson takes {id} or {email}. Where the seed names the base's people it
// must be one of them.
func writePerson(w *writer, f *field, v any) (any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, cannotAccept(f)
	}
	id, _ := m["id"].(string)
	email, _ := m["email"].(string)
	for _, p := range w.base.people {
		if (id != "" && p.ID == id) || (id == "" && email != "" && p.Email == email) {
			return p, nil
		}
	}
	if len(w.base.people) > 0 {
		return nil, cannotAccept(f)
	}
	switch {
	case prefixedID("usr", id):
		return person{ID: id, Email: email}, nil
	case id == "" && email != "":
		return person{ID: fixedID("usr", email), Email: email}, nil
	}
	return nil, cannotAccept(f)
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
		p, err := writePerson(w, f, item)
		if err != nil {
			return nil, err
		}
		people = append(people, p.(person))
	}
	if len(people) == 0 {
		return nil, nil
	}
	return people, nil
}

func nativePerson(_ *reader, _ *field, v any) any { return v.(person).label() }

func nativePeople(_ *reader, _ *field, v any) any {
	var names []any
	for _, p := range v.([]person) {
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
