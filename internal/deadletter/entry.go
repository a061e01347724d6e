package deadletter

import "time"

// Entry is one dead letter as people and services see it: what was filed, where it stands, and what
// its last replay came to (mission E1, A1).
type Entry struct {
	ID              string // a UUID; never begins with "rec"
	DLQRecordID     string // the Airtable record ID of its row in the dead letter table; empty: none yet
	SourceSystem    string
	Base            string // the configuration's name of the base; empty: source not configured
	TargetTable     string // the configuration's key of the target; empty: source not configured
	TargetID        string // the sender's ID of the record; empty: not readable from the payload
	Operation       Operation
	RawPayload      []byte // byte for byte as it arrived, or as last edited
	PayloadRevision int    // 0 as filed

	// The filing; never changed by a replay.
	ReasonCode      Reason
	ErrorDetail     string
	StatusCode      int // 0: no answer
	Attempts        int
	SourceVersion   string    // as sent
	SourceUpdatedAt time.Time // zero: the version is no timestamp
	FirstAttemptAt  time.Time

	Status        Status
	AssignedOwner string
	Flags         []Flag
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Claim         int64  // raised by each claim, sweep and reset
	Refusal       string // why the newest press was refused, until the next claim; empty: it was not
	OwnFailures   int    // Replay Failed by the entry's own fault, counted by the attempt cap (mission O3)

	Replay *Replay // nil: never pressed
}

// Replay is the account of an entry's last press (mission A1). While the entry is replaying, Outcome
// is empty.
type Replay struct {
	RunID          string
	Mode           Mode
	RequestedBy    string
	RequestedAt    time.Time
	Outcome        Outcome // empty: under way, or released without a decision
	Reason         Reason
	ReplayedBy     string
	ReplayedAt     time.Time
	FieldsReplayed map[string]any
	FieldsSkipped  []Skip
	ValuesBefore   map[string]any
	RecordID       string
	Effect         Effect
	StatusCode     int
	ErrorDetail    string
	Notes          string
	Attempts       int
}

// Effect is what a settled member did to its record, for a run's reconciliation (mission B5).
type Effect string

// The effects; EffectNone is for outcomes that wrote nothing.
const (
	EffectNone      Effect = ""
	EffectCreated   Effect = "created"
	EffectUpdated   Effect = "updated"
	EffectUnchanged Effect = "unchanged" // every value was there already; at most the version was raised
	EffectMerged    Effect = "merged"    // carried by another entry's write
)

// HistoryLine is one line of an entry's append-only history (mission A1).
type HistoryLine struct {
	At         time.Time
	Event      string
	FromStatus Status
	ToStatus   Status
	Actor      string
	RunID      string
	Claim      int64
	Outcome    Outcome
	Reason     Reason
	Note       string
	Detail     map[string]any
}

// RunKind tells presses, runs over many entries, and restores apart.
type RunKind string

// The kinds of run.
const (
	RunPress   RunKind = "press"
	RunMany    RunKind = "run"
	RunRestore RunKind = "restore"
)

// RunStatus is where a run stands.
type RunStatus string

// The statuses of a run.
const (
	RunQueued    RunStatus = "queued"
	RunRunning   RunStatus = "running"
	RunCompleted RunStatus = "completed"
	RunCancelled RunStatus = "cancelled"
	RunStopped   RunStatus = "stopped"
)

// Selector picks entries for a run; empty members do not narrow it. A selector of nothing at all is
// refused (mission B1).
type Selector struct {
	IDs              []string  `json:"ids,omitempty"`
	Reason           Reason    `json:"reason,omitempty"`
	Outcome          Outcome   `json:"outcome,omitempty"`
	Source           string    `json:"source,omitempty"`
	Target           string    `json:"target,omitempty"`
	Run              string    `json:"run,omitempty"`
	Owner            string    `json:"owner,omitempty"`
	FirstAttemptFrom time.Time `json:"first_attempt_from,omitzero"`
	FirstAttemptTo   time.Time `json:"first_attempt_to,omitzero"`
}

// Counts are a run's totals by what became of its entries (mission B5). A restore is about one entry
// and counts its fields: claimed = restored + refused + released.
type Counts struct {
	Claimed           int `json:"claimed"`
	Replayed          int `json:"replayed"`
	PartiallyReplayed int `json:"partially_replayed"`
	Superseded        int `json:"superseded"`
	NeedsReview       int `json:"needs_review"`
	ReplayFailed      int `json:"replay_failed"`
	Released          int `json:"released"`
	Restored          int `json:"restored"` // this and the next of a restore alone
	Refused           int `json:"refused"`
}

// Settled is how many of the claimed entries, or of a restore's fields, have an outcome or were
// released.
func (c Counts) Settled() int {
	return c.Replayed + c.PartiallyReplayed + c.Superseded + c.NeedsReview + c.ReplayFailed + c.Released + c.Restored + c.Refused
}

// Reconciliation proves a run's totals (mission B5): replayed + partially replayed = created +
// updated + unchanged + merged, and every claimed entry is settled.
type Reconciliation struct {
	Created         int            `json:"created"`
	Updated         int            `json:"updated"`
	Unchanged       int            `json:"unchanged"`
	Merged          int            `json:"merged"`
	Balanced        bool           `json:"balanced"`
	SkippedByReason map[Reason]int `json:"skipped_by_reason"`
}

// Forecast is what would become of the entries that a dry run selects, as things stand (mission O2,
// B1).
type Forecast struct {
	Selected int // entries that a run would claim
	Checked  int // entries judged so far
	Outcomes map[Outcome]int
	Reasons  map[Reason]int // of outcomes other than a plain Replayed
	Created  int            // records
	Updated  int            // records
	Merged   int            // entries that another entry's write would carry
	Records  int            // that the selected entries are about
	Requests int            // to Airtable, the mirror included
	Duration time.Duration  // of the requests at the bases' pace
}

// Run is one press, one run over many entries, or one restore.
type Run struct {
	ID             string
	Kind           RunKind
	Status         RunStatus
	Reason         Reason // why it stopped; empty otherwise
	DryRun         bool
	Mode           Mode
	RequestedBy    string
	Note           string
	Selector       Selector
	LeftOut        int // selected entries that are past the attempt cap (mission O3)
	Counts         Counts
	Reconciliation Reconciliation
	Forecast       *Forecast // of a dry run; nil otherwise
	Why            []Why     // why entries were not written; only where one run is shown
	Notices        []Notice  // what downstream was told of it (mission B6); only where one run is shown
	CreatedAt      time.Time
	StartedAt      time.Time
	FinishedAt     time.Time // zero until the last of its entries is settled, cancelled or not
}

// Why counts the entries of a run that came out in one way, other than written, for one reason (mission B5).
type Why struct {
	Outcome Outcome // empty: given back without a decision
	Reason  Reason
	Entries int
}

// Notice is one message about a run to one endpoint.
type Notice struct {
	Endpoint  string // a key of the configuration's notify
	Event     string
	Delivered bool
	Attempts  int
	LastError string // of the last attempt; empty: none failed
}

// Finished tells whether every entry of the run has an outcome or went back.
func (r Run) Finished() bool { return !r.FinishedAt.IsZero() }
