package config

import (
	"net/url"
	"strings"

	"airtable-replay/internal/deadletter"
)

func (c *checker) checkSources() {
	for _, name := range sortedKeys(c.file.Sources) {
		s, at := c.file.Sources[name], keyPath{"sources", name}
		if s.Sends != "" && s.Sends != deadletter.SendsFull && s.Sends != deadletter.SendsChangedFields {
			c.fault(at.sub("sends"), "%q is neither full nor changed_fields", s.Sends)
		}
		if s.Fields != nil && len(s.Fields) == 0 {
			c.fault(at.sub("fields"), "names no field to write")
		}
		if s.Reextract != nil {
			c.checkReextract(at.sub("reextract", "url"), s.Reextract.URL)
		}
		t := c.file.Targets[s.Target]
		if t == nil {
			if s.Target != "" {
				c.fault(at.sub("target"), "%q is not under targets", s.Target)
			}
			continue
		}
		for _, field := range sortedKeys(s.Fields) {
			if t.Fields[field] == nil {
				c.fault(at.sub("fields", field), "is not under targets.%s.fields", s.Target)
			}
		}
		if s.ID.SHA256 && !t.AppendOnly {
			c.fault(at.sub("id"), "{sha256: payload} is for targets with append_only: true; a record that changes needs the sender's ID")
		}
		c.checkSourceVersion(at, s)
	}
	c.checkClocks()
}

func (c *checker) checkSourceVersion(at keyPath, s *Source) {
	if s.VersionField != nil {
		c.checkVersion(at.sub("version_field"), &s.VersionField.Version)
	}
	if s.Version == nil {
		if s.Tie != nil {
			c.fault(at.sub("tie_break"), "has no version to stand beside; give version, too")
		}
		if s.VersionField != nil {
			c.fault(at.sub("version_field"), "has no version to hold; give version, the path of it in the payload")
		}
		return
	}
	v := c.file.VersionOf(s)
	switch {
	case v == nil:
		c.fault(at.sub("version"), "has nowhere to go; give targets.%s.version or version_field", s.Target)
	case s.Tie != nil && v.TieBreak == nil:
		c.fault(at.sub("tie_break"), "has nowhere to go; give targets.%s.version.tie_break or write version_field: {field: …, tie_break: {field: …}}", s.Target)
	case s.Tie == nil && v.TieBreak != nil:
		c.fault(at.sub("version"), "the version field %s has a tie_break; give the path of it, tie_break", v.Field)
	}
}

// checkClocks refuses two sources whose versions would overwrite and be compared with each other
// (mission C1), unless the target says that they share one clock.
func (c *checker) checkClocks() {
	type place struct{ target, field string }
	type use struct {
		source string
		shared bool
	}
	taken := map[place]use{}
	for _, name := range sortedKeys(c.file.Sources) {
		s := c.file.Sources[name]
		v := c.file.VersionOf(s)
		if v == nil {
			continue
		}
		fields := []string{v.Field}
		if v.TieBreak != nil {
			fields = append(fields, v.TieBreak.Field)
		}
		for _, field := range fields {
			at := place{s.Target, field}
			if other, ok := taken[at]; ok && !(other.shared && v.Shared) {
				c.fault(keyPath{"sources", name}, "writes its version to %s, as %s does; give each source a version_field of its own, or say shared: true in targets.%s.version if they keep one clock", field, other.source, s.Target)
				break
			}
			taken[at] = use{name, v.Shared}
		}
	}
}

func (c *checker) checkReextract(at keyPath, address string) {
	if address == "" {
		return
	}
	if !strings.Contains(address, "{id}") {
		c.fault(at, "has no {id} in it, which stands for the sender's ID")
	}
	filled := strings.ReplaceAll(address, "{id}", "id")
	c.checkURL(at, &filled)
	if u, err := url.Parse(filled); err == nil && strings.Contains(address, "{id}") && !strings.Contains(u.Path+u.RawQuery, "id") {
		c.fault(at, "has {id} outside of path and query")
	}
}
