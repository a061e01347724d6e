// Package pass works on one base: it takes the base's lease and handles everything that is due, ten
// records at a time. Each chunk goes through the same hops, in the order of the files:
//
//	pass.go     lease, take, next chunk, release
//	prepare.go  parse, validate, resolve links
//	read.go     read the records by key
//	observe.go  tell what became of earlier writes
//	decide.go   decide, purely (package deadletter)
//	send.go     store the intent, send, settle by the answer
//	fail.go     what a failed request means
//	restore.go  what is different where a write is taken back
//
// Presses, runs, live writes, restores and resumed work all come through here; nobody else writes to a
// target's table. It must never sleep longer than a request slot: every other wait is stored and ends
// the chunk (R1). jobs, replay (for previews) and app may import it.
package pass
