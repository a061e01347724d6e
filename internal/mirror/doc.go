// Package mirror keeps Airtable's dead letter table behind the entries, for the people who work
// there (mission T1), and reads the rows that another tool wrote only into that table (mission T2).
//
// The latest state of an entry wins: what is sent is read right before, up to ten rows in one
// request, under the lease of the base and at the lowest priority (R9). A send is noted before it
// begins and settled after it. A row whose send was not settled is sent again, by the merge key
// [KeyField] or its record ID, so the same state twice makes no second row; and once more when the
// unanswered request can no longer land, so that an old state that lands late does not stay. Thus the
// table is right in the end after any failure, and costs a tenth of a request for each change.
//
// Every column of [Columns] belongs to the entry, and a change by hand is overwritten with the next
// change of the entry. The exceptions are Replay Requested, which belongs to people, and the columns of
// a replay as long as there was none. Replay Requested is never ticked here. It is unticked when a
// press is over or refused, and left out of every other request, so that a new tick is not wiped: an
// untick that waits is dropped once the next press is accepted, whose end brings its own. What
// remains is a tick made within the moment between an unanswered untick and its repetition, and not
// yet told to the service; its press is not lost, since a press is the automation's request or the
// transition in Airtable's webhook payloads, and never the state of the box (R10).
//
// The package must never halt a base or make data wait for longer than its own requests: what goes
// wrong here is put off, noted on the row, or on the base where it is wrong for all rows, and logged.
// It never writes with typecast, so a select that lacks an option keeps its old value and the log names
// the option to add. Only app and the command line import it.
package mirror
