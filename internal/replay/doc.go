// Package replay is what people and services ask of entries: file, press, preview, start a run, edit,
// assign, reset, ignore, reopen, restore, and the sweeper that frees what nobody works on any more.
//
// A press claims entries and wakes the base's pass in one transaction; the pass does the rest. The
// package must never write to Airtable and never decide what a replay writes. httpapi, console, jobs
// and app may import it.
package replay
