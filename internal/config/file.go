package config

import "time"

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
	// NotificationURL is where Airtable reaches POST /v1/airtable/notifications; then presses are told by
	// a webhook of Airtable's and need no script. Empty: by the button's script alone (mission T3).
	NotificationURL string `yaml:"notification_url" reference:"true"`
}

// Base is one Airtable base and how it may be used.
type Base struct {
	Name   string `yaml:"-"`
	ID     string `yaml:"id" required:"true" reference:"true"` // app…
	APIURL string `yaml:"api_url" reference:"true"`            // without a trailing slash
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
	URL    string   `yaml:"url" required:"true" reference:"true"`
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
