package deadletter

import "time"

// MaxPayload is the largest payload that an entry or a live write may have, in bytes.
const MaxPayload = 1 << 20

// The longest names (of sources, targets, people) and IDs of the sender, in characters; they are indexed.
const (
	MaxName = 200
	MaxKey  = 500
)

// Payload is one revision of an entry's payload. Revision 0 is the payload as filed; each edit of a
// reviewer is kept beside it (mission O1).
type Payload struct {
	Revision  int
	Raw       []byte // byte for byte
	EditedBy  string // who filed or edited it
	Reason    string // why it was edited; empty as filed
	CreatedAt time.Time
}

// The events of an entry's history that leave its status alone.
const (
	EventEdited   = "edited"   // its payload was edited
	EventAssigned = "assigned" // it was given to an owner

	EventRestoreAsked    = "restore_asked"
	EventRestored        = "restored" // Values Before were written back, as far as the line says
	EventRestoreRefused  = "restore_refused"
	EventRestoreReleased = "restore_released" // cancelled, or the base was halted, before anything was written
)
