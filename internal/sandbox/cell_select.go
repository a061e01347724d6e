package sandbox

import "fmt"

// writeSelect takes an option by its exact name. Letter case and spaces count.
func writeSelect(w *writer, f *field, v any) (any, error) {
	name, ok := v.(string)
	if !ok && w.typecast {
		name, ok = scalarText(v)
	}
	if !ok {
		return nil, cannotAccept(f)
	}
	if name == "" && w.typecast {
		return nil, nil
	}
	return w.option(f, name)
}

// writeSelects replaces the whole cell.
func writeSelects(w *writer, f *field, v any) (any, error) {
	items, ok := v.([]any)
	if !ok && w.typecast {
		items, ok = []any{v}, true
	}
	if !ok {
		return nil, cannotAccept(f)
	}
	var ids []string
	seen := map[string]bool{}
	for _, item := range items {
		name, ok := item.(string)
		if !ok {
			return nil, cannotAccept(f)
		}
		id, err := w.option(f, name)
		if err != nil {
			return nil, err
		}
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return ids, nil
}

// option finds an option's ID; typecast makes one that is missing, which the
// plan keeps until the whole request is found valid.
func (w *writer) option(f *field, name string) (string, error) {
	if c := f.choice(name); c != nil {
		return c.ID, nil
	}
	for _, c := range w.plan.minted[f] {
		if c.Name == name {
			return c.ID, nil
		}
	}
	if !w.mayMint() {
		inner := fmt.Sprintf("\"%s\"", name)
		if w.options.SelectErrorQuotes == "double" {
			inner = fmt.Sprintf("\"%s\"", inner)
		}
		return "", unprocessable("INVALID_MULTIPLE_CHOICE_OPTIONS",
			"Insufficient permissions to create new select option %s", inner)
	}
	c := &choice{ID: newID("sel"), Name: name, Color: choiceColor(len(f.choices) + len(w.plan.minted[f]))}
	w.plan.minted[f] = append(w.plan.minted[f], c)
	return c.ID, nil
}

// choiceColor gives options Airtable's colours in turn.
func choiceColor(n int) string {
	colors := []string{"blueLight2", "cyanLight2", "tealLight2", "greenLight2", "yellowLight2",
		"orangeLight2", "redLight2", "pinkLight2", "purpleLight2", "grayLight2"}
	return colors[n%len(colors)]
}

func wireSelect(_ *reader, f *field, v any) any {
	id, _ := v.(string)
	if c := f.choiceByID(id); c != nil {
		return c.Name
	}
	return nil
}

func wireSelects(_ *reader, f *field, v any) any {
	ids, _ := v.([]string)
	var names []any
	for _, id := range ids {
		if c := f.choiceByID(id); c != nil {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return names
}
