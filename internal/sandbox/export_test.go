package sandbox

// Knobs are the page's switches, by option name: kind and choices.
func Knobs() map[string][]string {
	out := map[string][]string{}
	for _, group := range knobs {
		for _, k := range group.Knobs {
			if out[k.Name] != nil {
				panic(k.Name + " stands on the page twice")
			}
			out[k.Name] = append([]string{k.Kind}, k.Choices...)
		}
	}
	return out
}
