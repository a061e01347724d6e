package config

import (
	"slices"
	"strings"
	"time"

	"airtable-replay/internal/deadletter"
)

func (c *checker) checkTargets() {
	if c.file.Targets != nil && len(c.file.Targets) == 0 {
		c.fault(keyPath{"targets"}, "names no target")
	}
	byTable := map[[2]string]string{}
	for _, name := range sortedKeys(c.file.Targets) {
		t, at := c.file.Targets[name], keyPath{"targets", name}
		if t.Base != "" && c.file.Bases[t.Base] == nil {
			c.fault(at.sub("base"), "%q is not under bases", t.Base)
		}
		table := [2]string{t.Base, t.Table}
		if first, ok := byTable[table]; ok {
			c.fault(at.sub("table"), "%s of base %s is the table of the target %s already", t.Table, t.Base, first)
		} else {
			byTable[table] = name
		}
		if t.OnSharedChange != deadletter.Review && t.OnSharedChange != deadletter.Partial {
			c.fault(at.sub("on_shared_change"), "%q is neither review nor partial", t.OnSharedChange)
		}
		c.within(at.sub("margin"), t.Margin, 0, 24*time.Hour)
		if t.Version != nil {
			c.checkVersion(at.sub("version"), t.Version)
		}
		c.checkDependsOn(at, t)
		for _, field := range sortedKeys(t.Fields) {
			c.checkField(at.sub("fields", field), t, t.Fields[field])
		}
		c.checkRoles(at, t)
	}
}

func (c *checker) checkVersion(at keyPath, v *Version) {
	switch v.Kind {
	case deadletter.VersionTimestamp:
		if v.Text {
			c.fault(at.sub("text"), "is for kind number; timestamps go into text fields as they are")
		}
		if v.Precision == 0 {
			v.Precision = time.Millisecond
		}
		c.within(at.sub("precision"), v.Precision, time.Microsecond, 24*time.Hour)
	case deadletter.VersionNumber:
		if v.Precision != 0 {
			c.fault(at.sub("precision"), "is for kind timestamp; numbers compare exactly")
		}
		if v.TieBreak != nil {
			c.fault(at.sub("tie_break"), "is for kind timestamp; give the sender's number alone")
		}
	default:
		c.fault(at.sub("kind"), "%q is neither timestamp nor number", v.Kind)
	}
}

func (c *checker) checkDependsOn(at keyPath, t *Target) {
	for i, other := range t.DependsOn {
		switch dep := c.file.Targets[other]; {
		case dep == nil:
			c.fault(at.sub("depends_on"), "%q is not under targets", other)
		case dep.Base != t.Base:
			c.fault(at.sub("depends_on"), "%s is in the base %s; an order holds within one base only", other, dep.Base)
		case slices.Index(t.DependsOn, other) < i:
			c.fault(at.sub("depends_on"), "names %s twice", other)
		}
	}
}

func (c *checker) checkField(at keyPath, t *Target, f *Field) {
	if err := CheckRules(f.Rules); err != nil {
		c.fault(at.sub("rules"), "%v", err)
	}
	if f.MaxLength < 1 {
		c.fault(at.sub("max_length"), "is at least 1")
	}
	if f.Link == "" {
		return
	}
	switch other := c.file.Targets[f.Link]; {
	case other == nil:
		c.fault(at.sub("link"), "%q is not under targets", f.Link)
	case other == t:
		c.fault(at.sub("link"), "a target cannot link to itself, as there is no order in which its records could be written; send record IDs instead")
	case other.Base != t.Base:
		c.fault(at.sub("link"), "%s is in the base %s; links stay within one base", f.Link, other.Base)
	}
}

// checkRoles refuses a field that plays two parts: payloads would overwrite what the checks rely on.
func (c *checker) checkRoles(at keyPath, t *Target) {
	roles := map[string]string{}
	take := func(field, role string, at keyPath) {
		if field == "" {
			return
		}
		if other, ok := roles[field]; ok && other != role {
			c.fault(at, "%s is %s already", field, other)
			return
		}
		roles[field] = role
		if t.Fields[field] != nil {
			c.fault(at, "%s is %s and a field of payloads at once; take it out of targets.%s.fields", field, role, t.Name)
		}
	}
	take(t.Key, "the key", at.sub("key"))
	takeVersion := func(v *Version, at keyPath) {
		take(v.Field, "a version field", at.sub("field"))
		if v.TieBreak != nil {
			take(v.TieBreak.Field, "a tie-break field", at.sub("tie_break", "field"))
		}
	}
	if t.Version != nil {
		takeVersion(t.Version, at.sub("version"))
	}
	take(t.Stamp, "the stamp", at.sub("stamp"))
	for _, name := range sortedKeys(t.Fields) {
		take(t.Fields[name].Shared, "a Last modified time field", at.sub("fields", name, "shared"))
	}
	for _, name := range sortedKeys(c.file.Sources) {
		if s := c.file.Sources[name]; s.Target == t.Name && s.VersionField != nil {
			takeVersion(&s.VersionField.Version, keyPath{"sources", name, "version_field"})
		}
	}
}

// checkCycles refuses dependencies that lead back to where they began; links depend, too.
func (c *checker) checkCycles() {
	seen := map[string]bool{}
	var walk func(name string, way []string)
	walk = func(name string, way []string) {
		if i := slices.Index(way, name); i >= 0 {
			c.fault(keyPath{"targets", name, "depends_on"}, "cycle: %s", strings.Join(append(way[i:], name), " → "))
			return
		}
		if seen[name] {
			return
		}
		seen[name] = true
		for _, next := range c.file.dependencies(name) {
			walk(next, append(slices.Clip(way), name))
		}
	}
	for _, name := range sortedKeys(c.file.Targets) {
		walk(name, nil)
	}
}
