// Package doctor finds out whether everything outside the program is as the configuration needs it: the
// database, the tokens and what they may do, the tables with their fields and guards, the dead letter
// table, the clocks (mission T4). Each finding says what to mend. Setup makes what Airtable's schema API
// can make, and says what only a person can do.
//
// It must never change a record, a base's state or an entry: a check reads, and the one request with
// which it tries the right to write names a record that cannot exist. Setup adds fields and nothing
// else. Only the command line, the console and app import it.
package doctor
