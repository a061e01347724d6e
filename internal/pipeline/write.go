package pipeline

import (
	"maps"

	"airtable-replay/internal/deadletter"
)

// Identity is what filing needs of a payload. What could not be read is empty.
type Identity struct {
	TargetID   string
	Version    deadletter.Version
	VersionRaw string              // as sent; empty when there is none or it is no text or number
	Problem    *deadletter.Problem // why the payload cannot be identified in full; nil: it can
}

// Write is a payload that passed: what it would put on its record.
type Write struct {
	Target      *Target
	Key         string // the sender's ID; the pass writes it on creation (Target.KeyCell)
	Version     deadletter.Version
	Versionless bool
	// Fields are the values to write, as plain JSON values with numbers as json.Number. A nil value
	// clears the cell; an absent field is not touched.
	Fields map[string]any
	// Links are the sender's IDs that Resolve turns into record IDs in Fields.
	Links []Link

	create []fault // what forbids creating a record from it
}

// Link is a link field with the sender's IDs of the records to link, in their order.
type Link struct {
	Field  string
	Target string // the target whose key they are
	Keys   []string
}

// CreateFault says why no record may be created from the write: required fields that a sender of
// changed fields left out, or a key field that cannot be written. Nil where one may.
func (w Write) CreateFault() *Invalid { return newInvalid(w.create) }

// Sent is the write as the sender put it: Fields, with the sender's own IDs in link fields.
func (w Write) Sent() map[string]any {
	sent := maps.Clone(w.Fields)
	for _, link := range w.Links {
		sent[link.Field] = texts(link.Keys)
	}
	return sent
}

// Resolve puts the record IDs of the linked records into Fields. found maps target to key to the IDs
// of the records that bear the key. A key that none bears is reason dependency_missing, one that
// several bear multiple_matches; then Fields is left as it was, and all such keys are named.
func (w *Write) Resolve(found map[string]map[string][]string) *Invalid {
	var faults []fault
	resolved := map[string]any{}
	for _, link := range w.Links {
		ids := make([]any, 0, len(link.Keys))
		for _, key := range link.Keys {
			switch matches := found[link.Target][key]; len(matches) {
			case 1:
				ids = append(ids, matches[0])
			case 0:
				faults = append(faults, newFault(link.Field, "link", deadletter.ReasonDependencyMissing,
					"no record of %s has the ID %s", link.Target, show(key)))
			default:
				faults = append(faults, newFault(link.Field, "link", deadletter.ReasonMultipleMatches,
					"%d records of %s have the ID %s", len(matches), link.Target, show(key)))
			}
		}
		resolved[link.Field] = ids
	}
	if len(faults) > 0 {
		return newInvalid(faults)
	}
	for field, ids := range resolved {
		w.Fields[field] = ids
	}
	return nil
}
