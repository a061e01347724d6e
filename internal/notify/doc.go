// Package notify tells others: owners of a halted base, services downstream of a run. A message is
// stored in the transaction of what it tells of and delivered afterwards, at least once, signed as
// Standard Webhooks describe, with an ID to tell repetitions by.
//
// It must never hold up the work that it tells of. pass and replay see it through interfaces of their
// own; jobs delivers; app wires it.
package notify
