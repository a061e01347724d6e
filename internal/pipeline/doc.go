// Package pipeline is the one set of rules for data (mission P3): it turns a sender's raw payload
// into a validated write, for live writes, replays and POST /v1/validate alike.
//
// A Book holds the configured targets and sources. Source.Identify reads of a payload what filing
// needs and takes any bytes; Source.Validate checks it against the table's own schema, then against
// the configured rules, and reports every fault at once; Write.Resolve puts record IDs in place of
// the sender's IDs in link fields.
//
// It must never do I/O, read a clock, or change a value on its way: nothing is trimmed, folded,
// rounded, cast or sent through a rename. It imports internal/config, internal/deadletter and the
// schema types of internal/airtable; every package above may import it.
package pipeline
