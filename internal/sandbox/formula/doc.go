// Package formula reads and evaluates Airtable's formula language, as far as filters and formula fields use it.
//
// It parses a formula into an immutable [Expr] and evaluates it against one record, seen through [Env].
// Where Airtable's behaviour is unconfirmed, [Options] lets the owner choose; the defaults are the reading that
// is harder on clients.
//
// It must never panic, loop or grow without bound on any input: source length, nesting and the work of one
// evaluation are limited, and regular expressions run without backtracking. It keeps no state and reads nothing but the
// system's time zones, for SET_TIMEZONE.
//
// Only the sandbox may import it: the service itself writes formulas and has no need to read them.
package formula
