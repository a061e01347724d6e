package config

import (
	"fmt"
	"net/url"
	"strings"

	"airtable-replay/internal/deadletter"
)

// Source is how one sender's payload is read.
type Source struct {
	Name    string           `yaml:"-"`
	Target  string           `yaml:"target" required:"true"` // a key of targets
	Sends   deadletter.Sends `yaml:"sends" required:"true"`
	ID      KeyPath          `yaml:"id" required:"true"`
	Version *Path            `yaml:"version"`   // nil: the sender has no versions
	Tie     *Path            `yaml:"tie_break"` // nil: none
	// VersionField overrides the target's, for targets that several sources feed; nil: the target's.
	VersionField *OwnVersion      `yaml:"version_field"`
	Fields       map[string]*Path `yaml:"fields" required:"true"` // target field to path in the payload
	Reextract    *Reextract       `yaml:"reextract"`
}

// Reextract is where the sender's current state of one record can be fetched (mission C5).
type Reextract struct {
	URL   string `yaml:"url" required:"true" reference:"true"` // {id} stands for the sender's ID, escaped
	Token Secret `yaml:"token"`
}

// Address is the URL of one record's current state, the ID escaped for path and query alike. It errs
// for an ID that a URL cannot name.
func (r *Reextract) Address(id string) (string, error) {
	if id == "" || id == "." || id == ".." {
		return "", fmt.Errorf("re-extract address: the ID %q cannot stand in a URL", id)
	}
	escaped := strings.ReplaceAll(url.QueryEscape(id), "+", "%20")
	return strings.ReplaceAll(r.URL, "{id}", escaped), nil
}

// VersionOf is the version field that the source's versions go to: its own, else the target's; nil
// when the source has no versions.
func (f *File) VersionOf(s *Source) *Version {
	if s.Version == nil {
		return nil
	}
	t := f.Targets[s.Target]
	switch {
	case s.VersionField == nil && t == nil:
		return nil
	case s.VersionField == nil:
		return t.Version
	case s.VersionField.bare && t != nil && t.Version != nil:
		own := *t.Version
		own.Field, own.Shared = s.VersionField.Field, false
		if s.Tie == nil {
			own.TieBreak = nil
		}
		return &own
	}
	return &s.VersionField.Version
}
