// Package store is Postgres: every transaction of the service, under the verbs of the domain.
//
// Each change of an entry's status is one conditional update together with its line of history, its
// row in the run and its mark for the mirror. What a pass does is fenced by the lease token, what it
// does to an entry by the claim number besides; a guard that matches no row is ErrStale. Locks are
// taken in one order: the base, then entries by ID.
//
// It must never decide what is written to Airtable, call the network, or show a driver's error to a
// caller. Packages above it in the house may import it: pacing, pass, replay, live, mirror, notify,
// jobs, httpapi's wiring in app, and the command line for tokens.
package store
