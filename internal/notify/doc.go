// Package notify tells others: owners of a halted base, services downstream of a run. A message is
// stored in the transaction of what it tells of and delivered afterwards, at least once, signed as
// Standard Webhooks describe, with an ID to tell repetitions by.
//
// It must never hold up the work that it tells of. pass and jobs see it through interfaces
// of their own; only app may import it.
package notify
