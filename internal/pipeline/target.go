package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"airtable-replay/internal/config"
	"airtable-replay/internal/deadletter"
)

// Target is a table that is written, and the rules of its data. It is not to be changed.
type Target struct {
	Name              string
	Base              string // name of the base
	Table             string // name or ID, as the configuration writes it
	KeyField          string // holds the sender's ID of the record
	VersionField      string // default of its sources; empty: none
	TieField          string // empty: none
	Spec              deadletter.VersionSpec
	VersionText       bool   // the version field is a text field that holds numbers
	Stamp             string // empty: none
	AppendOnly        bool
	AllowBlankVersion bool
	OnSharedChange    deadletter.OnSharedChange
	Margin            time.Duration
	DependsOn         []string // targets that are written before it, links included
	Rank              int      // mission B2
	BusinessDate      string   // empty: none
	Fields            map[string]Field

	links         map[string]*Target // by link field
	versionFields []string           // of all its sources, tie-breaks included
}

// Field is the configuration of one field that payloads may write.
type Field struct {
	Name      string
	Guard     string // the Last modified time field that watches it; empty: the sender is its only writer
	Link      string // the target whose keys payloads send; empty: no lookup
	MaxLength int    // of text, in UTF-16 code units
	Rules     string // validator tags
	Required  bool   // "required" is among the rules
}

func newTarget(file *config.File, c *config.Target) *Target {
	t := &Target{
		Name: c.Name, Base: c.Base, Table: c.Table, KeyField: c.Key, Stamp: c.Stamp,
		AppendOnly: c.AppendOnly, AllowBlankVersion: c.AllowBlankVersion,
		OnSharedChange: c.OnSharedChange, Margin: c.Margin, Rank: file.Rank(c.Name),
		BusinessDate: c.BusinessDate, DependsOn: slices.Clone(c.DependsOn),
		Fields: map[string]Field{}, links: map[string]*Target{},
	}
	if v := c.Version; v != nil {
		t.VersionField, t.Spec, t.VersionText = v.Field, v.Spec(), v.Text
		if v.TieBreak != nil {
			t.TieField = v.TieBreak.Field
		}
	}
	for name, f := range c.Fields {
		t.Fields[name] = Field{
			Name: name, Guard: f.Shared, Link: f.Link, MaxLength: f.MaxLength, Rules: f.Rules,
			Required: slices.Contains(ownRules(f.Rules), "required"),
		}
	}
	return t
}

// ownRules are the rules of the value itself, those of its elements (behind dive) left out.
func ownRules(tags string) []string {
	rules := strings.Split(tags, ",")
	if i := slices.Index(rules, "dive"); i >= 0 {
		rules = rules[:i]
	}
	return rules
}

// connect finds the targets that link fields name.
func (t *Target) connect(targets map[string]*Target) error {
	for name, field := range t.Fields {
		if field.Link == "" {
			continue
		}
		other := targets[field.Link]
		if other == nil {
			return fmt.Errorf("target %s: field %s links to %q, which is no target", t.Name, name, field.Link)
		}
		t.links[name] = other
		t.DependsOn = append(t.DependsOn, field.Link)
	}
	slices.Sort(t.DependsOn)
	t.DependsOn = slices.Compact(t.DependsOn)
	return nil
}

func (t *Target) addVersionFields(s *Source) {
	for _, field := range s.VersionFields() {
		if !slices.Contains(t.versionFields, field) {
			t.versionFields = append(t.versionFields, field)
		}
	}
}

func byRank(a, b *Target) int {
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Name, b.Name))
}

// VersionFields lists the version and tie-break fields of all sources that feed the target.
func (t *Target) VersionFields() []string { return slices.Clone(t.versionFields) }

// FieldNames lists the fields that payloads may write, sorted.
func (t *Target) FieldNames() []string { return slices.Sorted(maps.Keys(t.Fields)) }

// Rules are the target's rules for a decision. A field that the schema does not have gets no kind,
// so that its values never count as equal by accident.
func (t *Target) Rules(s *Schema) deadletter.Rules {
	rules := deadletter.Rules{
		Target: t.Name, Fields: map[string]deadletter.Field{}, AllowBlankVersion: t.AllowBlankVersion,
		OnSharedChange: t.OnSharedChange, Margin: t.Margin, AppendOnly: t.AppendOnly, Stamp: t.Stamp,
	}
	for name, field := range t.Fields {
		kind, _ := s.Kind(t.Table, name)
		rules.Fields[name] = deadletter.Field{Name: name, Kind: kind, Guard: field.Guard}
	}
	return rules
}

// ReadFields lists what a read of the target must ask for by name (mission C4): key, the given
// version fields, stamp, business date, and every payload field with its guard.
func (t *Target) ReadFields(versionFields ...string) []string {
	return t.ReadFieldsFor(t.FieldNames(), versionFields...)
}

// ReadFieldsFor is ReadFields for some payload fields only, so that one of the others may be missing
// from the table without failing the read.
func (t *Target) ReadFieldsFor(fields []string, versionFields ...string) []string {
	names := append([]string{t.KeyField}, versionFields...)
	names = append(names, t.Stamp, t.BusinessDate)
	for _, field := range fields {
		names = append(names, field, t.Fields[field].Guard)
	}
	seen := map[string]bool{"": true}
	return slices.DeleteFunc(names, func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	})
}

// LinkedTargets names the targets whose records payloads of this one link to, each once.
func (t *Target) LinkedTargets() []string {
	linked := map[string]bool{}
	for _, field := range t.Fields {
		if field.Link != "" {
			linked[field.Link] = true
		}
	}
	return slices.Sorted(maps.Keys(linked))
}

// KeyKind is the kind of the key field, which decides how a lookup compares: number keys need a
// numeric formula. It is empty when the schema does not have the field.
func (t *Target) KeyKind(s *Schema) deadletter.FieldKind {
	kind, _ := s.Kind(t.Table, t.KeyField)
	return kind
}

// KeyCell is the key as the key field takes it: a json.Number in a number field, else text.
func (t *Target) KeyCell(s *Schema, key string) any {
	if t.KeyKind(s) == deadletter.KindNumber {
		return json.Number(key)
	}
	return key
}
