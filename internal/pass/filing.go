package pass

import (
	"crypto/sha256"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/store"
)

// filing is the entry that a live write becomes when it cannot be written (L2). First Attempt At is
// the moment of acceptance: a change by hand after it is newer than the write (R6).
func (m *member) filing(v deadletter.Verdict) *store.Filing {
	f := &store.Filing{
		FilingKey: sha256.Sum256([]byte("write " + m.ID)), SourceSystem: m.Source, Operation: m.Operation, RawPayload: m.RawPayload,
		ReasonCode: v.Reason, ErrorDetail: join(v.Note, m.LastError), StatusCode: m.LastStatus, Attempts: m.Tries,
		FirstAttemptAt: m.FirstAttemptAt, Actor: "live pipeline",
	}
	if f.ReasonCode == "" {
		f.ReasonCode = deadletter.ReasonOther
	}
	if m.source == nil {
		return f
	}
	id := m.source.Identify(m.RawPayload)
	f.Base, f.TargetTable, f.TargetID = m.source.Target.Base, m.source.Target.Name, id.TargetID
	f.SourceVersion, f.Version = id.VersionRaw, id.Version
	return f
}
