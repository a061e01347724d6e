package sandbox

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
)

// outline is what webhooks tell of a base's schema: its tables by ID.
type outline map[string]tableOutline

type tableOutline struct {
	Metadata tableInfo
	Fields   map[string]fieldInfo
}

type tableInfo struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// fieldInfo leaves out of the payload what only says that a field changed.
type fieldInfo struct {
	Name        string         `json:"name"`
	Type        string         `json:"type"`
	Description string         `json:"-"`
	Options     map[string]any `json:"-"`
}

func (b *base) outline() outline {
	out := outline{}
	for _, t := range b.tables {
		to := tableOutline{Metadata: tableInfo{t.name, t.desc}, Fields: map[string]fieldInfo{}}
		for _, f := range t.fields {
			to.Fields[f.id] = fieldInfo{f.name, f.kind.name, f.desc, maps.Clone(f.options())}
			if choices, ok := to.Fields[f.id].Options["choices"].([]*choice); ok {
				to.Fields[f.id].Options["choices"] = slices.Clone(choices)
			}
		}
		out[t.id] = to
	}
	return out
}

// reshapes takes down the schema before the commit changes it; finish tells
// the webhooks what has become different.
func (c *commit) reshapes() {
	if c.before == nil {
		c.before = c.base.outline()
	}
}

// schemaChange is the difference of two outlines.
type schemaChange struct {
	created, destroyed []string // tables
	tables             map[string]tableReshape
	after              outline
}

type tableReshape struct {
	before, after      tableOutline
	created, destroyed []string // fields
	changed            []string
}

func (s *schemaChange) none() bool {
	return s == nil || len(s.created)+len(s.destroyed)+len(s.tables) == 0
}

func (o outline) until(after outline) *schemaChange {
	s := &schemaChange{tables: map[string]tableReshape{}, after: after}
	s.created, s.destroyed = news(o, after), news(after, o)
	for id, now := range after {
		before, ok := o[id]
		if !ok {
			continue
		}
		r := tableReshape{before: before, after: now, created: news(before.Fields, now.Fields), destroyed: news(now.Fields, before.Fields)}
		for field, info := range now.Fields {
			if old, known := before.Fields[field]; known && !reflect.DeepEqual(old, info) {
				r.changed = append(r.changed, field)
			}
		}
		if before.Metadata != now.Metadata || len(r.created)+len(r.destroyed)+len(r.changed) > 0 {
			s.tables[id] = r
		}
	}
	return s
}

// news are the keys that only the second map has, sorted.
func news[K cmp.Ordered, V any](before, after map[K]V) []K {
	var keys []K
	for key := range after {
		if _, known := before[key]; !known {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
