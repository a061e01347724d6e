// Package airtable is the client of the Airtable Web API: records, upsert and
// schema, and what an answer means for a write ([Classify], [Fate]).
//
// Every method but [Client.ListRecords] sends exactly one HTTP request, and no
// request is ever sent again on its own, neither here nor by net/http below:
// the caller paces, waits, retries and recovers, because only the caller knows
// what a second send may overwrite. What this package promises in return is
// that each failure says whether the request may have been applied.
//
// It never uses PUT (which clears what is not sent), never typecast (which
// creates options and linked records), never an Idempotency-Key header (which
// makes net/http resend), and it follows no redirect. Neither the token nor a
// payload appears in an error that it makes itself, in a log or in [Request].
//
// It imports the standard library alone, in particular never internal/sandbox,
// so that client and emulator share no mistake. Packages above may import it;
// internal/deadletter, internal/pipeline and internal/sandbox must not.
package airtable
