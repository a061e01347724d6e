// Package apptest assembles the whole service for story tests: a database of its own, a sandbox, one
// or more replicas over HTTP, and the verbs of a story (file, press, edit by hand, wait for the
// outcome).
//
// It must never assert anything about the rules themselves: the stories do. Only tests may import it.
package apptest
