// Package conformance plays recorded exchanges with Airtable against any
// address that claims to be Airtable: the sandbox in every test run, and a real
// base when one is named, so that the sandbox is kept honest.
//
// For a real base set AIRTABLE_CONFORMANCE_TOKEN, AIRTABLE_CONFORMANCE_BASE and
// AIRTABLE_CONFORMANCE_TABLE (an ID or a name) and run the package's tests. The
// table needs the fields of [Fields]; what it lacks is named. Only records that
// an exchange created are changed, and they are deleted afterwards.
//
// An exchange file is a txtar archive: a title, a line "source:", perhaps a
// line "needs: sandbox, because ...", and then pairs of request and answer.
//
// It must never change or delete a record that it did not create. It imports no
// package of the project, and only tests import it.
package conformance
