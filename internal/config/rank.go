package config

import "slices"

// dependencies lists the targets that have to be written before the named one: those it depends on
// and those it links to. Unknown ones and the target itself are left out.
func (f *File) dependencies(name string) []string {
	t := f.Targets[name]
	if t == nil {
		return nil
	}
	found := slices.Clone(t.DependsOn)
	for _, field := range sortedKeys(t.Fields) {
		if link := t.Fields[field].Link; link != name {
			found = append(found, link)
		}
	}
	found = slices.DeleteFunc(found, func(dep string) bool { return f.Targets[dep] == nil })
	slices.Sort(found)
	return slices.Compact(found)
}

// Rank is a target's place in the order of dependencies: 0 when it depends on no other, else one
// more than the highest of those it depends on or links to (mission B2).
func (f *File) Rank(target string) int {
	rank := 0
	for _, dep := range f.dependencies(target) {
		rank = max(rank, f.Rank(dep)+1)
	}
	return rank
}
