// Package migrations holds the database schema and brings a database to it, River's tables included.
//
// Migrations only go forward on a live system; each is safe to start from several replicas at once
// (an advisory lock admits one). The package must never touch data that it did not create. Only the
// composition root, the command line and storetest may import it.
package migrations
