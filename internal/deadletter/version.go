package deadletter

import "time"

// VersionKind says how a sender counts (mission C1). Unlike kinds are never compared.
type VersionKind string

// The two kinds of version.
const (
	VersionTimestamp VersionKind = "timestamp"
	VersionNumber    VersionKind = "number"
)

// VersionSpec is how one source's version is read, compared and stored.
type VersionSpec struct {
	Kind      VersionKind
	Precision time.Duration // timestamps: the precision at which versions are stored and compared; 0 means 1 ms
	TieBreak  bool          // an integer beside a timestamp
}
