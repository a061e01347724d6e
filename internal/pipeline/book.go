package pipeline

import (
	"fmt"
	"maps"
	"slices"

	"airtable-replay/internal/config"
)

// Book holds the targets and sources of a configuration. It does not change and is safe for
// concurrent use.
type Book struct {
	targets map[string]*Target
	sources map[string]*Source
	inOrder []*Target
}

// New makes the book of a loaded configuration. It errs where the configuration's parts do not fit
// together, which config.Load has refused already.
func New(file *config.File) (*Book, error) {
	b := &Book{targets: map[string]*Target{}, sources: map[string]*Source{}}
	for name, t := range file.Targets {
		b.targets[name] = newTarget(file, t)
	}
	for _, t := range b.targets {
		if err := t.connect(b.targets); err != nil {
			return nil, err
		}
	}
	for name, s := range file.Sources {
		t := b.targets[s.Target]
		if t == nil {
			return nil, fmt.Errorf("source %s: no target %q", name, s.Target)
		}
		b.sources[name] = newSource(file, s, t)
	}
	for _, name := range slices.Sorted(maps.Keys(b.sources)) {
		b.sources[name].Target.addVersionFields(b.sources[name])
	}
	b.inOrder = slices.SortedFunc(maps.Values(b.targets), byRank)
	return b, nil
}

// Source is the named source; false for a source that is not configured (reason unknown_source).
func (b *Book) Source(name string) (*Source, bool) {
	s, ok := b.sources[name]
	return s, ok
}

// Target is the named target.
func (b *Book) Target(name string) (*Target, bool) {
	t, ok := b.targets[name]
	return t, ok
}

// Targets lists all targets in the order of writing: by rank, then by name (mission B2).
func (b *Book) Targets() []*Target { return slices.Clone(b.inOrder) }

// TargetsOf lists the targets of one base in the order of writing.
func (b *Book) TargetsOf(base string) []*Target {
	return slices.DeleteFunc(b.Targets(), func(t *Target) bool { return t.Base != base })
}

// Sources lists all sources by name.
func (b *Book) Sources() []*Source {
	list := make([]*Source, 0, len(b.sources))
	for _, name := range slices.Sorted(maps.Keys(b.sources)) {
		list = append(list, b.sources[name])
	}
	return list
}

// Bases lists the names of the bases that targets write to.
func (b *Book) Bases() []string {
	var names []string
	for _, t := range b.inOrder {
		names = append(names, t.Base)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
