// Package localpg runs a private PostgreSQL server for the demo and for tests,
// so that neither needs anything installed or configured beforehand.
//
// The server listens on 127.0.0.1 alone, on a free port, behind a random
// password. It ends with Stop, and also when the process that started it dies,
// however it dies: a small watchdog holds one end of a pipe to that process.
//
// It must never touch a server that somebody else runs, never be used for
// production data, and never leave a server process behind. It is imported by
// cmd, app and the tests of packages that need a database.
package localpg
