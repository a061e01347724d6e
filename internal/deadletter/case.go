package deadletter

import "time"

// FieldKind is the kind of a table's field as far as comparing and writing its values needs it.
type FieldKind string

// The field kinds (Airtable field types, grouped by how their values compare).
const (
	KindText          FieldKind = "text" // single line, email, url, phone
	KindLongText      FieldKind = "long_text"
	KindRichText      FieldKind = "rich_text" // Airtable rewrites Markdown
	KindNumber        FieldKind = "number"    // number, currency, percent, duration, rating
	KindCheckbox      FieldKind = "checkbox"
	KindSelect        FieldKind = "select"
	KindMultiSelect   FieldKind = "multi_select"
	KindDate          FieldKind = "date"
	KindDateTime      FieldKind = "date_time"
	KindLinks         FieldKind = "links"
	KindCollaborator  FieldKind = "collaborator"
	KindCollaborators FieldKind = "collaborators"
	KindAttachments   FieldKind = "attachments" // never equal: URLs change with each read
	KindBarcode       FieldKind = "barcode"
	KindLookup        FieldKind = "lookup"   // read-only; a one-element array equals its element
	KindComputed      FieldKind = "computed" // read-only of any other type
)

// Field is one field of a target that payloads may write.
type Field struct {
	Name string
	Kind FieldKind
	// Guard is the Last modified time field that watches this one; empty where the sender is the
	// only writer (mission C2).
	Guard string
}

// OnSharedChange says what a target does when only some shared fields changed (mission O).
type OnSharedChange string

// The two settings of on_shared_change.
const (
	Review  OnSharedChange = "review"
	Partial OnSharedChange = "partial"
)

// Rules are the rules of one target that a decision needs.
type Rules struct {
	Target            string
	Fields            map[string]Field
	AllowBlankVersion bool
	OnSharedChange    OnSharedChange
	Margin            time.Duration // taken off First Attempt At in the shared-field check (mission C2)
	AppendOnly        bool          // mission C7
	Stamp             string        // text field that every write of ours marks; empty: none
}

// Sends says what a sender's writes carry (mission C1).
type Sends string

// A full sender carries every field each time; the other kind only what changed.
const (
	SendsFull          Sends = "full"
	SendsChangedFields Sends = "changed_fields"
)

// MemberKind tells what waits: a dead letter, a live write, or an order to take a write back.
type MemberKind string

// The kinds of member.
const (
	MemberEntry   MemberKind = "entry"
	MemberWrite   MemberKind = "write"
	MemberRestore MemberKind = "restore" // never a Member of a Case: DecideRestore decides about it
)

// Problem is why a member cannot be written as it stands (mission P3): its payload, its links, or
// its source. Detail is safe to show and names the fields at fault.
type Problem struct {
	Reason Reason
	Detail string
}

// Member is one item that waits for a record: a claimed entry or an accepted live write.
type Member struct {
	ID        string
	Kind      MemberKind
	Operation Operation
	Sends     Sends
	// Fields is the validated write: field name to value in Airtable's form. A nil value clears the
	// cell on purpose; an absent field is not touched.
	Fields  map[string]any
	Version Version // zero: the payload has none
	// Versionless says that the source has no versions at all (mission C5).
	Versionless bool
	// FirstAttemptAt is the instant from which the shared-field check counts: First Attempt At of an
	// entry, the moment of acceptance of a live write.
	FirstAttemptAt time.Time
	// Waited makes a live write pass both checks (R6). Entries always pass both.
	Waited bool
	// Order breaks ties between equal or absent versions: the order of acceptance or filing.
	Order int64

	Mode   Mode
	Chosen []string       // Mode ChosenFields: the fields to write
	Expect map[string]any // Modes ChosenFields and Overwrite: the values that the reviewer saw (R11)
	// Wrote is the version that this entry itself put on the record earlier (reopened after a partial
	// replay, or recognised as landed); it is not newer than the entry, unless it is beyond the entry's
	// own version: then a newer member of a merged write brought it.
	Wrote Version
	// Reextracted says that Fields are the sender's current state, fetched for this decision: then
	// neither a missing version nor a blank one on the record is a reason for review (mission C5).
	Reextracted bool

	Problem *Problem // set: the member ends as Replay Failed for this reason
}

// Record is a record of the target as it was just read. Empty cells are absent from Fields.
type Record struct {
	ID     string
	Fields map[string]any // payload fields, guard fields, stamp; raw JSON values, numbers as json.Number
	// Version is what the record's version field holds; zero when the cell is empty.
	Version Version
	// VersionUnreadable says that the version field holds something that is not of the declared kind.
	VersionUnreadable bool
}

// GuardMark is what our last landed write left on one shared field (mission C3).
type GuardMark struct {
	Stamp string // the guard field's value in the answer to our write, as Airtable wrote it
	Value any    // the field's own value in that answer
}

// Mark is what the service remembers of a record between reads (R4b). RecordID ties it to one
// record: a mark of a record that was deleted and made anew says nothing.
type Mark struct {
	RecordID string
	// Highest is the highest version that we know to have landed, as it was sent.
	Highest Version
	// Stored is the version field's value as Airtable gave it back after that write; it may be
	// coarser than what was sent. Comparing reads with it reveals a late landing.
	Stored Version
	Guards map[string]GuardMark // by name of the shared field
	// Restored says that a write was taken back since the version last rose: the record's values are
	// older than its version says, so entries go to review until something newer lands (mission A2).
	Restored bool
}

// Case is one record with everything that waits for it: the whole input of Decide.
type Case struct {
	Rules   Rules
	Members []Member // all of one kind and of one version field; in any order
	Matches []Record // the records whose key matched: none, one, or too many
	Mark    Mark
	// Siblings are the entries of the record that are still at Pending Review and not members
	// (mission P4). Live writes ignore them.
	Siblings []string
}
