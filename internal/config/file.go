package config

import (
	"time"

	"airtable-replay/internal/deadletter"
)

// File is the configuration as loaded: defaults filled in, every reference between
// its parts checked. It is not to be changed after loading.
type File struct {
	// DeadLetters is the mirror in Airtable; nil: none.
	DeadLetters *DeadLetters         `yaml:"dead_letters"`
	Bases       map[string]*Base     `yaml:"bases" required:"true"`
	Targets     map[string]*Target   `yaml:"targets" required:"true"`
	Sources     map[string]*Source   `yaml:"sources"`
	Notify      map[string]*Endpoint `yaml:"notify"`
	Replay      Replay               `yaml:"replay"`
}

func (f *File) defaults() { f.Replay.defaults() }

// DeadLetters says where the dead letter table is (mission T1).
type DeadLetters struct {
	Base  string `yaml:"base" required:"true"`  // a key of bases
	Table string `yaml:"table" required:"true"` // name or ID
}

// Base is one Airtable base and how it may be used.
type Base struct {
	Name   string `yaml:"-"`
	ID     string `yaml:"id" required:"true"` // app…
	APIURL string `yaml:"api_url"`            // without a trailing slash
	Token  Secret `yaml:"token" required:"true"`
	// TokenOwner groups the bases that share one budget of 50 requests/s (mission W4). Bases that
	// name none share one, which is the cautious reading.
	TokenOwner        string   `yaml:"token_owner"`
	RequestsPerSecond float64  `yaml:"requests_per_second"`
	Alert             []string `yaml:"alert"` // keys of notify
	Retry             Retry    `yaml:"retry"`
}

func (b *Base) defaults() {
	b.APIURL = AirtableURL
	b.TokenOwner = "default"
	b.RequestsPerSecond = 4
	b.Retry.defaults()
}

// AirtableURL is the address of Airtable's own API.
const AirtableURL = "https://api.airtable.com"

// Retry is how often and after which waits a request is sent again (mission W2, W3).
type Retry struct {
	Attempts       int           `yaml:"attempts"`        // in all, of whatever kind
	BaseDelay      time.Duration `yaml:"base_delay"`      // before the second attempt; doubled each time
	RateLimitWait  time.Duration `yaml:"rate_limit_wait"` // of the whole base after a 429
	RequestTimeout time.Duration `yaml:"request_timeout"`
	// LandingBound is how long after the timeout an unanswered write may still land (R4b).
	LandingBound time.Duration `yaml:"landing_bound"`
}

func (r *Retry) defaults() {
	*r = Retry{
		Attempts: 5, BaseDelay: 2 * time.Second, RateLimitWait: 30 * time.Second,
		RequestTimeout: 20 * time.Second, LandingBound: time.Minute,
	}
}

// Replay holds the settings of replaying itself.
type Replay struct {
	StuckAfter   time.Duration `yaml:"stuck_after"`   // without progress of the base's lease (mission S1)
	SweepEvery   time.Duration `yaml:"sweep_every"`   // at most a minute (mission S1)
	AttemptCap   int           `yaml:"attempt_cap"`   // mission O3
	RecoveryTick time.Duration `yaml:"recovery_tick"` // R5
	// Lease is how long a base's lease lives without progress; 0: derived from the base's request
	// timeout. Read it through File.Lease.
	Lease time.Duration `yaml:"lease"`
}

func (r *Replay) defaults() {
	*r = Replay{
		StuckAfter: 5 * time.Minute, SweepEvery: time.Minute, AttemptCap: 5, RecoveryTick: time.Second,
	}
}

// Lease is the lease time of a base: the configured one, else its request timeout and 15 s. It is
// never less than the request timeout and 10 s (R4).
func (f *File) Lease(b *Base) time.Duration {
	if f.Replay.Lease > 0 {
		return f.Replay.Lease
	}
	return b.Retry.RequestTimeout + 15*time.Second
}

// Endpoint is a webhook that is told of events (mission B6, W7).
type Endpoint struct {
	Name   string   `yaml:"-"`
	URL    string   `yaml:"url" required:"true"`
	Secret Secret   `yaml:"secret" required:"true"`
	On     []string `yaml:"on" required:"true"` // names of Events
}

// The events that an endpoint can be told of.
const (
	EventBaseHalted      = "base.halted"
	EventRunCompleted    = "run.completed"
	EventRunUnbalanced   = "run.unbalanced"
	EventEntryStuck      = "entry.stuck"
	EventLateLanding     = "record.late_landing"
	EventChangedInWindow = "record.changed_in_window"
	EventMirrorLapsed    = "mirror.lapsed"
)

// Events lists the events that an endpoint can be told of.
func Events() []string {
	return []string{
		EventBaseHalted, EventRunCompleted, EventRunUnbalanced, EventEntryStuck, EventLateLanding,
		EventChangedInWindow, EventMirrorLapsed,
	}
}

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
	URL   string `yaml:"url" required:"true"` // {id} stands for the sender's ID, escaped
	Token Secret `yaml:"token"`
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
