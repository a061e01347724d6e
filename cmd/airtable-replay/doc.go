// Command airtable-replay is the service behind the Replay button of an Airtable dead letter queue,
// and everything beside it: the database schema, API tokens, the Airtable emulator, the demo.
//
// One file per command: it parses, assembles, runs and ends with an exit code. Decisions live below.
package main
