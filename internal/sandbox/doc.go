// Package sandbox is an Airtable emulator for demos and tests: the Web API
// under /v0 (records, upsert, schema, webhooks, rate limits), and beside it a
// control API under /_sandbox that plays the people of the base, breaks
// requests on purpose, moves the clock and shows every cell change.
//
// It is written against the wire, so it must never import anything of the rest
// of the project, least of all the client it is there to judge: a mistake made
// in both would hide. Only the composition root, the sandbox and demo commands
// and tests import it.
//
// Where Airtable's behaviour is not known for certain there is a switch in
// [Options]; a client has to be right under every value of it.
//
// A Sandbox has one lock. Every request is served whole under it, so a batch is
// seen entirely or not at all, and the log of changes has one order.
package sandbox
