package config

import (
	"time"

	"airtable-replay/internal/deadletter"
)

// Target is a table that is written, and the rules of its data.
type Target struct {
	Name  string `yaml:"-"`
	Base  string `yaml:"base" required:"true"` // a key of bases
	Table string `yaml:"table"`                // name or ID; the target's own name when left out
	Key   string `yaml:"key" required:"true"`  // the field that holds the sender's ID of the record
	// Version is the field for the senders' versions; nil: only senders that bring a field of their
	// own, or have no versions at all.
	Version           *Version                  `yaml:"version"`
	AllowBlankVersion bool                      `yaml:"allow_blank_version"` // mission C5
	Stamp             string                    `yaml:"stamp"`               // text field that every write of ours marks; empty: none
	AppendOnly        bool                      `yaml:"append_only"`         // mission C7
	BusinessDate      string                    `yaml:"business_date"`       // date field told downstream; empty: none
	DependsOn         []string                  `yaml:"depends_on"`          // keys of targets, of the same base
	OnSharedChange    deadletter.OnSharedChange `yaml:"on_shared_change"`
	Margin            time.Duration             `yaml:"margin"` // mission C2
	Fields            map[string]*Field         `yaml:"fields"`
}

func (t *Target) defaults() {
	t.OnSharedChange = deadletter.Review
	t.Margin = 10 * time.Second
}

// Version says where on the record a sender's version is kept, and how it counts (mission C1).
type Version struct {
	Field     string                 `yaml:"field" required:"true"`
	Kind      deadletter.VersionKind `yaml:"kind"`
	Precision time.Duration          `yaml:"precision"` // timestamps: 1 ms when left out
	TieBreak  *TieBreak              `yaml:"tie_break"`
	Shared    bool                   `yaml:"shared"` // the target's sources keep one clock
	// Text says that the Airtable field is a text field, for numbers past 2^53.
	Text bool `yaml:"text"`
}

func (v *Version) defaults() { v.Kind = deadletter.VersionTimestamp }

// Spec is how versions of this field are read and compared.
func (v *Version) Spec() deadletter.VersionSpec {
	return deadletter.VersionSpec{Kind: v.Kind, Precision: v.Precision, TieBreak: v.TieBreak != nil}
}

// TieBreak names the number field beside a timestamp that orders equal timestamps.
type TieBreak struct {
	Field string `yaml:"field" required:"true"`
}

// Field is one field of a target that payloads may write.
type Field struct {
	Rules  string `yaml:"rules"`  // validator tags
	Shared string `yaml:"shared"` // the Last modified time field that watches this one (mission C2)
	Link   string `yaml:"link"`   // the target that the sender's IDs in this field name
	// MaxLength is the longest text, in UTF-16 code units (an emoji outside the basic plane counts
	// two), which is how Airtable's own JavaScript counts.
	MaxLength int `yaml:"max_length"`
}

func (f *Field) defaults() { f.MaxLength = DefaultMaxLength }

// DefaultMaxLength is the most UTF-16 code units that a text cell takes (case B35: users' word).
const DefaultMaxLength = 100_000
