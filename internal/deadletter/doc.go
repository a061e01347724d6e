// Package deadletter is the domain: entries, their states and reasons, versions, and the pure
// decision what a replay or a live write may change on a record.
//
// It answers one question: given everything that waits for one record, the record as it was just
// read, and the rules of its table, what is written, what is left alone and why, and what does each
// waiting item say afterwards (Case -> Decide -> Plan). DecideRestore answers the same for a write that
// is to be taken back, and Observe tells from a fresh read whether an earlier write of ours has landed.
//
// It must never do I/O, read a clock, log, or import anything but the standard library. Every other
// package may import it.
package deadletter
